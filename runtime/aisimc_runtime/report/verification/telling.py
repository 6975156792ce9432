"""Where two documents or texts first differ, in words."""

from __future__ import annotations

from typing import Any

import orjson

_SHOWN = 60


def first_difference(kept: Any, made: Any, place: str = "") -> str | None:
    """The first key, in order of keys, at which two JSON values differ, with what either side has; None for equal ones.

    `kept` is what a file says, `made` what the run's files give.
    """
    if isinstance(kept, dict) and isinstance(made, dict):
        keys = sorted(kept.keys() | made.keys())
        pairs = [(key, kept.get(key, _ABSENT), made.get(key, _ABSENT)) for key in keys]
    elif isinstance(kept, list) and isinstance(made, list):
        longest = max(len(kept), len(made))
        filled = ([*side, *[_ABSENT] * (longest - len(side))] for side in (kept, made))
        pairs = [(str(index), a, b) for index, (a, b) in enumerate(zip(*filled, strict=True))]
    else:
        if _same(kept, made):
            return None
        ours, theirs = _shown(kept, made)
        return f"{place or '/'} is {ours}, the files give {theirs}"
    inside = (first_difference(a, b, f"{place}/{key}") for key, a, b in pairs)
    return next((found for found in inside if found is not None), None)


def first_line(kept: bytes, made: bytes) -> str:
    """The number of the first line (from 1) at which two different texts differ."""
    ours, theirs = kept.split(b"\n"), made.split(b"\n")
    same = 0
    while same < min(len(ours), len(theirs)) and ours[same] == theirs[same]:
        same += 1
    return f"line {same + 1}"


_ABSENT = object()


def _same(kept: Any, made: Any) -> bool:
    """Whether two values are alike as JSON: `1`, `1.0` and `true` are three."""
    return type(kept) is type(made) and bool(kept == made)


def _shown(kept: Any, made: Any) -> tuple[str, str]:
    """Both values in short, each with the part in which they differ."""
    texts = ["not there" if value is _ABSENT else orjson.dumps(value).decode() for value in (kept, made)]
    same = next((i for i, (a, b) in enumerate(zip(*texts, strict=False)) if a != b), min(map(len, texts)))
    first = max(0, same - _SHOWN // 2) if max(map(len, texts)) > _SHOWN else 0
    pieces = [("…" if first else "") + text[first:] for text in texts]
    ours, theirs = (piece if len(piece) <= _SHOWN else piece[: _SHOWN - 1] + "…" for piece in pieces)
    return ours, theirs
