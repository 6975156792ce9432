"""Differences gathered into classes: field pattern, kind of change, how many, how large."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from aisimc_runtime.compare.flatten import Path, pointer
from aisimc_runtime.compare.literals import Change, Size, measure
from aisimc_runtime.compare.ranges import Positions
from aisimc_runtime.compare.scan import RECORDS
from aisimc_runtime.compare.shape import Slot

MAX_PLACES = 20_000
"""So many exact places are kept for exception coverage; beyond it array positions are folded into `*`."""

_SIZED = (Change.VALUE, Change.LAST_BITS, Change.NUMBER_KIND)


@dataclass(slots=True)
class _Class:
    """One class of differences while it grows."""

    pattern: str
    change: Change
    count: int = 0
    requests: Positions = field(default_factory=Positions)
    largest_delta: float | None = None
    largest_ulps: int | None = None
    rises: int = 0
    falls: int = 0
    first: dict[str, Any] | None = None
    largest: Found | None = None


class Found(NamedTuple):
    """One difference: where (the request's position, or None outside the records), and both literals."""

    request: int | None
    slot: Slot
    a: bytes | None
    b: bytes | None
    change: Change | None = None
    """Set where the kind of change does not follow from the literals."""


@dataclass(slots=True)
class _Place:
    """What is known of one place: its pattern, its classes by kind of change, and the requests that differ there."""

    pattern: Path
    classes: dict[Change, _Class]
    requests: Positions


class Classes:
    """All differences of one comparison, folded as they come."""

    def __init__(self) -> None:
        self._classes: dict[tuple[bool, Path, Change], _Class] = {}
        self._inside: dict[Slot, _Place] = {}
        self._outside: dict[Slot, _Place] = {}
        self._positions: dict[tuple[bool, Path], Positions] = {}
        self.total = 0
        self.folded = False

    def add(self, found: Found) -> None:
        """Count one difference."""
        self.total += 1
        request, slot, a, b, change = found
        places = self._outside if request is None else self._inside
        place = places.get(slot)
        if place is None:
            place = places[slot] = self._place(slot, request is not None)
        size = _size(a, b) if change is None else Size(change, None, None)
        entry = place.classes.get(size.change)
        if entry is None:
            entry = place.classes[size.change] = self._class(place.pattern, size.change, request is not None)
        entry.count += 1
        if request is not None:
            entry.requests.add(request)
            place.requests.add(request)
        _measure(entry, found, size)

    def _place(self, slot: Slot, inside: bool) -> _Place:
        path = slot.path
        if len(self._positions) >= MAX_PLACES and (inside, path) not in self._positions:
            self.folded = True
            path = _pattern(path)
        positions = self._positions.setdefault((inside, path), Positions())
        return _Place(_pattern(slot.root), {}, positions)

    def _class(self, pattern: Path, change: Change, inside: bool) -> _Class:
        key = (inside, pattern, change)
        entry = self._classes.get(key)
        if entry is None:
            entry = self._classes[key] = _Class(pointer((RECORDS, "*", *pattern) if inside else pattern), change)
        return entry

    def summary(self) -> list[dict[str, Any]]:
        """The classes, most requests first, then most places, then by pattern."""
        entries = sorted(self._classes.values(), key=lambda c: (-c.requests.count, -c.count, c.pattern, c.change))
        return [_class(entry) for entry in entries]

    def places(self) -> list[dict[str, Any]]:
        """Every place that differs, exact array positions kept, for exception coverage."""
        named = {
            pointer((RECORDS, "*", *path) if inside else path): positions
            for (inside, path), positions in self._positions.items()
        }
        return [{"path": path, "requests": positions.text()} for path, positions in sorted(named.items())]


def _pattern(path: Path) -> Path:
    return tuple("*" if isinstance(segment, int) else segment for segment in path)


def _measure(entry: _Class, found: Found, size: Size) -> None:
    """Keep the first and the largest example of a class."""
    if entry.first is None:
        entry.first = _example(found)
    if size.change not in _SIZED or size.delta is None:
        return
    entry.rises += size.delta > 0
    entry.falls += size.delta < 0
    if entry.largest_delta is None or abs(size.delta) > abs(entry.largest_delta):
        entry.largest_delta = size.delta
        entry.largest = found
    if size.ulps is not None and size.ulps > (entry.largest_ulps or -1):
        entry.largest_ulps = size.ulps


def _size(a: bytes | None, b: bytes | None) -> Size:
    if a is None:
        return Size(Change.ADDED, None, None)
    if b is None:
        return Size(Change.REMOVED, None, None)
    return measure(a, b)


def shown(literal: bytes | None) -> str | None:
    """A literal as text, as it was written; None where the key is not there."""
    return None if literal is None else literal.decode("utf-8", "replace")


def _example(found: Found) -> dict[str, Any]:
    path = (RECORDS, found.request, *found.slot.path) if found.request is not None else found.slot.path
    return {"request": found.request, "pointer": pointer(path), "a": shown(found.a), "b": shown(found.b)}


def _class(entry: _Class) -> dict[str, Any]:
    return {
        "pattern": entry.pattern,
        "change": str(entry.change),
        "count": entry.count,
        "requests": entry.requests.count,
        "in": entry.requests.text(),
        "rises": entry.rises,
        "falls": entry.falls,
        # JSON has no infinity: a change beyond every double has no size there
        "largest_delta": None
        if entry.largest_delta is None or math.isinf(entry.largest_delta)
        else entry.largest_delta,
        "largest_ulps": entry.largest_ulps,
        "first": entry.first,
        "largest": _example(entry.largest) if entry.largest is not None else entry.first,
    }
