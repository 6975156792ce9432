"""Which exception records cover which differences: exception.covers, exception.used."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from aisimc_runtime.compare.ranges import positions

Segments = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Coverage:
    """What the records of one row do for its difference."""

    covered_by: dict[str, list[str]]
    uncovered: dict[str, int]
    """Place that no record covers: in how many requests (0 for places outside the records)."""
    idle: dict[str, list[str]] = field(default_factory=dict)
    """Patterns of records that cover something where nothing differs: wider than what was seen."""


def cover(difference: dict[str, Any], records: dict[str, dict[str, Any]]) -> Coverage:
    """Hold the exact places of a difference against the exception records of its row.

    A pattern covers the place that it names and everything below it; `*` stands for one whole segment. A record that
    lists requests covers places in those requests only.
    """
    matchers = {name: _Matcher(record, difference) for name, record in records.items()}
    covered: dict[str, set[str]] = {name: set() for name in records}
    uncovered: dict[str, int] = {}
    for place in difference["places"]:
        segments = _segments(place["path"])
        in_request = segments[:2] == ("per_request", "*")
        left = set(positions(place["requests"])) if in_request else {-1}
        for name, matcher in matchers.items():
            taken = matcher.takes(segments, left)
            if taken:
                covered[name].add(_folded(segments))
                left -= taken
        if left:
            pattern = _folded(segments)
            uncovered[pattern] = max(uncovered.get(pattern, 0), len(left) if in_request else 0)
    useful = {name: sorted(patterns) for name, patterns in covered.items() if patterns}
    idle = {name: matchers[name].idle() for name in useful}
    return Coverage(useful, uncovered, {name: patterns for name, patterns in idle.items() if patterns})


class _Matcher:
    """One record's patterns and requests, ready to be held against places."""

    def __init__(self, record: dict[str, Any], difference: dict[str, Any]) -> None:
        self._patterns = {pattern: _segments(pattern) for pattern in record["differs"]}
        self._met: set[str] = set()
        wanted = record["requests"]
        self._requests = None if wanted == "all" else _positions_of(set(wanted), difference)

    def takes(self, place: Segments, positions_left: set[int]) -> set[int]:
        """The positions of a place that the record covers (-1 stands for a place outside the records)."""
        taken: set[int] = set()
        for written, pattern in self._patterns.items():
            if not _covers(pattern, place):
                continue
            self._met.add(written)
            found = positions_left
            if place[:2] == ("per_request", "*") and len(pattern) > 1 and pattern[1] != "*":
                found = {int(pattern[1])} & positions_left if pattern[1].isdigit() else set()
            taken |= found
        if self._requests is not None and place[:2] == ("per_request", "*"):
            taken &= self._requests
        return set(taken)

    def idle(self) -> list[str]:
        """The patterns that no place has met."""
        return [written for written in self._patterns if written not in self._met]


def _positions_of(names: set[str], difference: dict[str, Any]) -> set[int]:
    sessions = difference.get("sessions")
    if sessions is not None:
        return {index for index, name in enumerate(sessions) if name in names}
    found = set()
    for name in names:
        number = name.removeprefix("request_")
        if number.isdigit() and number != name:
            found.add(int(number) - 1)
    return found


def _segments(pointer: str) -> Segments:
    return tuple(part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")[1:])


def _covers(pattern: Segments, place: Segments) -> bool:
    """Whether a pattern names a place or something above it; a place's own `*` is any request."""
    if len(pattern) > len(place):
        return False
    for index, (want, have) in enumerate(zip(pattern, place, strict=False)):
        request = index == 1 and place[0] == "per_request" and have == "*"
        if want not in ("*", have) and not request:
            return False
    return True


def _folded(place: Segments) -> str:
    folded = ("*" if part.isdigit() else part for part in place)
    return "/" + "/".join(part.replace("~", "~0").replace("/", "~1") for part in folded)
