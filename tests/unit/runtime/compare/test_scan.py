"""Finding records in a file by their separators, and by their brackets where that cannot be trusted."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest

from aisimc_runtime.compare.flatten import NotJson
from aisimc_runtime.compare.scan import Document


def records(tmp_path: Path, text: bytes) -> list[bytes]:
    path = tmp_path / "record.json"
    path.write_bytes(text)
    with Document(path) as document:
        return list(document.each_record())


@pytest.mark.parametrize(
    "items",
    [
        [],
        [{"a": 1}],
        [{"a": 1}, {"a": 2}, {"a": 3}],
        [{"a": 1, "x": [{"a": 2}, {"a": 3}]}, {"a": 4}],
        [{"a": 1}, {"b": 2}, {"a": 3}],
        [{"a": "}],[{"}, {"a": "\\"}, {"a": '"},{"a":'}],
        [1, "two", None, [3], {"a": 4}],
        [{}, {}, {"a": []}],
    ],
)
def test_records_are_cut_at_their_ends(tmp_path: Path, items: list[object]) -> None:
    text = orjson.dumps({"coverage": {"per_request": [9]}, "per_request": items, "summary": {}}) + b"\n"
    assert [orjson.loads(record) for record in records(tmp_path, text)] == items


def test_white_space_is_taken_away_first(tmp_path: Path) -> None:
    document = {"per_request": [{"a": "x  y", "b": [1, 2]}, {"a": " ", "b": []}], "z": 1}
    for text in (orjson.dumps(document, option=orjson.OPT_INDENT_2), str(document).replace("'", '"').encode()):
        assert [orjson.loads(record) for record in records(tmp_path, text)] == document["per_request"]


def test_members_are_read_by_name(tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    path.write_bytes(b'{"a":"x,}","b":[1,{"c":2}],"planner":null,"n":-1.5}\n')
    with Document(path) as document:
        assert document.member("a") == b'"x,}"'
        assert document.member("b") == b'[1,{"c":2}]'
        assert document.member("planner") == b"null"
        assert document.member("n") == b"-1.5"
        assert document.member("nothing") is None


@pytest.mark.parametrize(
    "text",
    [b"", b"\n", b"[]", b"{", b'{"a":1', b'{"a":1}x', b'{"per_request":[{"a":1}', b'{"a":1}\n{"a":2}\n', b"\x7fELF"],
)
def test_anything_else_is_refused(tmp_path: Path, text: bytes) -> None:
    with pytest.raises(NotJson):
        records(tmp_path, text)
