"""A harness in a process of its own, so that tests can kill it: `python -m tests.campaigns.slurm.harness RUN PROFILE`.

Carries out every staged row of a run folder with the executor that the profile names, and prints each event as one
JSON object a line. Its exit status and error line are those of `aisimc run`.
"""

from __future__ import annotations

import dataclasses
import json
import signal
import sys
from pathlib import Path
from types import FrameType

from aisimc_runtime.executors.registry import executor_for
from aisimc_runtime.failures import Failure, Interrupted
from aisimc_runtime.run.job import RowJob
from aisimc_runtime.run.profile import load_profile


def main(run: Path, profile_path: Path) -> int:
    """Carry out the rows; 0 when each has finished, 3 when one is blocked."""
    signal.signal(signal.SIGTERM, _interrupt)
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell starts background jobs with it ignored
    blocked = False
    try:
        profile = load_profile(profile_path)
        executor = executor_for(profile.executor)
        executor.check(profile)
        jobs = [RowJob.read(folder) for folder in sorted((run / "rows").iterdir())]
        for event in executor.run(jobs, profile):
            name = type(event).__name__
            blocked = blocked or name == "RowBlocked"
            sys.stdout.write(json.dumps({"event": name, **dataclasses.asdict(event)}) + "\n")
            sys.stdout.flush()
    except Failure as failure:
        sys.stderr.write(failure.text())
        return int(failure.exit)
    except KeyboardInterrupt:
        return 130
    return 3 if blocked else 0


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise Interrupted("the campaign was interrupted")


if __name__ == "__main__":
    raise SystemExit(main(Path(sys.argv[1]), Path(sys.argv[2])))
