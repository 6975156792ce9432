"""The run folder: where it stands, who may write to it, what is in it."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aisimc_runtime.failures import Blocked
from aisimc_runtime.journal.journal import finished
from aisimc_runtime.ports.files import explain, sha256_file, write_atomic
from aisimc_runtime.ports.named import recordable
from aisimc_runtime.run.plan import Plan

DEFAULT_RUNS = Path(".aisimc") / "runs"


@dataclass(frozen=True, slots=True)
class RunFolder:
    """One run's folder."""

    path: Path

    @property
    def journal(self) -> Path:
        """One line per event."""
        return self.path / "journal.jsonl"

    @property
    def scratch(self) -> Path:
        """Worktrees and builds; removed by `clean`."""
        return self.path / "work"

    def row(self, name: str) -> Path:
        """A row's folder."""
        return self.path / "rows" / name

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the folder; the lock dies with the process. Raises `Blocked` when another process holds it."""
        try:
            handle = os.open(self.path / "run.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise explain(error, f"cannot use the run folder {self.path}") from error
        try:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                who = os.read(handle, 32).decode("ascii", "replace").strip()
                raise Blocked(
                    f"this campaign is being run already{f' by process {who}' if who else ''}: {self.path}",
                    help="wait for it, or start another run beside it with `--again`",
                ) from error
            os.ftruncate(handle, 0)
            os.pwrite(handle, f"{os.getpid()}\n".encode(), 0)
            yield
        finally:
            os.close(handle)


def run_folder(plan: Plan, runs: Path, *, again: bool = False) -> RunFolder:
    """The folder of the plan's newest run, or, with `again`, the next free one beside it. Makes nothing.

    Raises `Refused` for a name that no record can hold.
    """
    first = f"{plan.name}-{plan.digest[:12]}"
    pattern = re.compile(re.escape(first) + r"(?:-(\d+))?$")
    numbers = [
        int(match[1] or 1)
        for path in (runs.iterdir() if runs.is_dir() else ())
        if (match := pattern.match(path.name)) and path.is_dir()
    ]
    number = max(numbers, default=1)
    if again and numbers:
        number += 1
    folder = (runs / (first if number == 1 else f"{first}-{number}")).absolute()
    return RunFolder(recordable(folder, "a run"))


def prepare(folder: RunFolder, plan: Plan) -> bool:
    """Make the folder and put the plan into it; True when an unfinished run is taken up again.

    Raises `Blocked` when the folder holds another plan, or cannot be written.
    """
    try:
        folder.path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise explain(error, f"cannot make the run folder {folder.path}") from error
    place = folder.path / "plan.json"
    if place.is_file():
        if sha256_file(place) != plan.digest:
            raise Blocked(
                f"{place} is not the plan that its folder is named after: it was changed",
                help="start another run beside it with `--again`",
            )
        return folder.journal.is_file()
    write_atomic(place, plan.raw)
    return False


def is_finished(folder: RunFolder) -> bool:
    """Whether the run came to its verdict, its report stands, and its manifest covers the journal to the end."""
    if finished(folder.journal) is None or not (folder.path / "report.json").is_file():
        return False
    try:
        listed = json.loads((folder.path / "manifest.json").read_bytes())["files"]["journal.jsonl"]["sha256"]
    except (OSError, ValueError, KeyError, TypeError):
        return False
    return bool(listed == sha256_file(folder.journal))


def read_report(folder: RunFolder) -> dict[str, Any]:
    """The report of a finished run. Raises `Blocked` when it cannot be read."""
    try:
        report: dict[str, Any] = json.loads((folder.path / "report.json").read_bytes())
    except (OSError, ValueError) as error:
        help_ = "`aisimc report` makes it again"
        raise Blocked(f"the report in {folder.path} cannot be read: {error}", help=help_) from error
    return report
