"""Which exception records cover which differences."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from aisimc_runtime.compare import difference
from aisimc_runtime.verdict.coverage import cover
from tests.builders import records, runs

ROW = "vllm-aggregated"


def made(tmp_path: Path) -> Any:
    """Admissions of requests 4, 5 and 6 differ, in two places each, and one figure of the summary."""
    a = records.vllm_record()
    b = records.changed(a)
    for entry in b["per_request"][3:6]:
        entry["first_admit_ms"] += 1.5
        entry["admission_history"][0]["at_ms"] += 1.5
    b["summary"]["mean_ttft_ms"] += 1.0
    return difference(records.write(a, tmp_path / "a"), records.write(b, tmp_path / "b"))


def covered(tmp_path: Path, *entries: tuple[list[str], Any]) -> Any:
    names = {f"r{index}": runs.exception(ROW, patterns, requests) for index, (patterns, requests) in enumerate(entries)}
    return cover(made(tmp_path), names)


ADMIT = "/per_request/*/first_admit_ms"
HISTORY = "/per_request/*/admission_history/*/at_ms"
SUMMARY = "/summary/mean_ttft_ms"


def test_every_place_is_covered(tmp_path: Path) -> None:
    found = covered(tmp_path, ([ADMIT, HISTORY], "all"), ([SUMMARY], "all"))
    assert found.uncovered == {}
    assert found.covered_by == {"r0": [HISTORY, ADMIT], "r1": [SUMMARY]}


def test_one_place_less_is_uncovered(tmp_path: Path) -> None:
    assert covered(tmp_path, ([ADMIT, HISTORY], "all")).uncovered == {SUMMARY: 0}
    assert covered(tmp_path, ([ADMIT, SUMMARY], "all")).uncovered == {HISTORY: 3}


def test_requests_are_named_as_the_records_have_them(tmp_path: Path) -> None:
    named = ["request_4", "request_5", "request_6"]
    assert covered(tmp_path, ([ADMIT, HISTORY, SUMMARY], named)).uncovered == {}
    assert covered(tmp_path, ([ADMIT, HISTORY, SUMMARY], named[:2])).uncovered == {ADMIT: 1, HISTORY: 1}
    assert covered(tmp_path, ([ADMIT, HISTORY, SUMMARY], ["request_40", "nobody"])).uncovered == {ADMIT: 3, HISTORY: 3}


def test_two_records_may_share_the_requests(tmp_path: Path) -> None:
    found = covered(
        tmp_path, ([ADMIT, HISTORY], ["request_4", "request_5"]), ([ADMIT, HISTORY], ["request_6"]), ([SUMMARY], "all")
    )
    assert found.uncovered == {}
    assert set(found.covered_by) == {"r0", "r1", "r2"}


def test_session_names_of_the_trace(tmp_path: Path) -> None:
    a = records.vllm_record()
    for index, entry in enumerate(a["per_request"]):
        entry["session_id"] = f"talk-{index}"
    b = records.changed(a)
    b["per_request"][2]["first_admit_ms"] += 1.0
    found = difference(records.write(a, tmp_path / "a"), records.write(b, tmp_path / "b"))
    assert found is not None
    assert cover(found, {"r": runs.exception(ROW, [ADMIT], ["talk-2"])}).uncovered == {}
    assert cover(found, {"r": runs.exception(ROW, [ADMIT], ["talk-3"])}).uncovered == {ADMIT: 1}


@pytest.mark.parametrize(
    ("pattern", "left"),
    [
        ("/per_request/*/admission_history", 0),
        ("/per_request/*/admission_history/0/at_ms", 0),
        ("/per_request/*/admission_history/1/at_ms", 3),
        ("/per_request/3/admission_history/*/at_ms", 2),
        ("/per_request/*/*/*/at_ms", 0),
        ("/per_request/*/admission_history/*", 0),
        ("/per_request/*/admission_histor", 3),
        ("/summary/admission_history/*/at_ms", 3),
    ],
)
def test_patterns(tmp_path: Path, pattern: str, left: int) -> None:
    found = covered(tmp_path, ([ADMIT, SUMMARY, pattern], "all"))
    assert found.uncovered == ({HISTORY: left} if left else {})


def test_a_record_that_covers_nothing_is_not_used(tmp_path: Path) -> None:
    found = covered(tmp_path, ([ADMIT, HISTORY, SUMMARY], "all"), (["/per_request/*/itl_ms"], "all"))
    assert "r1" not in found.covered_by


def test_patterns_where_nothing_differs_are_told(tmp_path: Path) -> None:
    found = covered(tmp_path, ([ADMIT, HISTORY, "/per_request/*/ttft_ms"], "all"), ([ADMIT, SUMMARY], "all"))
    assert found.idle == {"r0": ["/per_request/*/ttft_ms"]}


def test_another_order_needs_a_record_of_its_own(tmp_path: Path) -> None:
    a = records.vllm_record()
    b = records.changed(a)
    b["per_request"].reverse()
    found = difference(records.write(a, tmp_path / "a"), records.write(b, tmp_path / "b"))
    assert found is not None
    assert cover(found, {"r": runs.exception(ROW, ["/per_request/*"], "all")}).uncovered == {"/per_request": 0}
    assert cover(found, {"r": runs.exception(ROW, ["/per_request"], "all")}).uncovered == {}


def test_one_admission_more_is_covered_leaf_by_leaf(tmp_path: Path) -> None:
    a = records.vllm_record(preemptions=0)
    b = records.changed(a)
    b["per_request"][2]["admission_history"].append(records.admission(1, "agg", 41.0, again=1))
    found = difference(records.write(a, tmp_path / "a"), records.write(b, tmp_path / "b"))
    assert found is not None
    left = cover(found, {"r": runs.exception(ROW, [HISTORY], "all")}).uncovered
    assert HISTORY not in left
    assert "/per_request/*/admission_history/*/pool" in left
