"""The campaign's place in the folder that login node and compute nodes share.

SHARED/aisimc/RUN-TOKEN/
  objects/SHA256            artifacts and inputs, once each, read-only
  rows/ROW/
    stage.json              what a node brings to its local storage, with digests
    row.sh, log.txt         the batch script, and what it printed
    attempts/ATTEMPT/       node, beat, failed.txt of one start of the job
    result/                 the bundle (bundle.py)

The run folder holds `cluster.json` (the token, this place) and, per row, `cluster/ROW.jsonl`: what was submitted,
written before and after each submission, so that a harness killed between the two finds its job again. They are kept
apart from `rows/`, which the runtime empties when an artifact has changed.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aisimc_runtime.executors.cluster import bundle
from aisimc_runtime.executors.cluster.port import Known, Unknown
from aisimc_runtime.executors.cluster.states import Bundle, Files
from aisimc_runtime.failures import Blocked
from aisimc_runtime.ports.files import explain, sync_folder, write_atomic

CLUSTER_FILE = "cluster.json"
RECORDS = "cluster"
PARENT = "aisimc"
CANCELLED_FILE = "cluster-cancelled"


@dataclass(frozen=True, slots=True)
class Campaign:
    """One run on one cluster."""

    token: str
    """Unique to this run folder: in the name of every job that it submits."""
    run_folder: Path
    place: Path
    executor: str
    """The registry's name of the executor that submitted it: `cancel` asks the same scheduler."""

    def row(self, name: str) -> RowPlace:
        """The row's places."""
        record = self.run_folder / RECORDS / f"{name}.jsonl"
        return RowPlace(name, self.place / "rows" / name, self.run_folder / "rows" / name, record)

    def rows(self) -> list[RowPlace]:
        """Every row that was ever submitted."""
        return [self.row(path.stem) for path in sorted((self.run_folder / RECORDS).glob("*.jsonl"))]

    def job_name(self, row: str, number: int) -> str:
        """The name of one try: nothing else in the queue is called so."""
        return f"aisimc-{self.token}-{row}-{number}"

    @property
    def cancelled(self) -> bool:
        """Whether `aisimc cancel` has spoken since the run was last started."""
        return (self.run_folder / CANCELLED_FILE).exists()

    def forget_cancel(self) -> None:
        """The run is started anew: an earlier cancellation has had its effect."""
        (self.run_folder / CANCELLED_FILE).unlink(missing_ok=True)


@dataclass(frozen=True, slots=True)
class RowPlace:
    """Where one row's files are: on the shared folder, and in the run folder."""

    name: str
    shared: Path
    local: Path
    record_file: Path

    @property
    def result(self) -> Path:
        """The bundle's place."""
        return self.shared / "result"

    def records(self) -> list[dict[str, Any]]:
        """What is recorded of this row's submissions; a torn last line (a killed harness) is left out."""
        try:
            lines = self.record_file.read_bytes().splitlines()
        except FileNotFoundError:
            return []
        found = []
        for line in lines:
            try:
                found.append(json.loads(line))
            except ValueError:
                continue
        return found

    def record(self, entry: dict[str, Any]) -> None:
        """Append one line, synced before anything is done that relies on it. Raises `Blocked`."""
        path = self.record_file
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("ab") as stream:
                torn = stream.tell() > 0 and path.read_bytes()[-1:] != b"\n"
                stream.write((b"\n" if torn else b"") + json.dumps(entry, sort_keys=True).encode() + b"\n")
                stream.flush()
                os.fsync(stream.fileno())
            sync_folder(path.parent)
        except OSError as error:
            raise explain(error, f"cannot write {path}") from error

    def set_aside(self) -> Path:
        """Keep a result that is not to be taken under another name; that name. Raises `OSError`."""
        number = 1
        while (aside := self.shared / f"result.kept-{number}").exists():
            number += 1
        return self.result.rename(aside)

    def files(self, identity: str, job: str) -> Known[Files] | Unknown:
        """The row's result and what `job` left; unknown when the shared folder cannot be read.

        A whole result that was made from other bytes than `identity` names counts as one that does not hold.
        """
        try:
            next(self.shared.iterdir(), None)  # asks a network file system for what is new, and fails when it is gone
            checked = bundle.check_bundle(self.result)
            newest = self._newest_attempt(job)
        except OSError as error:
            return Unknown(f"the shared folder cannot be read ({os.strerror(error.errno or 0).lower()}: {self.shared})")
        if isinstance(checked, bundle.Checked) and checked.manifest.get("identity") != identity:
            checked = bundle.Broken("it was made from other bytes than this run has")
        if isinstance(checked, bundle.Checked):
            attempt = newest.name if newest is not None else ""
            return Known(Files(bundle=Bundle.WHOLE, attempt=attempt, node=str(checked.manifest.get("node", ""))))
        state = Bundle.ABSENT if checked is None else Bundle.BROKEN
        if newest is None:
            return Known(Files(bundle=state, broken="" if checked is None else checked.reason))
        return Known(
            Files(
                bundle=state,
                broken="" if checked is None else checked.reason,
                attempt=newest.name,
                node=_text(newest / "node"),
                beats=int(_text(newest / "beat") or 0),
                failure=_text(newest / "failed.txt"),
            )
        )

    def _newest_attempt(self, job: str) -> Path | None:
        """The job's attempt with the highest restart count; what earlier jobs of the row left says nothing of it."""
        folder = self.shared / "attempts"
        starts = [path for path in folder.glob(f"{job}.*") if path.name.removeprefix(f"{job}.").isdigit()]
        return max(starts, key=lambda path: int(path.name.removeprefix(f"{job}.")), default=None)


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except FileNotFoundError:
        return ""


def open_campaign(run_folder: Path, shared: Path, executor: str) -> Campaign:
    """The run's place on the cluster, made when it is not there yet. Raises `Blocked`."""
    about = run_folder / CLUSTER_FILE
    known = read_campaign(run_folder)
    if known is None:
        token = secrets.token_hex(6)
        place = shared / PARENT / f"{run_folder.name}-{token}"
        known = Campaign(token, run_folder, place, executor)
        said = {"token": token, "place": str(place), "executor": executor}
        write_atomic(about, json.dumps(said, indent=1).encode() + b"\n")
    try:
        for folder in ("objects", "rows"):
            (known.place / folder).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        reason = os.strerror(error.errno or 0).lower()
        raise Blocked(
            f"cannot write to the shared folder {known.place.parent.parent}: {reason}",
            help="slurm.shared in the profile must be a folder of your own that the compute nodes see too",
        ) from error
    return known


def remove_place(run_folder: Path) -> None:
    """Remove what a finished run put into the shared folder: only a place that carries this run's own token.

    A file that a node still holds open stays; that is no failure of the campaign.
    """
    known = read_campaign(run_folder)
    if known is None or known.place.name != f"{run_folder.name}-{known.token}" or known.place.parent.name != PARENT:
        return
    shutil.rmtree(known.place, ignore_errors=True)
    with contextlib.suppress(OSError):
        known.place.parent.rmdir()  # only when no other run is there


def read_campaign(run_folder: Path) -> Campaign | None:
    """The run's place, when it was ever on a cluster."""
    try:
        data = json.loads((run_folder / CLUSTER_FILE).read_bytes())
        return Campaign(str(data["token"]), run_folder, Path(data["place"]), str(data["executor"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None
