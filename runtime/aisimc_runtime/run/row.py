"""Replays staged rows on this node: `python -m aisimc_runtime.run.row [options] ROWDIR...`

    @FD                  in place of a folder: a descriptor to read folders from, parted by NUL

    --cpus LIST          CPUs that may be used (default: all that this process may)
    --jobs N             replays at once
    --end-with-stdin     end everything when standard input closes (a harness that was killed leaves no orphans)
    --no-preflight       skip counting runnable threads

Events are written to standard output, one JSON object a line. Exit 0 when every row is finished, 3 when one is
blocked, 128 + signal when a signal asked for the end. The local executor and the cluster use this same program.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

from aisimc_runtime.failures import Blocked, Failure
from aisimc_runtime.run.cpulist import parse_cpus
from aisimc_runtime.run.cpus import allowed_cpus, slots
from aisimc_runtime.run.job import RowJob
from aisimc_runtime.run.preflight import count_threads, widest
from aisimc_runtime.run.runner import Runner

VALUED = ("--cpus", "--jobs")
FLAGS = ("--end-with-stdin", "--no-preflight")


def main(argv: list[str]) -> int:
    """Run the rows; failures are one line on standard error."""
    try:
        options, folders = _arguments(argv)
        jobs = [RowJob.read(Path(folder)) for folder in folders]
    except (OSError, ValueError, KeyError) as error:
        sys.stderr.write(f"row runner: {error}\n")
        return 2
    try:
        return _replay(jobs, options)
    except Failure as failure:
        sys.stderr.write(f"{failure.message}\n")
        return int(failure.exit)


def _replay(jobs: list[RowJob], options: dict[str, str]) -> int:
    told: list[str] = []
    ending: list[int] = []

    def emit(event: dict[str, Any]) -> None:
        told.append(event["event"])
        sys.stdout.write(json.dumps(event, separators=(",", ":")) + "\n")
        sys.stdout.flush()

    runner = Runner([], emit)

    def end(number: int, _frame: FrameType | None) -> None:
        ending.append(number)
        runner.stop()

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, end)
    if "--end-with-stdin" in options:
        runner.watch_fd(0, _closed(runner))
    size = max(job.cpus_per_replay for job in jobs)
    if "--no-preflight" not in options and any(job.orders for job in jobs):
        size = max(size, _preflight(next(job for job in jobs if job.orders), emit))
    cpus = parse_cpus(options["--cpus"]) if "--cpus" in options else None
    jobs_at_once = int(options["--jobs"]) if "--jobs" in options else None
    runner.slots = slots(allowed_cpus(cpus), size, jobs_at_once)
    runner.run(jobs)
    if ending:
        return 128 + ending[0]
    return 3 if "blocked" in told or runner.stopping else 0


def _preflight(job: RowJob, emit: Callable[[dict[str, Any]], None]) -> int:
    try:
        seen = count_threads(job)
    except OSError as error:
        raise Blocked(f"a process cannot be started: {error}") from error
    emit({"event": "preflight", "row": job.row, "arms": seen})
    return widest(seen)


def _closed(runner: Runner) -> Callable[[], None]:
    def react() -> None:
        if not os.read(0, 4096):
            runner.stop()

    return react


def _arguments(argv: list[str]) -> tuple[dict[str, str], list[str]]:
    options: dict[str, str] = {}
    folders: list[str] = []
    words = iter(argv)
    for word in words:
        if word in VALUED:
            options[word] = next(words)
        elif word in FLAGS:
            options[word] = "yes"
        elif word.startswith("-"):
            raise ValueError(f"unknown option {word}")
        elif word.startswith("@"):
            with os.fdopen(int(word[1:]), "rb") as listed:  # closed at once: no replay inherits it
                folders += map(os.fsdecode, listed.read().split(b"\0"))
        else:
            folders.append(word)
    if not folders:
        raise ValueError("no row folder was named")
    return options, folders


if __name__ == "__main__":
    status = main(sys.argv[1:])
    sys.stdout.flush()
    sys.exit(status)
