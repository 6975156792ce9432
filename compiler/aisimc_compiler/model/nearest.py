"""The nearest known name to a misspelt one."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice

_LONGEST = 64
_MOST = 1000
"""Candidates that are looked at: with ten thousand misspelt names among ten thousand, all pairs would take minutes."""


def distance(left: str, right: str, limit: int) -> int:
    """Edits (insert, delete, replace, swap of neighbours) between two texts; more than `limit` counts as limit + 1."""
    if abs(len(left) - len(right)) > limit:
        return limit + 1
    before: list[int] = []
    previous = list(range(len(right) + 1))
    for i, a in enumerate(left, 1):
        current = [i]
        for j, b in enumerate(right, 1):
            cost = min(previous[j] + 1, current[j - 1] + 1, previous[j - 1] + (a != b))
            if i > 1 and j > 1 and a == right[j - 2] and left[i - 2] == b:
                cost = min(cost, before[j - 2] + 1)
            current.append(cost)
        if min(current) > limit:
            return limit + 1
        before, previous = previous, current
    return previous[-1]


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name that `name` most likely means, or None. Case, `-` and `_` do not count; ties go to the first."""
    if len(name) > _LONGEST:
        return None
    plain = _plain(name)
    best, best_cost = None, max(1, min(5, len(plain) // 3)) + 1
    for candidate in islice(known, _MOST):
        if abs(len(candidate) - len(plain)) >= best_cost or not candidate:
            continue
        cost = distance(plain, _plain(candidate), best_cost - 1)
        if cost < best_cost:
            best, best_cost = candidate, cost
    return best


def _plain(name: str) -> str:
    return name.lower().replace("-", "_")


def nearest_file(path: str) -> str | None:
    """The file that a path to nowhere most likely means; None where there is none like it, or the path leads to one."""
    from pathlib import Path

    place = Path(path)
    try:
        near = None if place.exists() else nearest(place.name, sorted(other.name for other in place.parent.iterdir()))
    except (OSError, ValueError):
        return None
    return None if near is None else str(place.with_name(near))
