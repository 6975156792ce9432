"""The plan: rows' configurations, arms, coverage, actions and their order, and what is read back."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from aisimc_compiler.api import compile_file, load_plan
from aisimc_compiler.plan.actions import STAGES, graph, order
from aisimc_compiler.plan.canonical import canonical_bytes, digest_of
from aisimc_compiler.plan.load import LoadedPlan
from aisimc_compiler.schemas.problems import problems
from tests.builders.campaigns import EXCEPTION, ON_CHECKOUTS, ON_EMBEDDED, ON_WHEELS, PERFORMANCE, changed, said

EXAMPLES = Path(__file__).resolve().parents[2] / "cases" / "examples"
Json = dict[str, Any]


def planned(text: str, folder: Path) -> Json:
    path = folder / "one.campaign"
    path.write_text(text, encoding="utf-8")
    result = compile_file(path)
    assert result.plan is not None, said(result.diagnostics)
    assert problems("plan", result.plan) == []
    return result.plan


@pytest.fixture(scope="module")
def nightly() -> Json:
    plan = compile_file(EXAMPLES / "nightly-conversation.campaign").plan
    assert plan is not None
    return plan


def test_an_aggregated_configuration(nightly: Json) -> None:
    spec = nightly["rows"]["vllm-aggregated"]["configuration"]["spec"]
    assert spec == {
        "version": 1,
        "topology": {"kind": "aggregated", "workers": {"initial_workers": 4, "startup_delay_ms": 0.0}},
        "engine": {
            "dp_size": 1,
            "tensor_parallel_size": 1,
            "rank": {
                "backend": "vllm",
                "num_gpu_blocks": 6337,
                "block_size": 64,
                "max_num_seqs": 16,
                "max_num_batched_tokens": 8192,
                "timing_model": {"type": "polynomial"},
            },
        },
        "adapters": {
            "placement": {"provider": "round_robin", "config": None},
            "scaling": {"provider": "none", "config": None},
        },
        "record_per_request": True,
        "requests": [],
    }


def test_a_disaggregated_configuration(nightly: Json) -> None:
    spec = nightly["rows"]["sglang-disaggregated-adp2-4"]["configuration"]["spec"]
    engine = spec["engine"]
    assert engine["rank"] == {"backend": "sglang", "timing_model": {"type": "polynomial"}}
    assert (engine["prefill"]["dp_size"], engine["decode"]["dp_size"]) == (2, 4)
    assert engine["prefill"]["rank"]["num_gpu_blocks"] == 6250
    assert engine["decode"]["rank"]["num_gpu_blocks"] == 1000
    for role in ("prefill", "decode"):
        rank = engine[role]["rank"]
        assert rank["kv_bytes_per_token"] == 262144
        assert rank["kv_transfer_bandwidth"] == 100.0
        assert rank["kv_transfer_timing_mode"] == "full_prompt"
    assert spec["topology"]["handoff_latency_ms"] == 0.0


def test_every_configuration_names_the_slice(nightly: Json) -> None:
    window = nightly["inputs"]["conversation"]["slice"]
    for row in nightly["rows"].values():
        configuration = row["configuration"]
        assert configuration["trace_file"] == "conversation.jsonl"
        assert (configuration["trace_sha256"], configuration["trace_rows"]) == (window["sha256"], window["rows"])
        assert configuration["trace_slice_start"] == window["start"]
        assert row["configuration_sha256"] == digest_of(canonical_bytes(configuration))
        assert row["configuration_text"] is None
        assert problems("configuration", configuration) == []


def test_engine_sections(tmp_path: Path) -> None:
    sglang = "max_num_seqs = 256 max_num_batched_tokens = 32_768 }"
    plan = planned(
        changed(
            ON_WHEELS,
            (sglang, sglang[:-1] + "chunked_prefill_size = 1_024 schedule_conservativeness = 0.5 max_model_len = 9 }"),
        )[0],
        tmp_path,
    )
    decode = plan["rows"]["sglang-disaggregated"]["configuration"]["spec"]["engine"]["decode"]["rank"]
    assert decode["sglang"] == {"chunked_prefill_size": 1024, "schedule_conservativeness": 0.5}
    assert decode["max_model_len"] == 9
    fixed = plan["rows"]["single"]["configuration"]["spec"]["engine"]["rank"]
    assert fixed["timing_model"] == {"type": "fixed", "prefill_ms": 10.0, "decode_ms": 2.5}
    assert fixed["trtllm"] == {"capacity_scheduler_policy": "guaranteed_no_evict"}


def test_roles_win_over_the_row() -> None:
    plan = compile_file(EXAMPLES / "everything-else.campaign").plan
    assert plan is not None
    engine = plan["rows"]["vllm-disaggregated"]["configuration"]["spec"]["engine"]
    prefill, decode = engine["prefill"]["rank"], engine["decode"]["rank"]
    assert (prefill["num_gpu_blocks"], decode["num_gpu_blocks"]) == (900, 1200)
    assert prefill["preemption_mode"] == decode["preemption_mode"] == "lifo"
    assert (prefill["timing_model"]["decode_ms"], decode["timing_model"]["decode_ms"]) == (1.0, 2.0)
    assert plan["rows"]["vllm-disaggregated"]["topology"]["transfer"]["latency_ms"] == 1.0
    assert plan["rows"]["barrier"]["configuration"]["spec"]["max_in_flight"] == 4
    assert plan["rows"]["barrier"]["configuration"]["spec"]["max_sim_time_ms"] == 60000.0


def test_rows_have_pressure_bounds_whether_they_say_so_or_not(tmp_path: Path) -> None:
    plan = planned(
        changed(ON_WHEELS, ("preemptions = 1..3 ", ""), ("retractions = 1..3", "retractions = 2..3"))[0], tmp_path
    )
    assert plan["rows"]["vllm-aggregated"]["evidence"]["preemptions"] == [1, 3]
    assert plan["rows"]["sglang-disaggregated"]["evidence"]["retractions"] == [2, 3]
    assert plan["rows"]["sglang-disaggregated"]["evidence"]["preemptions"] is None
    assert plan["rows"]["single"]["evidence"]["preemptions"] is None


@pytest.mark.parametrize(
    ("on", "baseline", "candidate"),
    [("baseline", (1, False), (2, True)), ("candidate", (2, True), (1, False)), ("both", (0, False), (0, False))],
)
def test_unsupported_arms(on: str, baseline: tuple[int, bool], candidate: tuple[int, bool], tmp_path: Path) -> None:
    record = f'unsupported vllm-aggregated {{ on = {on} reason = "so it is" }}\nexclude {{'
    plan = planned(changed(ON_WHEELS, ("exclude {", record))[0], tmp_path)
    arms = plan["rows"]["vllm-aggregated"]["arms"]
    assert (arms["baseline"]["repetitions"], arms["baseline"]["supported"]) == baseline
    assert (arms["candidate"]["repetitions"], arms["candidate"]["supported"]) == candidate
    ids = [entry["id"] for entry in plan["actions"] if entry["row"] == "vllm-aggregated"]
    assert len([id_ for id_ in ids if id_.startswith("replay/")]) == baseline[0] + candidate[0]
    assert ("determinism/vllm-aggregated/baseline" in ids) is (baseline[0] == 2)
    assert ("parity/vllm-aggregated" in ids) is (on != "both")
    entry = next(entry for entry in plan["coverage"] if entry["id"] == "vllm-aggregated")
    assert entry["status"] == ("covered" if on == "baseline" else "unsupported")
    assert entry["reason"] == "so it is"


def test_an_expected_refusal_is_run_once_and_covers_nothing() -> None:
    plan = compile_file(EXAMPLES / "everything.campaign").plan
    assert plan is not None
    row = plan["rows"]["trtllm-disaggregated"]
    assert row["matrix_id"] is None
    assert {arm["repetitions"] for arm in row["arms"].values()} == {1}
    assert row["expect"] == {}
    assert "determinism/trtllm-disaggregated/baseline" not in {entry["id"] for entry in plan["actions"]}


def test_coverage_lists_the_eight_and_then_the_others(tmp_path: Path) -> None:
    record = 'unsupported trtllm-aggregated-adp2 { on = both reason = "no" }\nexclude {'
    plan = planned(changed(ON_WHEELS, ("exclude {", record))[0], tmp_path)
    assert [entry["id"] for entry in plan["coverage"]][8:] == ["trtllm-aggregated-adp2"]
    assert {entry["status"] for entry in plan["coverage"]} == {"covered", "not-declared", "unsupported"}


@pytest.mark.parametrize("base", [ON_WHEELS + EXCEPTION + PERFORMANCE, ON_CHECKOUTS, ON_EMBEDDED])
def test_actions_are_in_an_order_that_keeps_every_need(base: str, tmp_path: Path) -> None:
    import networkx as nx

    plan = planned(base, tmp_path)
    made = graph(plan["actions"])
    assert nx.is_directed_acyclic_graph(made)
    ids = [entry["id"] for entry in plan["actions"]]
    assert len(ids) == len(set(ids)) == made.number_of_nodes()
    place = {id_: number for number, id_ in enumerate(ids)}
    assert all(place[need] < place[id_] for need, id_ in made.edges)
    stages = [STAGES.index(entry["stage"]) for entry in plan["actions"]]
    assert stages == sorted(stages)
    before = nx.ancestors(made, "barrier")
    assert before == {entry["id"] for entry in plan["actions"] if entry["stage"] in ("acquire", "build")}
    assert nx.descendants(made, "barrier") == set(ids) - before - {"barrier"}
    assert ids[-3:] == ["verdict", "report", "clean"]


def test_the_gate_is_one_chain_in_the_persisted_order(tmp_path: Path) -> None:
    plan = planned(ON_WHEELS + PERFORMANCE.replace("[vllm-aggregated]", "all"), tmp_path)
    assert plan["performance"]["rows"] == ["sglang-disaggregated", "vllm-aggregated"]
    steps = [entry for entry in plan["actions"] if entry["stage"] == "gate"]
    assert len(steps) == 2 * (10 + 120 + 1)
    for earlier, later in pairwise(steps):
        assert earlier["id"] in later["needs"]


def test_a_cycle_is_no_order() -> None:
    entry = {"stage": "judge", "kind": "parity", "row": "a", "parameters": {}}
    with pytest.raises(ValueError, match="does not come before"):
        order([{**entry, "id": "x", "needs": ["y"]}, {**entry, "id": "y", "needs": ["x"]}])


def test_a_plan_is_read_back(nightly: Json) -> None:
    data = canonical_bytes(nightly)
    loaded = load_plan(data)
    assert not isinstance(loaded, list), loaded
    assert loaded.plan == nightly and loaded.data == data and loaded.digest == digest_of(data)


def _edited(plan: Json, path: list[Any], value: Any) -> bytes:
    copied = json.loads(canonical_bytes(plan))
    place = copied
    for part in path[:-1]:
        place = place[part]
    place[path[-1]] = value
    return canonical_bytes(copied)


BROKEN: list[tuple[list[Any], Any, str]] = [
    (["schema"], "aisimc.plan/2", "takes only"),
    (["bogus"], 1, "no key"),
    (["determinism", "repetitions"], 3, "takes only"),
    (["exclusions"], ["/summary/wall_time_ms"], "takes only"),
    (["rows", "vllm-aggregated", "engine"], "vlm", "takes"),
    (["rows", "vllm-aggregated", "input"], "other", "there is no input"),
    (["rows", "vllm-aggregated", "configuration", "trace_rows"], 4999, "not the configuration's"),
    (["rows", "vllm-aggregated", "configuration_sha256"], "0" * 64, "not the configuration's"),
    (["actions", 5, "needs"], ["nowhere"], "no action"),
    (["actions", 0, "needs"], ["clean"], "order"),
    (["revisions", "baseline", "sha256"], "abc", "64 hex digits"),
]


@pytest.mark.parametrize(("path", "value", "sentence"), BROKEN)
def test_a_plan_that_was_tampered_with(path: list[Any], value: Any, sentence: str, nightly: Json) -> None:
    found = load_plan(_edited(nightly, path, value))
    assert isinstance(found, list)
    assert any(sentence in problem.message for problem in found), found


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b"null", b"\xff", b"[" * 100_000, b'{"schema": NaN}'])
def test_what_is_no_plan(data: bytes) -> None:
    assert isinstance(load_plan(data), list)


def test_a_plan_that_was_written_by_something_else(nightly: Json) -> None:
    found = load_plan(json.dumps(nightly, indent=1).encode())
    assert isinstance(found, list)
    assert "canonical" in found[0].message


def test_a_fragment_or_a_refused_file_has_no_plan(tmp_path: Path) -> None:
    for name in ("common/exclusions.campaign", "invalid/kv-router.campaign"):
        result = compile_file(EXAMPLES / name)
        assert result.plan is None and result.plan_bytes == b"" and not result.ok


def test_paths_in_an_import_are_the_campaigns(tmp_path: Path) -> None:
    (tmp_path / "arms").mkdir()
    start, end = ON_EMBEDDED.index("revision baseline"), ON_EMBEDDED.index("determinism {")
    (tmp_path / "arms" / "two.campaign").write_text(ON_EMBEDDED[start:end])
    plan = planned('import "arms/two.campaign"\n' + ON_EMBEDDED[:start] + ON_EMBEDDED[end:], tmp_path)
    assert plan["revisions"]["candidate"]["patch"]["file"] == "arms/patches/change.patch"


EDITS: dict[str, Callable[[Json], Any]] = {
    "a name that leads out of the runs": lambda plan: plan["campaign"].update(name="../../elsewhere"),
    "a row that leads out of the run": lambda plan: plan["rows"].update({"../x": plan["rows"].popitem()[1]}),
    "an input that leads out of the run": lambda plan: plan["inputs"].update({"../x": plan["inputs"].popitem()[1]}),
    "another threshold": lambda plan: plan["performance"].update(threshold=2.0),
    "another threshold in the gate alone": lambda plan: next(
        entry for entry in plan["actions"] if entry["kind"] == "gate"
    )["parameters"].update(threshold=2.0),
    "a judgement less": lambda plan: plan["actions"].remove(
        next(entry for entry in plan["actions"] if entry["kind"] == "evidence")
    ),
    "an action in another stage": lambda plan: plan["actions"][0].update(stage="report"),
    "a row covered that is not": lambda plan: plan["coverage"][1].update(status="covered", row="vllm-aggregated"),
    "a gap left out": lambda plan: plan["coverage"].pop(),
}


@pytest.mark.parametrize("what", EDITS)
def test_an_edited_plan_is_refused(what: str, tmp_path: Path) -> None:
    plan = planned(ON_WHEELS + PERFORMANCE, tmp_path)
    assert isinstance(load_plan(canonical_bytes(plan)), LoadedPlan)
    EDITS[what](plan)
    found = load_plan(canonical_bytes(plan))
    assert isinstance(found, list)
    assert found
    assert all(str(problem) for problem in found)
