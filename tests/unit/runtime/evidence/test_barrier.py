"""Group passes of attention-DP workers, as far as records show them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from aisimc_runtime.evidence.extract import extract
from tests.builders import records


def groups(tmp_path: Path, requests: list[Any]) -> Any:
    return extract(records.write(records.canonical(requests), tmp_path / "canonical.jsonl"))["group_passes"]


def stamped(index: int, came: float, admitted: float, first: float, last: float) -> Any:
    """A request on rank `index % 2` of one worker."""
    made = records.request(index, workers=1, dp=2)
    made |= {
        "arrival_time_ms": came,
        "first_admit_ms": admitted,
        "first_token_ms": first,
        "last_token_ms": last,
        "terminal_time_ms": last,
    }
    return made


def test_one_rank_is_no_group(tmp_path: Path) -> None:
    assert groups(tmp_path, [records.request(0), records.request(1)]) == []


def test_ranks_that_end_together_and_an_empty_rank_that_waits(tmp_path: Path) -> None:
    found = groups(tmp_path, [stamped(0, 0.0, 0.0, 10.0, 30.0), stamped(1, 4.0, 10.0, 20.0, 30.0)])
    assert len(found) == 1
    assert found[0]["ranks"] == found[0]["ranks_that_share"] == [0, 1]
    assert found[0]["shared_pass_ends"] == 1
    assert found[0]["empty_rank_waits"] == 1
    assert found[0]["empty_rank_admitted_at_once"] == 0


def test_ranks_that_run_by_themselves(tmp_path: Path) -> None:
    found = groups(tmp_path, [stamped(0, 0.0, 0.0, 10.0, 30.0), stamped(1, 4.0, 4.0, 14.0, 34.0)])
    assert found[0]["ranks_that_share"] == []
    assert found[0]["empty_rank_waits"] == 0
    assert found[0]["empty_rank_admitted_at_once"] == 1


def test_an_arrival_at_a_pass_end_shows_nothing(tmp_path: Path) -> None:
    found = groups(tmp_path, [stamped(0, 0.0, 0.0, 10.0, 30.0), stamped(1, 10.0, 10.0, 20.0, 30.0)])
    assert found[0]["empty_rank_waits"] == found[0]["empty_rank_admitted_at_once"] == 0
