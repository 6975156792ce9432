"""The driver's parts: configuration, record, counters, correction; each on values small enough to see through."""

from __future__ import annotations

import hashlib
import json
import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from aisimc_runtime.engines.wheel import DRIVER, counts_chunks
from tests.unit.runtime.engines.drivers import load

lossless = load("lossless")
config = load("config")
canonical = load("canonical")
counters = load("counters")
correction = load("stable_request_identity")
replay = load("replay")

TRACE = b'{"timestamp": 0, "input_length": 4, "output_length": 2, "hash_ids": [1]}\n'
CONFIG: dict[str, Any] = {
    "row_name": "r",
    "trace_file": "t.jsonl",
    "trace_sha256": hashlib.sha256(TRACE).hexdigest(),
    "trace_rows": 1,
    "trace_block_size": 4,
    "arrival_speedup_ratio": 2.0,
    "trace_upstream_repository": "u",
    "trace_upstream_commit": "c",
    "trace_upstream_path": "p",
    "trace_full_sha256": "f" * 64,
    "trace_full_rows": 1,
    "trace_slice_start": 0,
    "spec": {"topology": {"kind": "aggregated"}, "engine": {"rank": {"backend": "vllm"}}, "requests": []},
}


def load_config(tmp_path: Path, **changes: Any) -> dict[str, Any]:
    path = tmp_path / "configuration.json"
    path.write_text(json.dumps({key: value for key, value in {**CONFIG, **changes}.items() if value is not ...}))
    loaded: dict[str, Any] = config.load(str(path))[0]
    return loaded


class TestConfiguration:
    """AI Simulate's own keys, unknown ones refused by name."""

    @pytest.mark.parametrize(
        ("changes", "words"),
        [
            ({"colour": 1}, "unknown configuration key 'colour'"),
            ({"source_revision": "a" * 40}, "source_revision is embedded"),
            ({"mode": "timing"}, "does not expose replay_execution_ms"),
            ({"mode": "other"}, "unknown mode"),
            ({"trace_rows": ...}, "lacks trace_rows"),
            ({"trace_rows": 1.5}, "trace_rows is not int"),
            ({"iterations": 2}, "iterations is not 1"),
            ({"capture_canonical": False}, "nothing to compare"),
            ({"row_name": " "}, "row_name is blank"),
            ({"spec": {"requests": [{}]}}, "spec.requests is not empty"),
            ({"spec": {"adapters": {"placement": {"provider": "kv"}}}}, "adapters.placement is not round_robin"),
            ({"spec": {"adapters": {"scaling": {"provider": "planner"}}}}, "adapters.scaling is not none"),
        ],
    )
    def test_what_is_refused(self, tmp_path: Path, changes: dict[str, Any], words: str) -> None:
        with pytest.raises(ValueError, match=words):
            load_config(tmp_path, **changes)

    def test_the_trace_stands_beside_its_configuration(self, tmp_path: Path) -> None:
        loaded = load_config(tmp_path)
        assert config.trace_path(loaded, str(tmp_path / "configuration.json")) == str(tmp_path / "t.jsonl")
        absolute = load_config(tmp_path, trace_file="/x/t.jsonl")
        assert config.trace_path(absolute, str(tmp_path / "configuration.json")) == "/x/t.jsonl"
        with pytest.raises(ValueError, match="neither a bare name"):
            config.trace_path(load_config(tmp_path, trace_file="../t.jsonl"), str(tmp_path / "configuration.json"))

    def test_a_changed_trace_is_found(self, tmp_path: Path) -> None:
        (tmp_path / "t.jsonl").write_bytes(TRACE)
        config.check_trace(load_config(tmp_path), str(tmp_path / "t.jsonl"))
        (tmp_path / "t.jsonl").write_bytes(TRACE.replace(b"4", b"5"))
        with pytest.raises(ValueError, match="not to trace_sha256"):
            config.check_trace(load_config(tmp_path), str(tmp_path / "t.jsonl"))

    def test_concurrency_goes_where_a_trace_honours_it(self, tmp_path: Path) -> None:
        spec = CONFIG["spec"] | {"max_in_flight": 8}
        sent = json.loads(replay.payload(load_config(tmp_path, spec=spec), "/t"))
        assert sent["traffic"]["replay_concurrency"] == 8
        assert sent["determinism"] == "canonical_v1"
        assert "replay_concurrency" not in json.loads(replay.payload(load_config(tmp_path), "/t"))["traffic"]


