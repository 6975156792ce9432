"""Revisions and inputs made ready, and rows laid out so that any node can replay them."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aisimc_runtime.engines.base import Artifact, EngineContext
from aisimc_runtime.engines.registry import engine_for
from aisimc_runtime.failures import Blocked
from aisimc_runtime.inputs.acquire import Ready
from aisimc_runtime.ports.files import link_or_copy, sha256_bytes, write_atomic
from aisimc_runtime.run.collected import collected
from aisimc_runtime.run.folder import RunFolder
from aisimc_runtime.run.job import Order, RowJob
from aisimc_runtime.run.plan import Plan
from aisimc_runtime.run.profile import Profile
from aisimc_runtime.run.replay import finished
from aisimc_runtime.store.content import Store

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Arm:
    """One arm, built and asked what it is."""

    artifact: Artifact
    describe: Json

    def to_json(self) -> Json:
        """The arm's entry in `artifacts.json`; no path of the machine in it."""
        artifact = self.artifact
        return {
            "source": artifact.source,
            "revision": artifact.revision,
            "describe": self.describe,
            "sha256": artifact.sha256,
            "size_bytes": artifact.size_bytes,
            "text_size_bytes": artifact.text_size_bytes,
            "features": list(artifact.features),
            "runner_source_sha256": artifact.runner_source_sha256,
            "toolchain": artifact.toolchain,
            "correction": list(artifact.corrections),
            "exclusions": self.describe.get("exclusions"),
        }


def probe(artifact: Artifact, context: EngineContext) -> Arm:
    """Ask the artifact what it is, and refuse one of another contract. Raises `Blocked`."""
    described = engine_for(artifact.source).describe(artifact, context)
    if described.get("contract") != 1:
        raise Blocked(f"the {artifact.arm}'s artifact answers contract {described.get('contract')!r}, not 1")
    return Arm(artifact, described)


def write_json(path: Path, value: Any) -> None:
    """A file of the run folder: indented for people, whole or not there."""
    write_atomic(path, json.dumps(value, indent=1, sort_keys=True, ensure_ascii=False).encode() + b"\n")


def same_artifacts(folder: RunFolder, arms: Mapping[str, Arm]) -> bool:
    """Whether an earlier part of this run executed these very artifacts (`pin.artifact`)."""
    try:
        before = json.loads((folder.path / "artifacts.json").read_bytes())
    except (OSError, ValueError):
        return True  # nothing was executed before artifacts.json stood
    keys = ("sha256", "runner_source_sha256", "correction")
    return all(
        arm in before and all(before[arm].get(key) == mine.to_json()[key] for key in keys) for arm, mine in arms.items()
    )


def forget_rows(folder: RunFolder) -> None:
    """Remove the results of this run's rows: they were made by other artifacts than the ones there now."""
    shutil.rmtree(folder.path / "rows", ignore_errors=True)


def stage_rows(
    plan: Plan, folder: RunFolder, store: Store, profile: Profile, arms: Mapping[str, Arm], inputs: Mapping[str, Ready]
) -> list[RowJob]:
    """Lay out every row that still has something to replay. Raises `Blocked`."""
    jobs = []
    for name, row in plan.data["rows"].items():
        orders = orders_of(row)
        place = folder.row(name)
        if orders and collected(place) is None:
            jobs.append(_stage(name, row, orders, place, store, profile, arms, inputs[row["input"]]))
    return jobs


def kept_replays(jobs: Sequence[RowJob]) -> set[tuple[str, str, int]]:
    """Replays (row, arm, repetition) of staged rows that an earlier part of this run made on this node."""
    here = os.uname().nodename
    return {
        (job.row, order.arm, order.repetition)
        for job in jobs
        for order in job.orders
        if finished(job.folder / "replays" / order.name, order, here)
    }


def orders_of(row: Json) -> tuple[Order, ...]:
    """The row's replays in starting order: the arms alternate, so that baseline and candidate run at once."""
    most = max(arm["repetitions"] for arm in row["arms"].values())
    return tuple(
        Order(arm, repetition)
        for repetition in range(1, most + 1)
        for arm in ("baseline", "candidate")
        if repetition <= row["arms"].get(arm, {"repetitions": 0})["repetitions"]
    )


def _stage(
    name: str, row: Json, orders: tuple[Order, ...], place: Path, store: Store, profile: Profile,
    arms: Mapping[str, Arm], ready: Ready,
) -> RowJob:  # fmt: skip
    place.mkdir(parents=True, exist_ok=True)
    data = configuration_bytes(row)
    if sha256_bytes(data) != row["configuration_sha256"]:
        raise Blocked(f"row {name}: its configuration does not hash to the plan's {row['configuration_sha256']}")
    write_atomic(place / "configuration.json", data)
    input_file = Path(row["configuration"]["trace_file"]).name
    link_or_copy(store.path(ready.slice_sha256), place / input_file)
    job = RowJob(
        row=name,
        folder=place,
        configuration_sha256=row["configuration_sha256"],
        input_file=input_file,
        input_sha256=ready.slice_sha256,
        artifacts={order.arm: arms[order.arm].artifact for order in orders},
        orders=orders,
        limits=profile.limits,
        cpus_per_replay=profile.cpus_per_replay,
        expect_error=row["expect_error"],
        unsupported=tuple(arm for arm, state in row["arms"].items() if not state["supported"]),
    )
    job.write()
    return job


def configuration_bytes(row: Json) -> bytes:
    """The exact bytes that both arms get: a frozen file's own text, else canonical JSON."""
    text = row["configuration_text"]
    if text is not None:
        return str(text).encode()
    compact = json.dumps(row["configuration"], sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return compact.encode() + b"\n"


def unstage(plan: Plan, folder: RunFolder) -> None:
    """Remove what rows needed only while they were replayed; it was made by this run."""
    for name, row in plan.data["rows"].items():
        place = folder.row(name)
        for leftover in ("job.json", Path(row["configuration"]["trace_file"]).name):
            (place / leftover).unlink(missing_ok=True)
        shutil.rmtree(place / "preflight", ignore_errors=True)
    shutil.rmtree(folder.scratch, ignore_errors=True)
    if (folder.path / "cluster.json").is_file():
        from aisimc_runtime.executors.cluster.shared import remove_place

        remove_place(folder.path)
