"""Records by shape: what thousands of records have in common is read once.

A record is split into its skeleton (keys and punctuation) and its leaves (the literals after colons). Records of one
skeleton share one `Shape`, which knows the path of every leaf; two shapes share one `Alignment`, which knows which leaf
stands against which. So comparing two records is one split each and one comparison of two tuples.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from operator import itemgetter
from typing import Any, NamedTuple

from aisimc_runtime.compare.flatten import HOLE, Leaf, NotJson, Path, flatten
from aisimc_runtime.compare.times import is_stamp

_AFTER_COLON = re.compile(rb':("[^"\\]*(?:\\.[^"\\]*)*"|[^"\[\]{},:\x00]+)')
_SPACE = re.compile(rb'("[^"\\]*(?:\\.[^"\\]*)*")|[ \t\r\n]+')

_EMPTY = (b"{}", b"[]")
_MAX_SHAPES = 2048


@dataclass(frozen=True, slots=True, eq=False)
class Slot:
    """One place that two records are compared at; one object for each place, so that it is found by identity."""

    path: Path
    root: Path
    """The topmost part of the path that one side lacks, or the path itself."""
    stamp: bool
    """Whether it names a point in virtual time."""


class Shape(NamedTuple):
    """What records of one skeleton share: the path of each hole, and the leaves that are part of the skeleton."""

    number: int
    paths: tuple[Path, ...]
    fixed: tuple[Leaf, ...]


class Split(NamedTuple):
    """One record: its shape, and the literals that fill the holes."""

    shape: Shape
    leaves: list[bytes]


class Alignment(NamedTuple):
    """How two shapes stand against each other.

    `common` are the places that are holes on both sides, `left` and `right` pick their literals in that order.
    `other` are places that are no hole on both sides, each with how to get its literal on the left and on the right.
    """

    common: tuple[Slot, ...]
    left: Callable[[list[bytes]], Any]
    right: Callable[[list[bytes]], Any]
    other: tuple[tuple[Slot, int | bytes | None, int | bytes | None], ...]


def compact(text: bytes) -> bytes:
    """The same JSON text without white space between its tokens."""
    return _SPACE.sub(rb"\1", text)


class Shapes:
    """The shapes and alignments met so far in one comparison."""

    def __init__(self) -> None:
        self._shapes: dict[bytes, Shape] = {}
        self._alignments: dict[tuple[int, int], Alignment] = {}
        self._slots: dict[tuple[Path, Path], Slot] = {}
        self._count = 0

    def split(self, record: bytes) -> Split:
        """Split one record. Raises NotJson."""
        parts = _AFTER_COLON.split(record)
        skeleton = HOLE.join(parts[0::2])
        shape = self._shapes.get(skeleton)
        if shape is None:
            shape = self._learn(skeleton, len(parts) // 2)
            if shape is None:
                return self._irregular(record)
        return Split(shape, parts[1::2])

    def align(self, a: Shape, b: Shape) -> Alignment:
        """How two shapes stand against each other; worked out once for each pair."""
        key = (a.number, b.number)
        found = self._alignments.get(key)
        if found is None:
            if len(self._alignments) >= _MAX_SHAPES:
                self._alignments.clear()
            found = self._alignments[key] = self._align(a, b)
        return found

    def _align(self, a: Shape, b: Shape) -> Alignment:
        if a is b:
            return Alignment(tuple(self._slot(path, path) for path in a.paths), _as_they_are, _as_they_are, ())
        return _align(a, b, self._slot)

    def _slot(self, path: Path, root: Path) -> Slot:
        slot = self._slots.get((path, root))
        if slot is None:
            slot = self._slots[path, root] = Slot(path, root, is_stamp(path))
        return slot

    def _learn(self, skeleton: bytes, holes: int) -> Shape | None:
        text = skeleton.replace(HOLE, b":" + HOLE)
        try:
            leaves = flatten(text)
        except NotJson:
            return None
        paths = tuple(leaf.path for leaf in leaves if leaf.literal == HOLE)
        if len(paths) != holes or compact(text) != text:
            return None
        shape = self._new(paths, tuple(leaf for leaf in leaves if leaf.literal != HOLE))
        if len(self._shapes) >= _MAX_SHAPES:
            self._shapes.clear()
        self._shapes[skeleton] = shape
        return shape

    def _irregular(self, record: bytes) -> Split:
        leaves = flatten(record)
        empty = tuple(leaf for leaf in leaves if leaf.literal in _EMPTY)
        holes = [leaf for leaf in leaves if leaf.literal not in _EMPTY]
        return Split(self._new(tuple(leaf.path for leaf in holes), empty), [leaf.literal for leaf in holes])

    def _new(self, paths: tuple[Path, ...], fixed: tuple[Leaf, ...]) -> Shape:
        self._count += 1
        return Shape(self._count, paths, fixed)


def _as_they_are(leaves: list[bytes]) -> list[bytes]:
    return leaves


def _align(a: Shape, b: Shape, slot: Callable[[Path, Path], Slot]) -> Alignment:
    holes_a: dict[Path, int | bytes] = {path: index for index, path in enumerate(a.paths)}
    holes_b: dict[Path, int | bytes] = {path: index for index, path in enumerate(b.paths)}
    common = [path for path in holes_a if path in holes_b]
    all_a = holes_a | {leaf.path: leaf.literal for leaf in a.fixed}
    all_b = holes_b | {leaf.path: leaf.literal for leaf in b.fixed}
    shared = set(common)
    inside_a, inside_b = _containers(all_a), _containers(all_b)
    other = []
    for path in [*all_a, *(path for path in all_b if path not in all_a)]:
        if path in shared:
            continue
        left, right = all_a.get(path), all_b.get(path)
        if isinstance(left, bytes) and left == right:
            continue
        if (left, right) in ((inside_b.get(path), None), (None, inside_a.get(path))):
            continue  # empty on one side only: what the other side holds tells it
        root = path
        if left is None:
            root = _root(path, inside_a)
        elif right is None:
            root = _root(path, inside_b)
        other.append((slot(path, root), left, right))
    return Alignment(
        tuple(slot(path, path) for path in common),
        _picker([holes_a[path] for path in common]),
        _picker([holes_b[path] for path in common]),
        tuple(other),
    )


def _picker(indexes: list[Any]) -> Callable[[list[bytes]], Any]:
    if len(indexes) > 1:
        return itemgetter(*indexes)
    return lambda leaves: tuple(leaves[index] for index in indexes)


def _containers(leaves: dict[Path, int | bytes]) -> dict[Path, bytes]:
    """Every object and array, as the literal that it would be if it were empty."""
    found: dict[Path, bytes] = {}
    for path, literal in leaves.items():
        if literal in _EMPTY:
            found[path] = bytes(literal)
        for depth, segment in enumerate(path):
            found[path[:depth]] = b"[]" if isinstance(segment, int) else b"{}"
    return found


def _root(path: Path, containers: dict[Path, bytes]) -> Path:
    """The topmost part of a path that the other side does not have."""
    for depth in range(1, len(path)):
        if path[:depth] not in containers:
            return path[:depth]
    return path
