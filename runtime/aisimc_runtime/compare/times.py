"""Which fields are points in virtual time, and which are lengths of time (decisions: Differences)."""

from __future__ import annotations

from aisimc_runtime.compare.flatten import Path

_STAMP_ENDINGS = (
    "_at_ms",
    "_time_ms",
    "_admit_ms",
    "_token_ms",
    "_held_ms",
    "_reserved_ms",
    "_activated_ms",
    "_released_ms",
)


def is_stamp(path: Path) -> bool:
    """Whether a path inside a record names a point in virtual time; durations such as `ttft_ms` are none."""
    name = path[-1] if path else ""
    if isinstance(name, int):
        return False
    return name == "at_ms" or name.endswith(_STAMP_ENDINGS)
