"""Rows on this machine: one row runner, in a session of its own, that ends when this process does."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import IO, Any

from aisimc_runtime.executors.base import Note, ReplayFinished, ReplayStarted, RowBlocked, RowEvent, RowFinished
from aisimc_runtime.failures import Blocked
from aisimc_runtime.run.cpus import allowed_cpus, slots
from aisimc_runtime.run.job import RowJob
from aisimc_runtime.run.profile import Profile

GRACE_S = 5.0
"""How long the row runner may take to end its replays once its input is closed."""


class LocalExecutor:
    """Replays rows here, as many at once as the CPUs allow."""

    name = "local"

    def check(self, profile: Profile) -> None:
        """Refuse CPUs that are not there. Raises `Blocked`."""
        slots(allowed_cpus(profile.cpus), profile.cpus_per_replay, profile.jobs)

    def run(self, jobs: Sequence[RowJob], profile: Profile) -> Iterator[RowEvent]:
        """Replay all rows; closing the iterator ends everything."""
        if not jobs:
            return
        ended: set[str] = set()
        with tempfile.TemporaryFile() as errors, tempfile.TemporaryFile() as listed:
            listed.write(b"\0".join(os.fsencode(job.folder) for job in jobs))
            listed.flush()
            listed.seek(0)
            process = _start(listed, profile, errors)
            try:
                assert process.stdout is not None
                for line in process.stdout:
                    event = _event(json.loads(line))
                    if isinstance(event, (RowFinished, RowBlocked)):
                        ended.add(event.row)
                    yield event
                process.wait()
            finally:
                _end(process)
            errors.seek(0)
            said = errors.read()[-4000:].decode("utf-8", "replace").strip()
        missing = [job.row for job in jobs if job.row not in ended]
        if missing:
            why = said.splitlines()[-1] if said else f"it ended with status {process.returncode}"
            help_ = "make room, then run the campaign again" if "no space left" in why else "run the campaign again"
            raise Blocked(f"the row runner stopped before row {missing[0]} was finished: {why}", help=help_)


def _start(listed: IO[bytes], profile: Profile, errors: IO[bytes]) -> subprocess.Popen[bytes]:
    argv = [sys.executable, "-P", "-m", "aisimc_runtime.run.row", "--end-with-stdin"]
    if profile.cpus is not None:
        argv += ["--cpus", ",".join(map(str, profile.cpus))]
    if profile.jobs is not None:
        argv += ["--jobs", str(profile.jobs)]
    return subprocess.Popen(
        [*argv, f"@{listed.fileno()}"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=errors,
        start_new_session=True,
        pass_fds=[listed.fileno()],  # it has no name, so that a harness that is killed leaves none behind
    )


def _end(process: subprocess.Popen[bytes]) -> None:
    """Close its input, which ends its replays; kill it when that takes too long (its children die with it)."""
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            with suppress(OSError):
                stream.close()
    try:
        process.wait(GRACE_S)
    except subprocess.TimeoutExpired:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    except BaseException:  # interrupted a second time
        process.kill()
        raise


def _event(data: dict[str, Any]) -> RowEvent:
    kind = data["event"]
    if kind == "started":
        return ReplayStarted(data["row"], data["arm"], data["repetition"], tuple(data["cpus"]), data["node"])
    if kind == "finished":
        return ReplayFinished(
            data["row"], data["arm"], data["repetition"], data["ok"], data["summary"], data["lost"],
            data["wall_ms"], data["cpu_ms"],
        )  # fmt: skip
    if kind == "row":
        return RowFinished(data["row"], data["node"])
    if kind == "blocked":
        return RowBlocked(data["row"], data["reason"])
    if kind == "preflight":
        widest = max((arm["runnable"] for arm in data["arms"].values()), default=1)
        return Note(f"preflight: at most {widest} runnable thread{'s' if widest != 1 else ''} per replay", None, data)
    return Note(str(data), data.get("row"), data)
