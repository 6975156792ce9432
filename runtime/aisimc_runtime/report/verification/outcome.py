"""What one check of a run folder came to."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple


class Outcome(StrEnum):
    """`GONE`: not kept on purpose, so it cannot be checked again; `NOTED`: there, and not part of the run."""

    RIGHT = "right"
    WRONG = "wrong"
    GONE = "gone"
    NOTED = "noted"


class Check(NamedTuple):
    """One check: of which file or files of the folder, and what it came to."""

    outcome: Outcome
    what: str
    message: str


def right(what: str, message: str) -> Check:
    """Something is as it should be."""
    return Check(Outcome.RIGHT, what, message)


def wrong(what: str, message: str) -> Check:
    """Something was changed, or does not follow."""
    return Check(Outcome.WRONG, what, message)


def gone(what: str, message: str) -> Check:
    """Something is no longer there to check."""
    return Check(Outcome.GONE, what, message)
