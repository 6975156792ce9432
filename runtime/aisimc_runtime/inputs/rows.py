"""Every trace row checked before the first replay (`input.rows`).

The engines accept many a broken row silently: a missing timestamp becomes 0, a missing length is made up from the
prefix ids, too many prefix ids change reuse, blank lines shift the names of requests, misspelt keys are ignored.

Out-of-order timestamps are kept: a request is named after its line whatever its arrival, engines admit by arrival
with a stable sort, and the rows stay as authored. Their number is reported.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import orjson

from aisimc_compiler.model.nearest import nearest

REQUIRED = ("timestamp", "input_length", "output_length", "hash_ids")
OPTIONAL = ("request_id",)
UNSUPPORTED = {
    "session_id": "sessions of several turns are not yet supported",
    "delay": "sessions of several turns are not yet supported",
    "delay_ms": "sessions of several turns are not yet supported",
    "output_token_ids": "authored output tokens are not yet supported",
    "priority": "priorities are not yet supported",
    "strict_priority": "priorities are not yet supported",
    "policy_class": "priorities are not yet supported",
    "input_tokens": "only the name `input_length` is taken",
    "output_tokens": "only the name `output_length` is taken",
    "created_time": "only the name `timestamp` is taken",
}
LARGEST_TOKENS = 1 << 24
"""No request is near this; an engine given a larger one allocates until it is killed."""
LARGEST_ID = (1 << 64) - 1
SHOWN_PROBLEMS = 5


@dataclass(frozen=True, slots=True)
class RowProblem:
    """One row that an engine must not be given."""

    line: int
    """1-based, in the file that the rows were cut from."""
    field: str
    message: str

    def __str__(self) -> str:
        where = f", `{self.field}`" if self.field else ""
        return f"line {self.line}{where}: {self.message}"


@dataclass(frozen=True, slots=True)
class RowFacts:
    """What the rows of one slice add up to, in tokens and milliseconds."""

    rows: int
    total_input_tokens: int
    total_output_tokens: int
    max_input_tokens: int
    max_output_tokens: int
    max_request_tokens: int
    first_timestamp_ms: float
    last_timestamp_ms: float
    out_of_order_rows: int


def check_rows(lines: Iterable[bytes], block_size: int, first_line: int = 1) -> tuple[RowFacts, list[RowProblem]]:
    """Check every row; `first_line` is the number of the first one in its file. Pure."""
    problems: list[RowProblem] = []
    seen: dict[str, int] = {}
    inputs = outputs = largest_input = largest_output = largest = rows = late = 0
    first = last = before = 0.0
    for number, raw in enumerate(lines, first_line):
        row, problem = _row(raw, number)
        if row is None:
            problems.append(problem or RowProblem(number, "", "not a row"))
            continue
        found = list(_fields(row, number, block_size))
        if "request_id" in row:
            found += _identity(row["request_id"], number, seen)
        if found:
            problems += found
            continue
        rows += 1
        taken, given, at = row["input_length"], row["output_length"], float(row["timestamp"])
        inputs += taken
        outputs += given
        largest_input, largest_output = max(largest_input, taken), max(largest_output, given)
        largest = max(largest, taken + given)
        late += rows > 1 and at < before
        first, last = (at, at) if rows == 1 else (min(first, at), max(last, at))
        before = at
    facts = RowFacts(rows, inputs, outputs, largest_input, largest_output, largest, first, last, late)
    return facts, problems


def _row(raw: bytes, number: int) -> tuple[dict[str, Any] | None, RowProblem | None]:
    """The row as an object, or why it is none."""
    if not raw.strip():
        return None, RowProblem(number, "", "the line is blank: engines skip it and name later requests differently")
    try:
        row = orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        cut = "" if raw.endswith(b"\n") else " (the file ends inside this line)"
        return None, RowProblem(number, "", f"not JSON: {str(error).partition(': line')[0]}{cut}")
    if not isinstance(row, dict):
        return None, RowProblem(number, "", "not a JSON object")
    if raw.count(b'":') != len(row):  # a key twice, or unusual spacing: look closely
        names = [name for name, _ in json.loads(raw, object_pairs_hook=list)]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            return None, RowProblem(number, twice, "the key is given twice")
    return row, None


def _fields(row: dict[str, Any], number: int, block_size: int) -> Iterable[RowProblem]:
    for name in row:
        if name in UNSUPPORTED:
            yield RowProblem(number, name, UNSUPPORTED[name])
        elif name not in REQUIRED and name not in OPTIONAL:
            yield RowProblem(number, name, "unknown key, which engines ignore silently" + _near(name))
    missing = [name for name in REQUIRED if name not in row]
    for name in missing:
        yield RowProblem(number, name, "missing")
    if missing:
        return
    at = row["timestamp"]
    if isinstance(at, bool) or not isinstance(at, (int, float)):
        yield RowProblem(number, "timestamp", f"{_short(at)} is no time in milliseconds")
    elif not math.isfinite(at) or at < 0:
        yield RowProblem(number, "timestamp", f"{_short(at)} is not a finite time from 0")
    for name in ("input_length", "output_length"):
        if type(row[name]) is not int or not 1 <= row[name] <= LARGEST_TOKENS:
            yield RowProblem(
                number, name, f"{_short(row[name])} is not a whole number of tokens in 1..{LARGEST_TOKENS}"
            )
    yield from _prefix_ids(row, number, block_size)


def fitting_block_size(lines: Iterable[bytes]) -> int | None:
    """The one power of two for which every row has as many prefix ids as it has blocks; None where there is none."""
    fitting = {1 << power for power in range(13)}
    for line in lines:
        try:
            row = orjson.loads(line)
            tokens, ids = row["input_length"], len(row["hash_ids"])
            fitting = {size for size in fitting if -(-tokens // size) == ids}
        except (ValueError, KeyError, TypeError):
            return None
        if not fitting:
            return None
    return fitting.pop() if len(fitting) == 1 else None


def _prefix_ids(row: dict[str, Any], number: int, block_size: int) -> Iterable[RowProblem]:
    ids = row["hash_ids"]
    if not isinstance(ids, list):
        yield RowProblem(number, "hash_ids", f"{_short(ids)} is not a list of prefix ids")
        return
    for value in ids:
        if type(value) is not int or not 0 <= value <= LARGEST_ID:
            yield RowProblem(number, "hash_ids", f"{_short(value)} is not a prefix id (a whole number from 0)")
            return
    tokens = row["input_length"]
    if type(tokens) is int and 1 <= tokens <= LARGEST_TOKENS:
        needed = -(-tokens // block_size)
        if len(ids) != needed:
            few = "too few" if len(ids) < needed else "too many"
            yield RowProblem(
                number, "hash_ids", f"{few}: {len(ids)} for {tokens} tokens in blocks of {block_size}, {needed} needed"
            )


def _identity(value: Any, number: int, seen: dict[str, int]) -> list[RowProblem]:
    if not isinstance(value, str) or not value:
        return [RowProblem(number, "request_id", f"{_short(value)} is not a name")]
    if value in seen:
        return [RowProblem(number, "request_id", f"{_short(value)} is already the name of line {seen[value]}")]
    seen[value] = number
    return []


def _near(name: str) -> str:
    meant = nearest(name, [*REQUIRED, *OPTIONAL])
    return f"; did you mean `{meant}`?" if meant else ""


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 40 else text[:37] + "…"
