"""Extracts of evidence, and the counters that they show again."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import orjson
import pytest

from aisimc_runtime.evidence.counters import contains, counters_of, same
from aisimc_runtime.evidence.extract import extract
from tests.builders import records


def extracted(tmp_path: Path, record: Any) -> Any:
    return extract(records.write(record, tmp_path / "canonical.jsonl"))


def test_columns_stand_in_authored_order(tmp_path: Path) -> None:
    record = records.vllm_record(4)
    made = extracted(tmp_path, record)
    assert made["requests"] == 4
    assert made["columns"]["session_id"] == ["request_1", "request_2", "request_3", "request_4"]
    assert made["columns"]["arrival_ms"] == [0.0, 10.0, 20.0, 30.0]
    assert made["columns"]["decode_worker"] == [0, 1, 0, 1]
    assert made["columns"]["decode_dp_rank"] == [0, 0, 0, 0]
    assert all(len(column) == 4 for column in made["columns"].values())


def test_counters_are_those_of_the_records(tmp_path: Path) -> None:
    record = records.vllm_record()
    record["per_request"][2]["output_length"] = 3
    record["per_request"][5] |= {"terminal_status": "rejected", "output_length": 0}
    counters = counters_of(extracted(tmp_path, record))
    assert counters["completed_requests"] == 7
    assert counters["num_requests"] == 8
    assert counters["terminal_counts"] == {"completed": 7, "rejected": 1}
    assert counters["requests_with_short_output"] == 2
    assert counters["all_requests_full_output"] is False
    assert counters["total_output_tokens"] == 4 * 6 + 3
    assert counters["requests_with_reuse"] == 7
    assert counters["readmissions"] == 1
    assert counters["routing_counts"] == {"agg_immediate": 8}


def test_readmissions_are_listed_in_virtual_time(tmp_path: Path) -> None:
    record = records.vllm_record(preemptions=0)
    records.readmit(record["per_request"][6], at_ms=90.0)
    records.readmit(record["per_request"][1], at_ms=25.0)
    made = extracted(tmp_path, record)
    found = [(one["request"], one["at_ms"], one["after_first_token"]) for one in made["readmissions"]]
    assert found == [("request_2", 25.0, False), ("request_7", 90.0, True)]


@pytest.mark.parametrize(("sglang", "order"), [(False, "source_first"), (True, "destination_first")])
def test_handoffs_and_their_order(tmp_path: Path, sglang: bool, order: str) -> None:
    record = records.disaggregated_record(sglang=sglang)
    record["per_request"][3]["source_released_ms"] = None
    made = extracted(tmp_path, record)
    assert made["handoffs"] == {"complete": 7, "partial": 1, "none": 0}
    assert made["handoff_order"][order] == 7


def test_stamps_in_no_order_are_named(tmp_path: Path) -> None:
    record = records.disaggregated_record()
    record["per_request"][2]["decode_admit_ms"] = 0.0
    assert extracted(tmp_path, record)["handoff_order"]["out_of_order"] == ["request_3"]


def test_pressure_of_the_revision_is_taken_as_it_is(tmp_path: Path) -> None:
    record = records.vllm_record()
    own = {
        "records": [{"at_ms": 1.0, "readmitted_at_ms": 2.0}],
        "vllm_preemptions_total": 1,
        "sglang_retractions_total": 0,
    }
    record["coverage"]["pressure"] = own
    assert extracted(tmp_path, record)["pressure"] == own


def test_a_planner_is_seen(tmp_path: Path) -> None:
    record = records.vllm_record()
    assert extracted(tmp_path, record)["planner"] == "null"
    assert extracted(tmp_path, record | {"planner": {}})["planner"] == "present"
    del record["planner"]
    assert extracted(tmp_path, record)["planner"] == "absent"


def test_it_runs_as_a_program(tmp_path: Path) -> None:
    path = records.write(records.vllm_record(), tmp_path / "canonical.jsonl")
    out = tmp_path / "out.json"
    command = [sys.executable, "-m", "aisimc_runtime.evidence.extract", str(path), str(out)]
    subprocess.run(command, check=True, timeout=60)
    assert orjson.loads(out.read_bytes()) == orjson.loads(orjson.dumps(extract(path)))
    assert [entry.name for entry in tmp_path.iterdir() if "partial" in entry.name] == []


def test_sameness_keeps_kinds_apart() -> None:
    assert same({"a": [1, 2.0]}, {"a": [1, 2.0]})
    for a, b in ((1, 1.0), (True, 1), (0.0, -0.0), ([1], [1, 2]), ({"a": 1}, {"b": 1}), (None, 0)):
        assert not same(a, b)


def test_expectations_may_be_partial_in_objects_only() -> None:
    assert contains({"a": 1, "b": 2}, {"a": 1})
    assert not contains([1, 2], [1])
    assert not contains({"a": 1}, {"a": 1.0})
    assert not contains({"a": 1}, {"b": None})