def record(number: int, **changes: Any) -> dict[str, Any]:
    return {
        "session_id": f"request_{number}",
        "turn_index": 0,
        "uuid": f"u{number}",
        "ttft_ms": 1.0 / number,
        "ttst_ms": None,
        "e2e_latency_ms": 3.0,
        "itl_ms": 0.5,
        "requested_output_length": 2,
        "output_length": 2,
        "reused_input_tokens": 0,
        "terminal_status": "completed",
        "prefill_worker_idx": None,
        "decode_worker_idx": number % 2,
        "readmission_count": 0,
        "routing_history": [{"pool": "agg", "outcome": "immediate"}],
        "admission_history": [{"is_readmission": False}],
        **changes,
    }


def report(*records: dict[str, Any]) -> dict[str, Any]:
    return {
        "completed_requests": len(records),
        "num_requests": len(records),
        "total_input_tokens": 4,
        "total_output_tokens": 4,
        "prefix_cache_reused_ratio": 0.0,
        "duration_ms": 12.5,
        "wall_time_ms": 3.25,
        "processed_tokens_per_s": 1.0,
        "processed_output_tokens_per_s": 1.0,
        "mean_ttft_ms": 0.0,
        "std_ttft_ms": 0.0,
        "mean_ttst_ms": 0.0,
        "per_request": list(records),
    }


class TestRecord:
    """Five keys, sorted at every level, records in the report's order, wall-clock figures left out."""

    def line(self, tmp_path: Path, text: str) -> bytes:
        made: bytes = canonical.line(lossless.Plain(text), load_config(tmp_path))
        return made

    def test_its_shape(self, tmp_path: Path) -> None:
        text = json.dumps(report(record(2), record(1)))
        line = self.line(tmp_path, text)
        assert line.endswith(b"}\n")
        parsed = json.loads(line)
        assert list(parsed) == ["coverage", "metadata", "per_request", "planner", "summary"]
        assert parsed["planner"] is None
        assert [entry["session_id"] for entry in parsed["per_request"]] == ["request_2", "request_1"]
        assert not {"wall_time_ms", "processed_tokens_per_s", "processed_output_tokens_per_s", "per_request"} & set(
            parsed["summary"]
        )
        assert json.dumps(parsed, sort_keys=True, separators=(",", ":")).encode() + b"\n" == line
        assert parsed["metadata"]["workload"]["slice"] == {"rows": 1, "start_zero_based": 0}
        assert parsed["metadata"]["schema_version"] == "dynamo.offline-replay.v1"
        assert str(tmp_path) not in line.decode()

    @pytest.mark.parametrize(("a", "b"), [("1", "1.0"), ("-0.0", "0.0"), ("0.1", "0.10000000000000002")])
    def test_the_kind_and_last_bit_of_a_number_show(self, tmp_path: Path, a: str, b: str) -> None:
        text = json.dumps(report(record(1))).replace("12.5", "%s")
        assert self.line(tmp_path, text % a) != self.line(tmp_path, text % b)

    def test_a_key_more_shows(self, tmp_path: Path) -> None:
        assert self.line(tmp_path, json.dumps(report(record(1)))) != self.line(
            tmp_path, json.dumps(report(record(1, extra=None)))
        )


