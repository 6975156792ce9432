"""What runs in a row's allocation: `python -m aisimc_runtime.executors.cluster.node ROW ATTEMPT NODE STAGING BEAT_S`.

Stage and verify, replay the row with the runtime's own row runner, bring the results back whole. Whatever ends it
leaves either the whole result or one line that says why there is none; the staging folder is the batch script's to
remove. A termination signal (cancel, preemption, time limit) leaves no line: the scheduler says why it sent it.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

from aisimc_runtime.executors.cluster import bundle, staging
from aisimc_runtime.failures import Blocked
from aisimc_runtime.ports.files import write_atomic
from aisimc_runtime.run.job import RowJob
from aisimc_runtime.run.node import load_average, node_facts

FULL_BYTES = 1 << 20
"""With less than this free after the replays, one that failed may have failed for want of room."""
EVENTS, WORDS = "events.jsonl", "row-runner.txt"
"""What the row runner wrote on standard output and standard error, in the attempt's folder."""
OK, GAVE_UP = 0, 3


class Ended(BaseException):
    """A signal asked for the end. Not an `Exception`: nothing on the way may take it for a failure."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """One start of the row's job."""

    row: Path
    name: str
    node: str
    staging: Path
    beat_s: float

    @property
    def folder(self) -> Path:
        """This attempt's own folder in the shared one."""
        return self.row / "attempts" / self.name

    def leave(self, file: str, line: str) -> None:
        """Leave one line for the harness."""
        write_atomic(self.folder / file, (line.replace("\n", " ").strip() + "\n").encode())


def main(argv: list[str]) -> int:
    """The allocation's work; its exit status is for people, the harness reads what was left behind."""
    attempt = Attempt(Path(argv[0]), argv[1], argv[2], Path(argv[3]), float(argv[4]))
    signal.signal(signal.SIGTERM, _end)
    if bundle.check_bundle(attempt.row / "result") is not None:
        return OK  # restarted by the scheduler after it was done
    stop = threading.Event()
    heart = threading.Thread(target=_beat, args=(attempt, stop), daemon=True)
    heart.start()
    try:
        _carry_out(attempt)
    except Blocked as failure:
        attempt.leave("failed.txt", failure.message)
        return GAVE_UP
    except OSError as error:
        reason = os.strerror(error.errno or 0).lower()
        attempt.leave("failed.txt", f"the result could not be brought back from {attempt.node}: {reason}")
        return GAVE_UP
    except Ended:
        return 128 + signal.SIGTERM
    finally:
        stop.set()
    return OK


def _carry_out(attempt: Attempt) -> None:
    started = time.time()
    _keep_to_allotment(attempt)
    before = surroundings()
    stage = json.loads((attempt.row / "stage.json").read_bytes())
    job = staging.stage_row(stage, attempt.row.parent.parent / "objects", attempt.staging, attempt.node)
    staged_s = time.time() - started
    status = _replay(attempt, job.folder)
    _refuse_partial(attempt, job, status)
    for entry in stage["files"]:
        (attempt.staging / entry["to"]).unlink(missing_ok=True)
    (job.folder / "job.json").unlink(missing_ok=True)
    facts: dict[str, Any] = {
        "row": job.row,
        "identity": stage["identity"],
        "attempt": attempt.name,
        "node": attempt.node,
        "placement": {"before": before, "after": surroundings()},
        "staging": {"folder": str(attempt.staging.parent), "files": len(stage["files"]), "verified": True,
                    "bytes": stage["bytes"], "seconds": round(staged_s, 3)},
        "seconds": round(time.time() - started, 3),
    }  # fmt: skip
    if json.loads((attempt.row / "stage.json").read_bytes())["identity"] != stage["identity"]:
        raise Blocked("the run has gone on with other bytes than this job was given")
    partial = attempt.folder / "result.partial"
    if not bundle.publish(job.folder, attempt.row / "result", partial, facts):
        shutil.rmtree(partial, ignore_errors=True)


def surroundings() -> dict[str, Any]:
    """The machine as this allocation sees it. What each process got is read back by the row runner."""
    allotted = int(os.environ.get("AISIMC_ALLOTTED_CPUS") or 0)
    return {
        **node_facts(),
        "cpus": sorted(os.sched_getaffinity(0)),
        "allotted": allotted or None,
        "load": load_average(),
    }


def own_cpus(allowed: Sequence[int], wanted: int, job: int) -> tuple[int, ...]:
    """The CPUs to keep to where the scheduler binds nothing: `wanted` of `allowed`, other ones for the next job."""
    if wanted <= 0 or wanted >= len(allowed):
        return tuple(allowed)
    first = (job * wanted) % len(allowed)
    turned = [*allowed[first:], *allowed[:first]]
    return tuple(sorted(turned[:wanted]))


def _keep_to_allotment(attempt: Attempt) -> None:
    """Bind this process, and so all replays, to as many CPUs as were asked for."""
    wanted = int(os.environ.get("AISIMC_ALLOTTED_CPUS") or 0)
    cpus = own_cpus(sorted(os.sched_getaffinity(0)), wanted, int(attempt.name.split(".")[0]))
    with contextlib.suppress(OSError):  # a cpuset smaller than its own mask: the replays read back what they got
        os.sched_setaffinity(0, cpus)


def _replay(attempt: Attempt, folder: Path) -> int:
    """Run the row runner to its end, its events into the attempt's folder; on a signal it goes with us."""
    argv = [sys.executable, "-P", "-m", "aisimc_runtime.run.row", "--end-with-stdin", str(folder)]
    with (attempt.folder / EVENTS).open("wb") as events, (attempt.folder / WORDS).open("wb") as words:
        process = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=events, stderr=words, start_new_session=True)
        try:
            return process.wait()
        finally:
            if process.poll() is None:
                process.terminate()
                try:
                    process.wait(timeout=5)
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.wait()


def _blocked_reason(attempt: Path) -> str:
    """Why the row runner could not finish the row, in its own words; empty when it did not say."""
    words = (attempt / WORDS).read_text(encoding="utf-8", errors="replace").strip().splitlines()
    reason = words[-1] if words else ""
    for line in (attempt / EVENTS).read_bytes().splitlines():
        with contextlib.suppress(ValueError):
            event = json.loads(line)
            if event.get("event") == "blocked":
                reason = str(event.get("reason", ""))
    return reason


def _refuse_partial(attempt: Attempt, job: RowJob, status: int) -> None:
    """Only a row whose every replay has its result is brought back. Raises `Blocked`."""
    free = shutil.disk_usage(attempt.staging).free
    if free < FULL_BYTES:
        raise Blocked(f"the staging folder {attempt.staging.parent} on {attempt.node} is full: {free // 1024} KiB free")
    missing = [
        order.name for order in job.orders if not (job.folder / "replays" / order.name / "process.json").is_file()
    ]
    if status != 0 or missing:
        reason = _blocked_reason(attempt.folder)
        if reason:
            raise Blocked(f"{reason} (on {attempt.node})")
        what = f"{len(missing)} of its {len(job.orders)} replays have no result" if missing else f"exit status {status}"
        raise Blocked(f"the row runner gave up on {attempt.node}: {what}; see {attempt.row / 'log.txt'}")


def _beat(attempt: Attempt, stop: threading.Event) -> None:
    """Count up in the shared folder while this process lives. One missed beat is no matter."""
    count = 0
    while True:
        count += 1
        with contextlib.suppress(Blocked, OSError):
            write_atomic(attempt.folder / "beat", f"{count}\n".encode())
        if stop.wait(attempt.beat_s):
            return


def _end(signum: int, frame: FrameType | None) -> None:
    raise Ended


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
