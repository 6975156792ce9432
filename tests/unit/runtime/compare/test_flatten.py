"""The strict reader behind the comparison: every literal as written, and nothing that is not JSON."""

from __future__ import annotations

import pytest

from aisimc_runtime.compare.flatten import NotJson, flatten, pointer


def leaves(text: bytes) -> dict[str, bytes]:
    return {pointer(leaf.path): leaf.literal for leaf in flatten(text)}


def test_literals_are_kept_as_written() -> None:
    text = b'{"a": 1.0, "b": [1, -0.0, 1e3, NaN], "c": {"d": "\\u0041"}, "e": {}, "f": []}'
    assert leaves(text) == {
        "/a": b"1.0",
        "/b/0": b"1",
        "/b/1": b"-0.0",
        "/b/2": b"1e3",
        "/b/3": b"NaN",
        "/c/d": b'"\\u0041"',
        "/e": b"{}",
        "/f": b"[]",
    }


def test_duplicate_keys_are_all_seen() -> None:
    assert leaves(b'{"a":1,"a":2,"a":3}') == {"/a": b"1", "/a (2)": b"2", "/a (3)": b"3"}


def test_pointers_are_escaped() -> None:
    assert leaves(b'{"a/b":{"m~n":1}}') == {"/a~1b/m~0n": b"1"}


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"{",
        b"[1,",
        b"[1 2]",
        b'{"a" 1}',
        b'{"a":}',
        b"{1:2}",
        b"[1]]",
        b'{"a":1,}',
        b'"\n"',
        b"[\x00]x",
        b'{"a":1',
    ],
)
def test_what_is_not_json_is_refused(text: bytes) -> None:
    with pytest.raises(NotJson):
        flatten(text)