class TestCounters:
    """The counters of the process contract, pressure derived from readmissions."""

    def test_pressure_of_each_engine(self) -> None:
        put_out = record(
            1, readmission_count=1, admission_history=[{"is_readmission": False}, {"is_readmission": True}]
        )
        vllm = counters.count(report(put_out, record(2)), "vllm", False)
        assert (vllm["vllm_preemptions"], vllm["sglang_retractions"], vllm["pressure_records"]) == (1, 0, 1)
        assert vllm["all_pressure_records_readmitted"] is True
        sglang = counters.count(report(put_out, record(2)), "sglang", False)
        assert (sglang["vllm_preemptions"], sglang["sglang_retractions"]) == (0, 1)
        assert "sglang_retractions" in counters.derived(sglang)
        assert "completed_requests" not in counters.derived(sglang)

    def test_chunks_counted_as_readmissions_are_no_evidence(self) -> None:
        found = counters.count(report(record(1, readmission_count=7)), "sglang", True)
        assert found["sglang_retractions"] is None
        assert found["pressure_records"] is None
        assert found["all_pressure_records_readmitted"] is None
        assert found["readmissions"] == 7
        assert counters.count(report(record(1)), "vllm", True)["vllm_preemptions"] == 0

    @pytest.mark.parametrize(
        ("version", "chunks"),
        [
            ("0.1.0.dev2", True),
            ("0.12.0.dev1", True),
            ("0.12.0.dev2", True),
            ("0.12.0.dev202609170000000044", False),
            ("0.13.0.dev202610270000000085", False),
        ],
    )
    def test_which_builds_count_chunks(self, version: str, chunks: bool) -> None:
        assert counts_chunks(version) is chunks

    def test_outputs_workers_and_handoffs(self) -> None:
        stamps = dict.fromkeys(counters.HANDOFF, 1.0)
        partly = dict.fromkeys(counters.HANDOFF, 1.0) | {"source_released_ms": None}
        found = counters.count(
            report(record(1, output_length=1, **stamps), record(2, terminal_status="rejected", **partly)), "vllm", False
        )
        assert found["requests_with_short_output"] == 1
        assert found["all_requests_full_output"] is False
        assert found["handoffs_complete"] == 1
        assert found["terminal_counts"] == {"completed": 1, "rejected": 1}
        assert found["decode_workers"] == [0, 1]
        assert found["prefill_workers"] == []
        assert found["all_pressure_records_readmitted"] is False

    def test_expectations_are_compared_as_a_subset_by_text(self) -> None:
        found = {"a": {"b": 1, "c": 2}, "d": lossless.Number("1.0")}
        assert list(counters.differences({"a": {"b": 1}}, found)) == []
        assert list(counters.differences({"d": lossless.Number("1")}, found)) == ["expected.d is 1, found 1.0"]
        assert list(counters.differences({"e": 1}, found)) == ["expected.e is missing"]


class TestCorrection:
    """`stable_request_identity`: authored order, names for UUIDs, exact sums."""

    def corrected(self, *records: dict[str, Any]) -> Any:
        reader = lossless.Plain(json.dumps(report(*records)))
        correction.correct(reader)
        return json.loads(reader.bytes(reader.document))

    def test_two_orders_become_one(self) -> None:
        several = [record(number) for number in (3, 11, 1, 2)]
        again = [record(number, uuid=f"other{number}") for number in (11, 2, 3, 1)]
        assert self.corrected(*several) == self.corrected(*again)
        names = [entry["uuid"] for entry in self.corrected(*several)["per_request"]]
        assert names == ["request_1#0", "request_2#0", "request_3#0", "request_11#0"]

    def test_means_and_deviations_are_exact(self) -> None:
        found = self.corrected(*[record(number) for number in range(1, 50)])
        values = [1.0 / number for number in range(1, 50)]
        mean = math.fsum(values) / 49
        assert found["mean_ttft_ms"] == mean
        assert found["std_ttft_ms"] == math.sqrt(math.fsum((v - mean) ** 2 for v in values) / 49)
        assert found["mean_ttst_ms"] == 0.0  # no value at all: stays as reported

    def test_a_session_of_another_name_is_refused(self) -> None:
        with pytest.raises(ValueError, match="request_N"):
            self.corrected(record(1, session_id=None))


class TestProgram:
    """The driver as a process: one line and a non-zero status, no file under a final name."""

    def run(self, *argv: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-B", "-I", "-S", str(DRIVER / "driver.py"), *argv], capture_output=True, text=True
        )

    @pytest.mark.parametrize("argv", [(), ("--nope",), ("--runtime",), ("--runtime", "/x", "only-one")])
    def test_a_wrong_command_line(self, argv: tuple[str, ...]) -> None:
        done = self.run(*argv)
        assert done.returncode == 1
        assert len(done.stderr.splitlines()) == 1

    def test_a_runtime_that_is_none(self, tmp_path: Path) -> None:
        (tmp_path / "t.jsonl").write_bytes(TRACE)
        (tmp_path / "configuration.json").write_text(json.dumps(CONFIG))
        (tmp_path / "not.so").write_bytes(b"not an ELF file")
        out = tmp_path / "out"
        done = self.run("--runtime", str(tmp_path / "not.so"), str(tmp_path / "configuration.json"), str(out))
        assert done.returncode == 1
        assert "cannot be loaded" in done.stderr
        assert list(out.iterdir()) == []

    def test_an_output_folder_that_is_not_empty(self, tmp_path: Path) -> None:
        (tmp_path / "out").mkdir()
        (tmp_path / "out" / "mine").write_text("kept")
        done = self.run("--runtime", "/x", str(tmp_path / "c.json"), str(tmp_path / "out"))
        assert done.returncode == 1
        assert "is not empty" in done.stderr
        assert (tmp_path / "out" / "mine").read_text() == "kept"
