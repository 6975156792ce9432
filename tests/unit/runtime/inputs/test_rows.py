"""Every row that engines accept silently, and should not, is named by line and field."""

from __future__ import annotations

import json
from typing import Any

import pytest

from aisimc_runtime.inputs.rows import check_rows, fitting_block_size

GOOD = {"timestamp": 10, "input_length": 600, "output_length": 5, "hash_ids": [1, 2]}


def line(**changes: Any) -> bytes:
    row = {**GOOD, **changes}
    return json.dumps({key: value for key, value in row.items() if value is not ...}).encode() + b"\n"


CASES: dict[str, tuple[bytes, str, str]] = {
    "blank line": (b"\n", "", "blank"),
    "spaces only": (b"   \n", "", "blank"),
    "not JSON": (b"{nope}\n", "", "not JSON"),
    "an array": (b"[1, 2]\n", "", "not a JSON object"),
    "NaN timestamp": (b'{"timestamp": NaN, "input_length": 1, "output_length": 1, "hash_ids": [1]}\n', "", "not JSON"),
    "truncated": (b'{"timestamp": 1, "input_len', "", "the file ends inside this line"),
    "missing timestamp": (line(timestamp=...), "timestamp", "missing"),
    "null timestamp": (line(timestamp=None), "timestamp", "null is no time"),
    "negative timestamp": (line(timestamp=-1), "timestamp", "-1 is not a finite time"),
    "text timestamp": (line(timestamp="1"), "timestamp", "is no time"),
    "true timestamp": (line(timestamp=True), "timestamp", "is no time"),
    "missing input length": (line(input_length=...), "input_length", "missing"),
    "zero input length": (line(input_length=0), "input_length", "0 is not a whole number"),
    "fractional input length": (line(input_length=600.0), "input_length", "600.0 is not a whole number"),
    "zero output length": (line(output_length=0), "output_length", "0 is not a whole number"),
    "huge output length": (line(output_length=10**12), "output_length", "1000000000000 is not a whole number"),
    "missing ids": (line(hash_ids=...), "hash_ids", "missing"),
    "empty ids": (line(hash_ids=[]), "hash_ids", "too few: 0 for 600 tokens in blocks of 512, 2 needed"),
    "too many ids": (line(hash_ids=[1, 2, 3]), "hash_ids", "too many: 3"),
    "negative id": (line(hash_ids=[1, -2]), "hash_ids", "-2 is not a prefix id"),
    "fractional id": (line(hash_ids=[1, 2.5]), "hash_ids", "2.5 is not a prefix id"),
    "ids as text": (line(hash_ids="1,2"), "hash_ids", "not a list"),
    "misspelt key": (line(timestmap=1), "timestmap", "did you mean `timestamp`"),
    "unknown key": (line(colour=1), "colour", "engines ignore silently"),
    "session": (line(session_id="a"), "session_id", "not yet supported"),
    "delay": (line(delay=3), "delay", "not yet supported"),
    "another name for a length": (line(input_tokens=600), "input_tokens", "only the name `input_length`"),
    "empty request id": (line(request_id=""), "request_id", "is not a name"),
    "key twice": (
        b'{"timestamp": 1, "timestamp": 2, "input_length": 1, "output_length": 1, "hash_ids": [1]}\n',
        "timestamp",
        "given twice",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_a_broken_row_is_named(case: str) -> None:
    raw, field, words = CASES[case]
    _, problems = check_rows([line(), raw, line(timestamp=11)], 512, first_line=40)
    assert [problem.line for problem in problems] == [41]
    assert problems[0].field == field
    assert words in problems[0].message


def test_a_request_id_may_not_come_twice() -> None:
    rows = [line(request_id="a"), line(request_id="b"), line(request_id="a")]
    _, problems = check_rows(rows, 512)
    assert [str(problem) for problem in problems] == ['line 3, `request_id`: "a" is already the name of line 1']


def test_out_of_order_arrivals_stay_as_authored_and_are_counted() -> None:
    facts, problems = check_rows([line(timestamp=30), line(timestamp=10), line(timestamp=20.5)], 512)
    assert problems == []
    assert facts.out_of_order_rows == 1
    assert (facts.first_timestamp_ms, facts.last_timestamp_ms) == (10.0, 30.0)


def test_unusual_spacing_is_no_trouble() -> None:
    raw = b'{ "timestamp" : 1 , "input_length" : 5, "output_length":2, "hash_ids" : [ 7 ] }\n'
    facts, problems = check_rows([raw], 512)
    assert problems == []
    assert facts.max_request_tokens == 7


def test_what_the_rows_add_up_to() -> None:
    facts, _ = check_rows([line(), line(input_length=512, hash_ids=[1], output_length=200)], 512)
    assert facts.rows == 2
    assert facts.total_input_tokens == 1112
    assert facts.total_output_tokens == 205
    assert facts.max_request_tokens == 712
    assert (facts.max_input_tokens, facts.max_output_tokens) == (600, 200)


@pytest.mark.parametrize("size", [1, 16, 512, 4096])
def test_the_block_size_that_the_rows_fit(size: int) -> None:
    lines = [line(input_length=tokens, hash_ids=list(range(-(-tokens // size)))) for tokens in (1, 600, 10_677)]
    assert fitting_block_size(lines) == size
    assert fitting_block_size([*lines, line(input_length=600, hash_ids=[])]) is None
    assert fitting_block_size([*lines, b"{"]) is None
