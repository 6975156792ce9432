"""The published matrix: what both arms would be given is what AI Simulate published."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from aisimc_compiler.api import compile_file

ROOT = Path(__file__).resolve().parents[2]
Json = dict[str, Any]


@pytest.fixture(scope="module")
def plan() -> Json:
    compiled = compile_file(ROOT / "specs" / "published-5000.campaign")
    assert compiled.plan is not None
    return compiled.plan


@pytest.fixture(scope="module")
def golden() -> Json:
    loaded: Json = YAML(typ="safe").load((ROOT / "golden" / "published-5000.yaml").read_text("utf-8"))
    return loaded


def rank(engine: str, capacity: Json, transfer: Json | None) -> Json:
    """A rank as the published configurations hold it."""
    found: Json = {"backend": engine, **capacity, "timing_model": {"type": "polynomial"}}
    if engine == "trtllm":
        found["trtllm"] = {"capacity_scheduler_policy": "guaranteed_no_evict"}
    if transfer is not None:
        found["kv_bytes_per_token"] = transfer["bytes_per_token"]
        found["kv_transfer_bandwidth"] = transfer["bandwidth_gb_s"]
        found["kv_transfer_timing_mode"] = transfer["mode"]
    return found


def published(point: Json) -> tuple[Json, Json]:
    """Topology and engine of a row, from its published parameters alone."""
    shape, engine, transfer = point["topology"], point["engine"], point.get("transfer")
    pool = {"initial_workers": None, "startup_delay_ms": 0.0}
    if shape["kind"] == "aggregated":
        topology = {"kind": "aggregated", "workers": {**pool, "initial_workers": shape["workers"]}}
        return topology, {"dp_size": 1, "tensor_parallel_size": 1, "rank": rank(engine, point["capacity"], None)}
    topology = {"kind": "disaggregated", "handoff_latency_ms": transfer["handoff_latency_ms"]}
    described: Json = {
        "dp_size": 1,
        "tensor_parallel_size": 1,
        "rank": {"backend": engine, "timing_model": {"type": "polynomial"}},
    }
    for role in ("prefill", "decode"):
        topology[role] = {**pool, "initial_workers": shape[f"{role}_workers"]}
        capacity = point.get(f"capacity_{role}") or point["capacity_per_role"]
        described[role] = {
            "dp_size": shape.get(f"{role}_dp", 1),
            "tensor_parallel_size": 1,
            "rank": rank(engine, capacity, transfer),
        }
    return topology, described


def test_the_eight_rows_are_all_there(plan: Json, golden: Json) -> None:
    assert sorted(plan["rows"]) == sorted(golden["rows"])
    assert len(plan["rows"]) == 8


def test_each_configuration_has_the_published_parameters(plan: Json, golden: Json) -> None:
    for name, point in golden["rows"].items():
        configuration = plan["rows"][name]["configuration"]
        topology, engine = published(point)
        spec = configuration["spec"]
        # As bytes, so that 100 and 100.0, or a key more, count as different.
        assert json.dumps(spec["topology"], sort_keys=True) == json.dumps(topology, sort_keys=True), name
        assert json.dumps(spec["engine"], sort_keys=True) == json.dumps(engine, sort_keys=True), name
        assert spec["adapters"]["placement"]["provider"] == "round_robin"
        assert spec["adapters"]["scaling"]["provider"] == "none"
        assert spec["requests"] == []


def test_each_configuration_reads_the_published_window(plan: Json, golden: Json) -> None:
    entry, window = golden["input"], golden["input"]["slice"]
    for row in plan["rows"].values():
        configuration = row["configuration"]
        assert configuration["trace_upstream_repository"] == entry["upstream"]
        assert configuration["trace_upstream_commit"] == entry["commit"]
        assert configuration["trace_upstream_path"] == entry["path"]
        assert configuration["trace_full_sha256"] == golden["qualified"]["input_sha256"]
        assert configuration["trace_sha256"] == golden["qualified"]["slice_sha256"]
        assert (configuration["trace_slice_start"], configuration["trace_rows"]) == (window["start"], window["rows"])
        assert configuration["trace_full_rows"] == entry["rows"]
        assert configuration["trace_block_size"] == entry["block_size"]
        assert configuration["arrival_speedup_ratio"] == entry["arrival_speedup_ratio"]


def test_the_expectations_of_each_row_are_the_published_ones(plan: Json, golden: Json) -> None:
    for name, point in golden["rows"].items():
        assert plan["rows"][name]["expect"] == point["expect"], name


def test_the_rows_that_the_baseline_predates_say_so(plan: Json) -> None:
    assert {name: entry["on"] for name, entry in plan["unsupported"].items()} == {
        "vllm-disaggregated-adp2-4": "baseline",
        "sglang-disaggregated-adp2-4": "baseline",
        "trtllm-disaggregated-adp2-4": "baseline",
    }


def test_the_golden_points_are_those_of_the_facts(shared: Path, golden: Json) -> None:
    facts: Json = YAML(typ="safe").load((shared / "facts" / "published-golden-points.yaml").read_text("utf-8"))
    every = {key: value for key, value in facts["every_row"].items() if key != "timing"}
    assert sorted(facts["rows"]) == sorted(golden["rows"])
    for name, fact in facts["rows"].items():
        point = golden["rows"][name]
        expected = {**every, **fact["expect"]}
        assert point["observations"]["canonical_sha256"] == expected.pop("canonical_sha256")
        assert point["expect"] == expected, name
        for key in ("topology", "capacity", "capacity_per_role", "capacity_prefill", "capacity_decode", "transfer"):
            assert point.get(key) == fact.get(key), f"{name}: {key}"
        assert point.get("config_sha256") == fact.get("config_sha256")
