"""Which record stands against which: by authored order, and by session and turn where the two orders differ."""

from __future__ import annotations

import re
from typing import NamedTuple

import orjson

from aisimc_runtime.compare.scan import Document

_SESSION = re.compile(rb'"session_id":("[^"\\]*(?:\\.[^"\\]*)*"|null)')
_TURN = re.compile(rb'"turn_index":([0-9]+)')
_ID = re.compile(rb'"(?:request_id|uuid)":("[^"\\]*(?:\\.[^"\\]*)*")')
_NUMBERED = re.compile(r"request_([0-9]+)\Z")

Identity = tuple[str, int]


class Pairing(NamedTuple):
    """The pairs in authored order; -1 stands where a side has no such record.

    `names` are the session names of the pairs, `moved` says that the two files have them in different orders, and
    `conventional` that the name of pair N is `request_N+1`, as a trace without session names gives it.
    """

    pairs: list[tuple[int, int]]
    names: list[str]
    moved: bool
    conventional: bool


def pair(a: Document, b: Document) -> Pairing:
    """Pair the records of two documents."""
    left, right = _identities(a), _identities(b)
    pairs, identities, moved = _pairs(left, right)
    names = [identity[0] for identity in identities]
    conventional = all(name == f"request_{index}" for index, name in enumerate(names, 1))
    return Pairing(pairs, names, moved, conventional)


def _identities(document: Document) -> list[Identity]:
    found: list[Identity] = []
    for index, text in enumerate(document.each_record()):
        session, turn = _SESSION.search(text), _TURN.search(text)
        name = session.group(1) if session and session.group(1) != b"null" else None
        if name is None:
            other = _ID.search(text)
            name = other.group(1) if other else None
        text_name = _text(name) if name is not None else f"record {index}"
        found.append((text_name, int(turn.group(1)) if turn else 0))
    return found


def _text(literal: bytes) -> str:
    if b"\\" in literal:
        try:
            return str(orjson.loads(literal))
        except orjson.JSONDecodeError:  # half of a surrogate pair, or no escape at all: told apart as written
            pass
    return literal[1:-1].decode("utf-8", "replace")


def _pairs(left: list[Identity], right: list[Identity]) -> tuple[list[tuple[int, int]], list[Identity], bool]:
    if left == right:
        return [(index, index) for index in range(len(left))], left, False
    if len(set(left)) != len(left) or len(set(right)) != len(right):
        longer = left if len(left) >= len(right) else right
        pairs = [(i if i < len(left) else -1, i if i < len(right) else -1) for i in range(len(longer))]
        return pairs, longer, False
    right = _renamed(left, right)
    at_left = {identity: index for index, identity in enumerate(left)}
    at_right = {identity: index for index, identity in enumerate(right)}
    everyone = _authored([*left, *(identity for identity in right if identity not in at_left)])
    pairs = [(at_left.get(identity, -1), at_right.get(identity, -1)) for identity in everyone]
    both_left = [identity for identity in left if identity in at_right]
    both_right = [identity for identity in right if identity in at_left]
    return pairs, everyone, both_left != both_right


def _renamed(left: list[Identity], right: list[Identity]) -> list[Identity]:
    """The right side, where a request that only carries another name at the same place goes by its left name."""
    known_left, known_right = set(left), set(right)
    named = [
        left[index] if index < len(left) and identity not in known_left and left[index] not in known_right else identity
        for index, identity in enumerate(right)
    ]
    return named if len(left) == len(right) else right


def _authored(identities: list[Identity]) -> list[Identity]:
    """By the row number in the name where every session has one, otherwise as they come."""
    numbers = [_NUMBERED.match(name) for name, _ in identities]
    if not all(numbers):
        return identities
    keyed = [
        (int(match.group(1)), identity[1], identity)
        for match, identity in zip(numbers, identities, strict=True)
        if match
    ]
    return [identity for _, _, identity in sorted(keyed)]
