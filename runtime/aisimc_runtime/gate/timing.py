"""`timing.json` of one process, read strictly: a malformed one is a failure of the product (`perf.failure`)."""

from __future__ import annotations

import json
from math import isfinite
from pathlib import Path

FIELDS = ("replay_execution_ms", "setup_ms", "end_to_end_ms")
CLOCK_SLACK_MS = 1.0
"""Two readings of one clock in two processes; more than this apart, one of them is wrong."""


class Malformed(ValueError):
    """The process ended well but what it left is no timing record; the text says why."""


def read_timing(folder: Path, wall_ms: float) -> dict[str, float]:
    """The three figures of a finished process; `wall_ms` is the harness's own time around it.

    Raises `Malformed` when the file is missing, is not exactly what the process contract says, names a
    time that cannot be, or stands beside a report: a process that wrote one has measured something else.
    """
    others = sorted(path.name for path in folder.iterdir() if path.name != "timing.json")
    if others:
        raise Malformed(f"wrote {', '.join(others)} although it was asked for timing only")
    try:
        data = json.loads((folder / "timing.json").read_bytes())
    except FileNotFoundError:
        raise Malformed("left no timing.json") from None
    except ValueError as error:
        raise Malformed(f"timing.json is not JSON: {error}") from None
    if not isinstance(data, dict):
        raise Malformed("timing.json is not an object")
    timing = {name: _milliseconds(name, data.get(name)) for name in FIELDS}
    _check(timing, wall_ms)
    return timing


def _milliseconds(name: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value):
        raise Malformed(f"timing.json: {name} is {json.dumps(value)}, not a number of milliseconds")
    return float(value)


def _check(timing: dict[str, float], wall_ms: float) -> None:
    """The loop takes time, and no part takes longer than the whole that holds it."""
    loop, setup, whole = (timing[name] for name in FIELDS)
    if loop <= 0 or setup < 0:
        raise Malformed(f"timing.json: replay_execution_ms {loop:g} and setup_ms {setup:g} cannot be")
    if loop + setup > whole + CLOCK_SLACK_MS:
        raise Malformed(f"timing.json: end_to_end_ms {whole:g} is shorter than set-up and loop together")
    if whole > wall_ms + CLOCK_SLACK_MS:
        raise Malformed(f"timing.json: end_to_end_ms {whole:g} is longer than the process lived ({wall_ms:g})")
