"""A malformed timing record is the product's failure, and says how it is malformed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from aisimc_runtime.gate.timing import Malformed, read_timing

GOOD = {"replay_execution_ms": 20.5, "setup_ms": 3.0, "end_to_end_ms": 25}


def write(folder: Path, data: Any) -> Path:
    (folder / "timing.json").write_text(data if isinstance(data, str) else json.dumps(data))
    return folder


def test_a_good_record_is_read_as_milliseconds(tmp_path: Path) -> None:
    assert read_timing(write(tmp_path, GOOD), wall_ms=30.0) == {
        "replay_execution_ms": 20.5,
        "setup_ms": 3.0,
        "end_to_end_ms": 25.0,
    }


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ("{", "not JSON"),
        ([], "not an object"),
        ({}, "replay_execution_ms is null"),
        (GOOD | {"replay_execution_ms": "20"}, 'replay_execution_ms is "20"'),
        (GOOD | {"replay_execution_ms": True}, "replay_execution_ms is true"),
        ('{"replay_execution_ms": NaN, "setup_ms": 1, "end_to_end_ms": 2}', "replay_execution_ms is NaN"),
        (GOOD | {"replay_execution_ms": 0}, "cannot be"),
        (GOOD | {"setup_ms": -1}, "cannot be"),
        (GOOD | {"end_to_end_ms": 21.0}, "shorter than set-up and loop together"),
        (GOOD | {"end_to_end_ms": 40.0}, "longer than the process lived"),
    ],
)
def test_what_cannot_be_is_refused(tmp_path: Path, data: Any, message: str) -> None:
    with pytest.raises(Malformed, match=message):
        read_timing(write(tmp_path, data), wall_ms=30.0)


def test_no_record(tmp_path: Path) -> None:
    with pytest.raises(Malformed, match=r"left no timing\.json"):
        read_timing(tmp_path, wall_ms=30.0)


def test_a_report_beside_it_means_that_something_else_was_measured(tmp_path: Path) -> None:
    (tmp_path / "canonical.jsonl").write_text("{}\n")
    with pytest.raises(Malformed, match=r"wrote canonical\.jsonl"):
        read_timing(write(tmp_path, GOOD), wall_ms=30.0)
