"""Properties of the comparison: it finds exactly what was changed, and the quick way agrees with the strict one."""

from __future__ import annotations

import tempfile
from pathlib import Path as FilePath
from typing import Any

import orjson
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from aisimc_runtime.compare import difference
from aisimc_runtime.compare.flatten import Path, flatten, pointer
from aisimc_runtime.compare.ranges import Positions, positions
from tests.builders import records

QUICK = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])

LITERALS = (
    b"0",
    b"-0",
    b"0.0",
    b"-0.0",
    b"1",
    b"1.0",
    b"1e0",
    b"18446744073709551616",
    b"1.7976931348623157e308",
    b"null",
    b"true",
    b"false",
    b'""',
    b'"\\u0041"',
    b'"A"',
    b'"],{:"',
    b"NaN",
)


def compare(a: bytes, b: bytes) -> dict[str, Any] | None:
    with tempfile.TemporaryDirectory() as folder:
        paths = [FilePath(folder) / name for name in ("a", "b")]
        for path, data in zip(paths, (a, b), strict=True):
            path.write_bytes(data)
        return difference(*paths)


def places(found: dict[str, Any]) -> set[str]:
    """Every concrete place of a difference."""
    concrete: set[str] = set()
    for place in found["places"]:
        if place["path"].startswith("/per_request/*"):
            rest = place["path"].removeprefix("/per_request/*")
            concrete |= {f"/per_request/{position}{rest}" for position in positions(place["requests"])}
        else:
            concrete.add(place["path"])
    return concrete


@st.composite
def mutations(draw: st.DrawFn) -> tuple[bytes, bytes, str, bytes, bytes]:
    """A canonical record, the same with one literal changed, and where, from what, to what."""
    kind = draw(st.sampled_from([records.vllm_record, records.disaggregated_record]))
    whole = records.encode(kind(draw(st.integers(1, 6))))
    leaves = [leaf for leaf in flatten(whole) if leaf.literal not in (b"{}", b"[]")]
    number = draw(st.integers(0, len(leaves) - 1))
    chosen = leaves[number]
    new = draw(st.sampled_from([literal for literal in LITERALS if literal != chosen.literal]))
    return whole, _replaced(whole, number, new), pointer(chosen.path), chosen.literal, new


def _replaced(whole: bytes, number: int, new: bytes) -> bytes:
    """The text with its leaf of that number written otherwise, found by counting leaves from the start."""
    position = count = 0
    depth: list[bytes] = []
    while position < len(whole):
        char = whole[position : position + 1]
        if char in b"{[":
            depth.append(char)
            position += 1
        elif char in b"}]":
            depth.pop()
            position += 1
        elif char in b":,\n":
            position += 1
        else:
            end = _end(whole, position)
            if whole[end : end + 1] != b":":
                if count == number:
                    return whole[:position] + new + whole[end:]
                count += 1
            position = end
    raise AssertionError(number)


def _end(whole: bytes, start: int) -> int:
    if whole[start : start + 1] == b'"':
        end = start + 1
        while whole[end : end + 1] != b'"':
            end += 2 if whole[end : end + 1] == b"\\" else 1
        return end + 1
    end = start
    while whole[end : end + 1] not in b",]}":
        end += 1
    return end


@QUICK
@given(mutations())
def test_one_changed_literal_is_found_and_nothing_else(case: tuple[bytes, bytes, str, bytes, bytes]) -> None:
    whole, changed, place, old, new = case
    found = compare(whole, changed)
    assert found is not None
    assert found["values"] == 1
    assert places(found) == {place}
    first = found["classes"][0]["first"]
    assert (first["pointer"], first["a"], first["b"]) == (place, old.decode(), new.decode())


@QUICK
@given(mutations())
def test_the_comparison_is_symmetric(case: tuple[bytes, bytes, str, bytes, bytes]) -> None:
    whole, changed, *_ = case
    there, back = compare(whole, changed), compare(changed, whole)
    assert there is not None
    assert back is not None
    assert places(there) == places(back)
    assert [entry["count"] for entry in there["classes"]] == [entry["count"] for entry in back["classes"]]
    if there["first_parting"] is not None:
        assert back["first_parting"] is not None
        assert there["first_parting"]["at_ms"] == back["first_parting"]["at_ms"]
        assert there["first_parting"]["a"] == back["first_parting"]["b"]


KEYS = st.one_of(st.sampled_from(["a", "b", "at_ms", "x:1,2", "{", '"', "7", "~/", "ключ"]), st.text(max_size=4))
VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-(2**60), 2**60), st.floats(allow_nan=False), st.text(max_size=6)),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(KEYS, inner, max_size=4)),
    max_leaves=12,
)
DOCUMENTS = st.fixed_dictionaries(
    {"per_request": st.lists(st.dictionaries(KEYS, VALUES, max_size=4), max_size=4), "summary": VALUES},
    optional={"planner": VALUES, "coverage": VALUES},
)


def expected(a: bytes, b: bytes) -> set[str]:
    """Where the strict reader sees a difference; an empty container that became a filled one shows by what fills it."""
    left, right = ({leaf.path: leaf.literal for leaf in flatten(text)} for text in (a, b))
    paths = {path for path in left.keys() | right.keys() if left.get(path) != right.get(path)}
    return {pointer(path) for path in paths if not _filled(path, left, right) and not _filled(path, right, left)}


def _filled(path: Path, here: dict[Path, bytes], there: dict[Path, bytes]) -> bool:
    literal = here.get(path)
    if literal not in (b"{}", b"[]") or path in there:
        return False
    below = {other[len(path)] for other in there if other[: len(path)] == path}
    return any(isinstance(segment, int) == (literal == b"[]") for segment in below)


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(DOCUMENTS, DOCUMENTS)
def test_the_quick_way_agrees_with_the_strict_one(a: dict[str, Any], b: dict[str, Any]) -> None:
    texts = [orjson.dumps(document, option=orjson.OPT_SORT_KEYS) for document in (a, b)]
    if any(_same_kinds_unclear(document) for document in (a, b)):
        return
    found = compare(*texts)
    if texts[0] == texts[1]:
        assert found is None
        return
    assert found is not None
    assert places(found) == expected(*texts)


def _same_kinds_unclear(document: dict[str, Any]) -> bool:
    """Records that hold an identity are paired by it, and an object may be keyed by numbers as an array is."""
    text = orjson.dumps(document)
    return any(key in text for key in (b'"session_id"', b'"uuid"', b'"7"'))


@given(DOCUMENTS)
@settings(max_examples=40, deadline=None)
def test_a_document_does_not_differ_from_itself_written_otherwise(document: dict[str, Any]) -> None:
    compact = orjson.dumps(document)
    for option in (orjson.OPT_INDENT_2, orjson.OPT_SORT_KEYS):
        found = compare(compact, orjson.dumps(document, option=option))
        assert found is None or found["same_values"]


@given(st.sets(st.integers(0, 400)))
def test_positions_survive_their_text(values: set[int]) -> None:
    grown = Positions()
    for value in sorted(values):
        grown.add(value)
    assert grown.count == len(values)
    assert list(positions(grown.text())) == sorted(values)
