"""The real bench: verified files on node-local storage, fixed CPUs, one fresh process at a time."""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from aisimc_runtime.engines.base import Artifact, PinnedFile
from aisimc_runtime.failures import Blocked
from aisimc_runtime.gate.job import CONFIGURATION, GateJob
from aisimc_runtime.gate.placement import Placement, is_local
from aisimc_runtime.gate.process import Finished, run_pinned
from aisimc_runtime.gate.sampler import Measured
from aisimc_runtime.gate.telemetry import Telemetry
from aisimc_runtime.gate.timing import Malformed, read_timing
from aisimc_runtime.ports.files import link_or_copy, sha256_file
from aisimc_runtime.ports.named import why

Command = Callable[[Artifact, Path, Path], list[str]]
"""`command(artifact, config, out)` of the artifact's engine."""


@dataclass(frozen=True, slots=True)
class Staged:
    """The files of one row where the processes will read them, every one of them hashed there."""

    work: Path
    artifacts: dict[str, Artifact]
    files: tuple[PinnedFile, ...]

    def verify(self) -> None:
        """Hash every file in place. Raises `Blocked` for one that is not what was pinned."""
        for file in self.files:
            try:
                found = sha256_file(file.path)
            except OSError as error:
                raise Blocked(f"cannot read {file.path}: {why(error)}") from error
            if found != file.sha256:
                raise Blocked(
                    f"{file.path} has changed: its SHA-256 is {found}, not {file.sha256}",
                    help="nothing may touch a campaign's artifacts and inputs while it runs; run it again",
                )


def stage_locally(job: GateJob) -> Staged:
    """Bring configuration, input and artifacts to node-local storage and hash them there (`perf.fresh`)."""
    work = _work_folder(job.folder)
    work.mkdir(parents=True, exist_ok=True)
    files = [
        PinnedFile(work / CONFIGURATION, job.configuration_sha256),
        PinnedFile(work / job.input_file, job.input_sha256),
    ]
    for file in files:
        link_or_copy(job.folder / file.path.name, file.path)
    artifacts = {arm: _local_artifact(artifact, work) for arm, artifact in job.artifacts.items()}
    for artifact in artifacts.values():
        files.extend(artifact.files)
    staged = Staged(work, artifacts, tuple(dict.fromkeys(files)))
    staged.verify()
    return staged


def _work_folder(folder: Path) -> Path:
    """Beside the record where that is local; otherwise a folder of its own under the node's temporary one."""
    if is_local(folder):
        return folder / "work"
    temporary = Path(tempfile.gettempdir())
    if not is_local(temporary):
        raise Blocked(
            f"neither {folder} nor {temporary} is on this node's own storage",
            help="set TMPDIR to a folder on a local disk",
        )
    name = hashlib.sha256(os.fsencode(folder.resolve())).hexdigest()[:16]
    return temporary / f"aisimc-gate-{os.getuid()}-{name}"


def _local_artifact(artifact: Artifact, work: Path) -> Artifact:
    if all(is_local(file.path) for file in artifact.files):
        return artifact
    target = work / artifact.arm / artifact.path.name
    target.parent.mkdir(exist_ok=True)
    link_or_copy(artifact.path, target)
    target.chmod(0o755)
    files = (file._replace(path=target) if file.path == artifact.path else file for file in artifact.files)
    return replace(artifact, path=target, files=tuple(files))


@dataclass(slots=True)
class ProcessBench:
    """Runs the processes of one row. Mutable: it numbers output folders and holds what signals told it."""

    staged: Staged
    command: Command
    placement: Placement
    time_limit_s: float
    continued: bool = False
    """Set by the SIGCONT handler: the harness, and with it the node's share for us, had been stopped."""
    asked_to_end: BaseException | None = None
    """Set by the handlers that raise it: what is raised inside a hook of fork is printed by Python, and lost."""
    _telemetry: Telemetry = field(init=False)
    _marks: dict[Path, tuple[int, ...]] = field(init=False)
    _count: int = 0

    def __post_init__(self) -> None:
        self._telemetry = Telemetry(frozenset(self.placement.cpus))
        self._marks = {file.path: _mark(file.path) for file in self.staged.files}

    @property
    def cpus(self) -> tuple[int, ...]:
        """The CPUs that every process is pinned to."""
        return self.placement.cpus

    def measure(self, arm: str) -> Measured:
        """One fresh process with an output folder of its own, removed once its timing is read."""
        if self.asked_to_end is not None:
            raise self.asked_to_end
        self._check_untouched()
        self._count += 1
        out = self.staged.work / f"out-{os.getpid()}-{self._count}"
        argv = self.command(self.staged.artifacts[arm], self.staged.work / CONFIGURATION, out)
        before = self._telemetry.read()
        try:
            process = run_pinned(
                argv,
                cwd=self.staged.work,
                cpus=self.placement.cpus,
                harness_cpus=self.placement.harness_cpus,
                time_limit_s=self.time_limit_s,
                stderr=self.staged.work / "stderr",
            )
            after = self._telemetry.read()
            timing, error = _outcome(process, out, self.time_limit_s)
            return Measured(process, before, after, timing, error)
        except OSError as error:
            raise Blocked(f"cannot start {argv[0]}: {why(error)}") from error
        finally:
            shutil.rmtree(out, ignore_errors=True)

    def stopped(self) -> str | None:
        """Evidence of having been stopped since the last call."""
        continued, self.continued = self.continued, False
        return "the harness was stopped and continued (SIGCONT)" if continued else None

    def wait(self, seconds: float) -> None:
        """Sleep."""
        time.sleep(seconds)

    def _check_untouched(self) -> None:
        """Whether any file was touched since it was hashed: kernel marks, for hashing would disturb the pair."""
        for path, mark in self._marks.items():
            if _mark(path) != mark:
                raise Blocked(f"{path} was touched while the gate ran", help="run the campaign again")


def _mark(path: Path) -> tuple[int, ...]:
    try:
        stat = path.stat()
    except OSError as error:
        raise Blocked(f"{path} is gone: {why(error)}", help="run the campaign again") from error
    return stat.st_dev, stat.st_ino, stat.st_size, stat.st_mtime_ns


def _outcome(process: Finished, out: Path, time_limit_s: float) -> tuple[dict[str, float] | None, str | None]:
    """The timing of a process that ended well, or what the product did wrong."""
    if process.timed_out:
        return None, f"did not end within {time_limit_s:g} s"
    if process.signal is not None:
        return None, f"was killed by signal {process.signal}"
    if process.exit_status != 0:
        said = process.stderr.splitlines()[-1] if process.stderr else "no message"
        return None, f"exit status {process.exit_status}: {said}"
    try:
        return read_timing(out, process.wall_ms), None
    except (Malformed, OSError) as error:
        return None, str(error)
