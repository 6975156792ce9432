"""Differences gathered into classes: field pattern, kind of change, how many, how large."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from aisimc_runtime.compare.flatten import Path, pointer
from aisimc_runtime.compare.literals import Change, Size, measure
from aisimc_runtime.compare.ranges import Positions
from aisimc_runtime.compare.scan import RECORDS

MAX_PLACES = 20_000
"""So many exact places are kept for exception coverage; beyond it array positions are folded into `*`."""

_SIZED = (Change.VALUE, Change.LAST_BITS, Change.NUMBER_KIND)


@dataclass(slots=True)
class _Class:
    pattern: str
    change: Change
    count: int = 0
    requests: Positions = field(default_factory=Positions)
    largest_delta: float | None = None
    largest_ulps: int | None = None
    rises: int = 0
    falls: int = 0
    first: dict[str, Any] | None = None
    largest: dict[str, Any] | None = None


@dataclass(slots=True)
class Found:
    """One difference: where (the request's position, or None outside the records), and both literals."""

    request: int | None
    path: Path
    root: Path
    a: bytes | None
    b: bytes | None
    change: Change | None = None
    """Set where the kind of change does not follow from the literals."""


class Classes:
    """All differences of one comparison, folded as they come."""

    def __init__(self) -> None:
        self._classes: dict[tuple[Path, Change], _Class] = {}
        self._patterns: dict[Path, Path] = {}
        self._places: dict[Path, Positions] = {}
        self.total = 0
        self.folded = False

    def add(self, found: Found) -> None:
        """Count one difference."""
        self.total += 1
        size = Size(found.change, None, None) if found.change else _size(found.a, found.b)
        pattern = self._pattern(found.root)
        entry = self._classes.get((pattern, size.change))
        if entry is None:
            entry = self._classes[pattern, size.change] = _Class(_text(found.request, pattern), size.change)
        entry.count += 1
        if found.request is not None:
            entry.requests.add(found.request)
        self._measure(entry, found, size)
        self._place(found)

    def _measure(self, entry: _Class, found: Found, size: Size) -> None:
        example = None
        if entry.first is None:
            entry.first = example = _example(found)
        if size.change not in _SIZED or size.delta is None:
            return
        entry.rises += size.delta > 0
        entry.falls += size.delta < 0
        if entry.largest_delta is None or abs(size.delta) > abs(entry.largest_delta):
            entry.largest_delta = size.delta
            entry.largest = example or _example(found)
        if size.ulps is not None and size.ulps > (entry.largest_ulps or -1):
            entry.largest_ulps = size.ulps

    def _place(self, found: Found) -> None:
        path = found.path
        if len(self._places) >= MAX_PLACES and path not in self._places:
            self.folded = True
            path = self._pattern(path)
        key: Path = ("*", *path) if found.request is not None else ("", *path)
        positions = self._places.get(key)
        if positions is None:
            positions = self._places[key] = Positions()
        if found.request is not None:
            positions.add(found.request)

    def _pattern(self, path: Path) -> Path:
        known = self._patterns.get(path)
        if known is None:
            known = tuple("*" if isinstance(segment, int) else segment for segment in path)
            self._patterns[path] = known
        return known

    def summary(self) -> list[dict[str, Any]]:
        """The classes, most requests first, then most places, then by pattern."""
        entries = sorted(self._classes.values(), key=lambda c: (-c.requests.count, -c.count, c.pattern, c.change))
        return [_class(entry) for entry in entries]

    def places(self) -> list[dict[str, Any]]:
        """Every place that differs, exact array positions kept, for exception coverage."""
        return [
            {"path": _place_text(key), "requests": positions.text()}
            for key, positions in sorted(self._places.items(), key=lambda item: _place_text(item[0]))
        ]


def _size(a: bytes | None, b: bytes | None) -> Size:
    if a is None:
        return Size(Change.ADDED, None, None)
    if b is None:
        return Size(Change.REMOVED, None, None)
    return measure(a, b)


def _text(request: int | None, pattern: Path) -> str:
    return pointer((RECORDS, "*", *pattern)) if request is not None else pointer(pattern)


def _place_text(key: Path) -> str:
    return pointer((RECORDS, *key)) if key[0] == "*" else pointer(key[1:])


def shown(literal: bytes | None) -> str | None:
    """A literal as text, as it was written; None where the key is not there."""
    return None if literal is None else literal.decode("utf-8", "replace")


def _example(found: Found) -> dict[str, Any]:
    path = (RECORDS, found.request, *found.path) if found.request is not None else found.path
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
        "largest_delta": entry.largest_delta,
        "largest_ulps": entry.largest_ulps,
        "first": entry.first,
        "largest": entry.largest if entry.largest is not None else entry.first,
    }
