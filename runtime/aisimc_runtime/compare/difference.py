"""Compare two canonical records: bytes first, then record by record, keeping every literal as it was written.

`difference` gives None for equal bytes without parsing anything, and otherwise the focused difference
"aisimc.difference/1": where the two first part in virtual time, and all differences in classes. Memory stays at a few
records, whatever the size of the files.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path as FilePath
from typing import Any, NamedTuple

import orjson

from aisimc_runtime.compare.classes import Classes, Found
from aisimc_runtime.compare.flatten import Path
from aisimc_runtime.compare.literals import Change
from aisimc_runtime.compare.pairing import Pairing, pair
from aisimc_runtime.compare.parting import Earliest, describe
from aisimc_runtime.compare.sameness import equal_bytes, sha256
from aisimc_runtime.compare.scan import RECORDS, Document
from aisimc_runtime.compare.shape import Shapes, Slot

SCHEMA = "aisimc.difference/1"

_Difference = tuple[Slot, bytes | None, bytes | None]


def difference(
    a: FilePath, b: FilePath, *, limit_classes: int | None = None, leave_out: frozenset[str] = frozenset()
) -> dict[str, Any] | None:
    """The focused difference of two records, or None when their bytes are equal.

    `limit_classes` bounds the classes listed (all are counted). `leave_out` names members of a report's outer object
    that are not compared: its wall-clock figures. Raises flatten.NotJson and OSError.
    """
    if equal_bytes(a, b):
        return None
    with Document(a) as left, Document(b) as right:
        comparison = _Comparison(left, right, leave_out)
        comparison.run()
        return comparison.result(limit_classes)


class _Side(NamedTuple):
    sha256: str
    bytes: int
    requests: int


class _Comparison:
    def __init__(self, a: Document, b: Document, leave_out: frozenset[str]) -> None:
        self.a, self.b = a, b
        self.leave_out = leave_out
        self.shapes = Shapes()
        self.classes = Classes()
        self.earliest = Earliest()
        self.pairing: Pairing | None = None
        self.lacking: dict[Slot, Slot] = {}
        self.differing = 0

    def run(self) -> None:
        """Compare the members outside the records, then the records pair by pair."""
        for found in self._outside():
            self.classes.add(found)
        self.pairing = pair(self.a, self.b)
        for position, (i, j) in enumerate(self.pairing.pairs):
            self._records(position, i, j)
        if self.pairing.moved:
            self.classes.add(Found(None, Slot((RECORDS,), (RECORDS,), stamp=False), None, None, Change.ORDER))

    def _outside(self) -> Iterator[Found]:
        left = {name: span for name, span in self.a.members if name not in self.leave_out}
        right = {name: span for name, span in self.b.members if name not in self.leave_out}
        for name in [*left, *(name for name in right if name not in left)]:
            if name == RECORDS and (self.a.records or self.b.records):
                if name not in left or name not in right:
                    yield from self._values((name,), _empty(name in left), _empty(name in right))
                continue
            text_a = self.a.read(left[name]) if name in left else None
            text_b = self.b.read(right[name]) if name in right else None
            if text_a != text_b:
                yield from self._values((name,), text_a, text_b)

    def _values(self, at: Path, a: bytes | None, b: bytes | None) -> Iterator[Found]:
        """Differences of two values outside the records."""
        for slot, x, y in self._wrapped(a, b):
            yield Found(None, Slot(at + slot.path[1:], at + slot.root[1:], stamp=False), x, y)

    def _records(self, position: int, i: int, j: int) -> None:
        text_a = self.a.read(self.a.records[i]) if i >= 0 else None
        text_b = self.b.read(self.b.records[j]) if j >= 0 else None
        if text_a == text_b:
            return
        if text_a is None or text_b is None:
            self.differing += 1
            for slot, x, y in self._wrapped(text_a, text_b):
                self._found(Found(position, self._whole(slot), x, y))
            return
        before = self.classes.total
        for slot, x, y in _compare(self.shapes, text_a, text_b):
            self._found(Found(position, slot, x, y))
        self.differing += self.classes.total > before

    def _found(self, found: Found) -> None:
        self.classes.add(found)
        if found.slot.stamp:
            self.earliest.see(found)

    def _whole(self, slot: Slot) -> Slot:
        """The place inside a record that one side lacks as a whole."""
        known = self.lacking.get(slot)
        if known is None:
            known = self.lacking[slot] = Slot(slot.path[1:], (), slot.stamp)
        return known

    def _wrapped(self, a: bytes | None, b: bytes | None) -> Iterator[_Difference]:
        """Compare two values of which one may not be there; paths begin with one segment more."""
        wrapped = [b'{"v":' + text + b"}" if text is not None else b"{}" for text in (a, b)]
        return _compare(self.shapes, wrapped[0], wrapped[1])

    def result(self, limit: int | None) -> dict[str, Any]:
        """The document "aisimc.difference/1"."""
        assert self.pairing is not None
        classes = self.classes.summary()
        names = self.pairing.names
        parting = self.earliest.parting
        return {
            "schema": SCHEMA,
            "a": _side(self.a)._asdict(),
            "b": _side(self.b)._asdict(),
            "same_values": not classes,
            "requests": {
                "compared": len(self.pairing.pairs),
                "differing": self.differing,
                "only_a": [names[p] for p, (_, j) in enumerate(self.pairing.pairs) if j < 0],
                "only_b": [names[p] for p, (i, _) in enumerate(self.pairing.pairs) if i < 0],
                "order": "different" if self.pairing.moved else "same",
            },
            "first_parting": None
            if parting is None
            else describe(
                parting,
                self.a,
                self.b,
                (names[parting.request], names[parting.request]),
                self.pairing.pairs[parting.request],
            ),
            "values": self.classes.total,
            "left_out": sorted(self.leave_out & {name for name, _ in (*self.a.members, *self.b.members)}),
            "classes": classes[:limit],
            "classes_in_all": len(classes),
            "places": self.classes.places(),
            "places_folded": self.classes.folded,
            "sessions": None if self.pairing.conventional else names,
        }


def _empty(there: bool) -> bytes | None:
    return b"[]" if there else None


def _side(document: Document) -> _Side:
    return _Side(sha256(document.path), document.path.stat().st_size, len(document.records))


def _compare(shapes: Shapes, a: bytes, b: bytes) -> Iterator[_Difference]:
    """Every leaf that differs: its place and both literals."""
    shape_a, leaves_a = shapes.split(a)
    shape_b, leaves_b = shapes.split(b)
    alignment = shapes.align(shape_a, shape_b)
    picked_a, picked_b = alignment.left(leaves_a), alignment.right(leaves_b)
    if picked_a != picked_b:
        for slot, x, y in zip(alignment.common, picked_a, picked_b, strict=True):
            if x != y:
                yield slot, x, y
    for slot, left, right in alignment.other:
        x2, y2 = _literal(left, leaves_a), _literal(right, leaves_b)
        if x2 != y2:
            yield slot, x2, y2


def _literal(source: int | bytes | None, leaves: list[bytes]) -> bytes | None:
    return leaves[source] if isinstance(source, int) else source


def write(document: dict[str, Any], path: FilePath) -> None:
    """Write a difference beside what it explains, whole or not at all."""
    temporary = path.with_name(path.name + ".partial")
    temporary.write_bytes(orjson.dumps(document, option=orjson.OPT_APPEND_NEWLINE))
    temporary.replace(path)
