"""Frozen configurations and golden files: taken as they are, after a strict look at every key and value."""

from __future__ import annotations

import copy
import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from aisimc_compiler.api import compile_file
from aisimc_compiler.model import closed
from aisimc_compiler.schemas.problems import schema
from tests.builders.campaigns import ON_WHEELS, assert_refused, changed, check, said

SLICE = "c2157405477e02aeaaa01e5fcc9794bd9ac146f64643a03aef067853471356b0"
FULL = "b8cbb061a85206d729d91cdc2981f43c9e0d99209dce588d3af5f7934408b9df"
CONFIGURATION: dict[str, Any] = {
    "row_name": "taken-over",
    "trace_file": "conversation.jsonl",
    "trace_sha256": SLICE,
    "trace_rows": 5000,
    "trace_block_size": 512,
    "arrival_speedup_ratio": 4.0,
    "trace_upstream_repository": "https://github.com/kvcache-ai/Mooncake",
    "trace_upstream_commit": "3cca71daccf2a7afb8fe3f0295358f70e3a69fdb",
    "trace_upstream_path": "FAST25-release/traces/conversation_trace.jsonl",
    "trace_full_sha256": FULL,
    "trace_full_rows": 12031,
    "trace_slice_start": 0,
    "iterations": 1,
    "capture_canonical": True,
    "write_full_report": False,
    "metadata": {},
    "expected": {"completed_requests": 5000},
    "spec": {
        "version": 1,
        "topology": {
            "kind": "disaggregated",
            "prefill": {"initial_workers": 2, "startup_delay_ms": 0.0},
            "decode": {"initial_workers": 2, "startup_delay_ms": 0.0},
            "handoff_latency_ms": 0.0,
        },
        "engine": {
            "rank": {"backend": "vllm", "timing_model": {"type": "polynomial"}},
            "prefill": {"dp_size": 2, "rank": {"backend": "vllm", "num_gpu_blocks": 4500, "block_size": 64}},
            "decode": {"dp_size": 4, "rank": {"backend": "vllm", "num_gpu_blocks": 6500, "block_size": 64}},
        },
        "adapters": {
            "placement": {"provider": "round_robin", "config": None},
            "scaling": {"provider": "none", "config": None},
        },
        "requests": [],
    },
}
ROW = """row taken-over {{
  input  = conversation
  frozen = {file}
  sha256 = "{digest}"
}}
exclude {{"""


def _frozen(
    document: Any, mark: str = '«"configs/row.json"»'
) -> tuple[str, tuple[int, int] | None, dict[str, str | bytes]]:
    data = document if isinstance(document, bytes) else json.dumps(document, indent=1).encode()
    row = ROW.format(file=mark, digest=hashlib.sha256(data).hexdigest())
    source, span = changed(ON_WHEELS, ("exclude {", row))
    return source, span, {"configs/row.json": data}


def _set(path: str, value: Any) -> dict[str, Any]:
    document = copy.deepcopy(CONFIGURATION)
    place: Any = document
    *parts, last = path.split(".")
    for part in parts:
        place = place[part]
    if value is KeyError:
        del place[last]
    else:
        place[last] = value
    return document


def test_a_frozen_configuration_is_taken_byte_for_byte(tmp_path: Path) -> None:
    source, _, files = _frozen(CONFIGURATION, '"configs/row.json"')
    assert check(source, tmp_path, files).ok
    plan = compile_file(tmp_path / "one.campaign").plan
    assert plan is not None
    row = plan["rows"]["taken-over"]
    data = files["configs/row.json"]
    assert isinstance(data, bytes)
    assert row["configuration_text"] == data.decode()
    assert row["configuration_sha256"] == hashlib.sha256(data).hexdigest()
    assert row["engine"] == "vllm"
    assert row["topology"]["decode"] == {"workers": 2, "dp": 4, "tp": 1}
    assert row["expect"] == {"completed_requests": 5000}
    assert row["evidence"]["preemptions"] == [1, 3]


REFUSED = [
    ("row.frozen", "bogus", 1, "bogus"),
    ("row.frozen", "spec.bogus", 1, "spec.bogus"),
    ("row.engine", "spec.engine.prefill.rank.num_gpu_block", 1, "num_gpu_block"),
    ("row.frozen", "spec.topology.decode.workers", 2, "spec.topology.decode.workers"),
    ("row.frozen", "spec.topology.kind", "hybrid", "spec.topology"),
    ("row.capacity", "spec.engine.prefill.rank.num_gpu_blocks", 0, "num_gpu_blocks"),
    ("row.frozen", "spec.engine.prefill.rank.num_gpu_blocks", "4500", "num_gpu_blocks"),
    ("row.engine", "spec.engine.rank.backend", "vlm", "spec.engine.rank.backend"),
    ("row.frozen", "spec.requests", [{}], "spec.requests"),
    ("row.frozen", "spec.version", 2, "spec.version"),
    ("row.frozen", "spec.record_per_request", False, "record_per_request"),
    ("row.frozen", "trace_rows", KeyError, "trace_rows"),
    ("row.frozen", "trace_rows", 4999, "trace_rows"),
    ("row.frozen", "trace_sha256", "a" * 64, "trace_sha256"),
    ("row.frozen", "trace_sha256", "abc", "trace_sha256"),
    ("row.frozen", "trace_slice_start", 1, "trace_slice_start"),
    ("row.frozen", "trace_block_size", 64, "trace_block_size"),
    ("row.frozen", "trace_full_rows", 5000, "trace_full_rows"),
    ("row.frozen", "trace_upstream_commit", "a" * 40, "trace_upstream_commit"),
    ("row.frozen", "trace_file", "traces/conversation.jsonl", "trace_file"),
    ("row.frozen", "write_full_report", True, "write_full_report"),
    ("row.frozen", "capture_canonical", False, "capture_canonical"),
    ("row.frozen", "mode", "timing", "mode"),
    ("pin.embedded", "source_revision", "fb7b0d56", "source_revision"),
    ("row.admission", "iterations", 2, "iterations"),
    ("row.admission", "spec.max_in_flight", 8, "max_in_flight"),
    ("row.composition", "spec.adapters.placement.provider", "kv_router", "spec.adapters.placement"),
    ("row.composition", "spec.adapters.scaling.provider", "planner", "spec.adapters.scaling"),
    ("row.observable", "spec.topology.prefill.initial_workers", 1, "spec.topology"),
    ("row.transfer", "spec.engine.decode.rank.kv_transfer_bandwidth", 100.0, "spec.engine"),
    ("row.engine", "spec.engine.decode.rank.backend", "sglang", "spec.engine"),
]


@pytest.mark.parametrize(("rule", "path", "value", "named"), REFUSED)
def test_what_a_frozen_configuration_may_not_hold(rule: str, path: str, value: Any, named: str, tmp_path: Path) -> None:
    document = _set(path, value)
    if path == "spec.topology.prefill.initial_workers":
        document["spec"]["engine"]["prefill"]["dp_size"] = 1
    source, span, files = _frozen(document)
    found = assert_refused(check(source, tmp_path, files), rule, span)
    assert named in found.message


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b"\xff\xfe",
        b'{"row_name": "a", "row_name": "b"}',
        b'{"iterations": NaN}',
        b"[" * 100_000,
        b'{"spec": ' * 3000,
    ],
)
def test_a_file_that_is_no_configuration(data: bytes, tmp_path: Path) -> None:
    source, span, files = _frozen(data)
    assert_refused(check(source, tmp_path, files), "row.frozen", span)


FROZEN_IN_SPEC = [
    ('frozen = "configs/row.json"', 'frozen = «"configs/absent.json"»'),
    ('frozen = "configs/row.json"', 'frozen = «"../row.json"»'),
    ('frozen = "configs/row.json"', 'frozen = «"/row.json"»'),
    ('frozen = "configs/row.json"', 'frozen = «""»'),
    ('frozen = "configs/row.json"', 'frozen = "configs/row.json"\n  «engine» = vllm'),
    ('frozen = "configs/row.json"', 'frozen = "configs/row.json"\n  «timing» polynomial'),
    ('frozen = "configs/row.json"', 'frozen = "configs/row.json"\n  «arrival_speedup_ratio» = 4.0'),
    ('frozen = "configs/row.json"', 'frozen = "configs/row.json"\n  «capacity» { num_gpu_blocks = 5 }'),
]


@pytest.mark.parametrize(("old", "new"), FROZEN_IN_SPEC)
def test_what_stands_beside_a_frozen_configuration(old: str, new: str, tmp_path: Path) -> None:
    source, _, files = _frozen(CONFIGURATION, '"configs/row.json"')
    source, span = changed(source, (old, new))
    assert_refused(check(source, tmp_path, files), "row.frozen", span)


def test_the_digest_of_a_frozen_configuration(tmp_path: Path) -> None:
    source, _, files = _frozen(CONFIGURATION, '"configs/row.json"')
    data = files["configs/row.json"]
    assert isinstance(data, bytes)
    digest = hashlib.sha256(data).hexdigest()
    assert check(source.replace(digest, digest.upper()), tmp_path, files).ok
    text, span = changed(source, (f'"{digest}"', f'«"{"0" * 64}"»'))
    found = assert_refused(check(text, tmp_path, files), "row.frozen", span)
    assert digest in found.message
    text, span = changed(source, ('"configs/row.json"', '«"configs/row.json"»'), (f'  sha256 = "{digest}"\n', ""))
    assert_refused(check(text, tmp_path, files), "row.frozen", span)
    text, span = changed(source, (f'"{digest}"', '«"abc"»'))
    assert_refused(check(text, tmp_path, files), "row.frozen", span)


def test_a_frozen_row_carries_a_matrix_id_only_with_its_shape(tmp_path: Path) -> None:
    source, _, files = _frozen(CONFIGURATION, '"configs/row.json"')
    text, span = changed(source, ("row taken-over {", "row «vllm-disaggregated» {"))
    assert_refused(check(text, tmp_path, files), "row.no-substitute", span)
    assert check(source.replace("row taken-over {", "row vllm-disaggregated-adp2-4 {"), tmp_path, files).ok


GOLDEN = f"""# one golden point
schema: 1
qualified:
  revision: fb7b0d56de035d66ca9fcae7ff424055dcbf37cd
  input_sha256: {FULL}
  on: 2026-11-29
rows:
  vllm-aggregated:
    expect: {{completed_requests: 5000, decode_workers: [0, 1, 2, 3], virtual_duration_ms: 1000}}
    note: twice by hand
"""
VLLM = "  evidence { preemptions = 1..3 workers = all }"
NAMED = VLLM + '\n  golden = "golden/point.yaml"'


def test_a_golden_point_is_merged(tmp_path: Path) -> None:
    source, _ = changed(ON_WHEELS, (VLLM, NAMED + "\n  expect { handoffs_complete = 0 }"))
    assert check(source, tmp_path, {"golden/point.yaml": GOLDEN}).ok
    plan = compile_file(tmp_path / "one.campaign").plan
    assert plan is not None
    row = plan["rows"]["vllm-aggregated"]
    assert row["expect"] == {
        "completed_requests": 5000,
        "decode_workers": [0, 1, 2, 3],
        "virtual_duration_ms": 1000.0,
        "handoffs_complete": 0,
    }
    assert isinstance(row["expect"]["virtual_duration_ms"], float)
    assert row["golden"]["qualified"]["input_sha256"] == FULL
    assert row["golden"]["sha256"] == hashlib.sha256(GOLDEN.encode()).hexdigest()


YAML = [
    ("schema: 1", "schema: «2»", "takes only"),
    ("  on: 2026-11-29", "  «un»: 2026-11-29", "no key `un`"),
    ("completed_requests: 5000", "«completed_request»: 5000", "did you mean `completed_requests`"),
    ("completed_requests: 5000", "completed_requests: «many»", "an integer"),
    ("completed_requests: 5000", "completed_requests: «-1»", "0 or more"),
    ("completed_requests: 5000", "completed_requests: «5000.5»", "an integer"),
    ("completed_requests: 5000", "completed_requests: 1, «completed_requests»: 5000", "given twice"),
    ("[0, 1, 2, 3]", "«three»", "a list"),
    ("schema: 1\n", "", "`schema` is missing"),
    ("rows:\n", "rowz:\n", "rowz"),
    ("    note: twice by hand", "    note: *anchor", "undefined alias"),
    ("    note: twice by hand", "    note: «!!python/name:os.system x»", "tag"),
    ("[0, 1, 2, 3]", "[0, 1", "no YAML"),
    ("  on: 2026-11-29", "\ton: 2026-11-29", "no YAML"),
]


@pytest.mark.parametrize(("old", "new", "sentence"), YAML)
def test_a_golden_file_is_read_strictly(old: str, new: str, sentence: str, tmp_path: Path) -> None:
    text, span = changed(GOLDEN, (old, new))
    source, _ = changed(ON_WHEELS, (VLLM, NAMED))
    result = check(source, tmp_path, {"golden/point.yaml": text})
    assert {d.rule for d in result.diagnostics} == {"run.golden"}, said(result.diagnostics)
    found = result.diagnostics[-1]
    assert any(sentence in d.message for d in result.diagnostics), said(result.diagnostics)
    assert found.span.source.name.endswith("golden/point.yaml")
    if span is not None:
        starts = [(d.span.start, d.span.end) for d in result.diagnostics]
        assert any(start == span[0] for start, _ in starts), (starts, span, said(result.diagnostics))
    assert any(label.span.source.name.endswith("one.campaign") for label in found.secondary)


@pytest.mark.parametrize("data", [b"", b"\xff", b"- a", b"5", b"a: &x [*x]", b"[" * 5000, b"? [a]\n: b"])
def test_a_file_that_is_no_golden_file(data: bytes, tmp_path: Path) -> None:
    source, _ = changed(ON_WHEELS, (VLLM, NAMED))
    result = check(source, tmp_path, {"golden/point.yaml": data})
    assert {d.rule for d in result.diagnostics} == {"run.golden"}, said(result.diagnostics)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("  vllm-aggregated:", "  vllm-aggregate:"),
        (f"input_sha256: {FULL}", f"input_sha256: {'a' * 64}"),
    ],
)
def test_a_golden_point_of_something_else(old: str, new: str, tmp_path: Path) -> None:
    source, span = changed(ON_WHEELS, (VLLM, NAMED.replace('"golden/point.yaml"', '«"golden/point.yaml"»')))
    result = check(source, tmp_path, {"golden/point.yaml": changed(GOLDEN, (old, new))[0]})
    assert_refused(result, "run.golden", span)


def test_a_row_may_not_contradict_its_golden_point(tmp_path: Path) -> None:
    source, span = changed(ON_WHEELS, (VLLM, NAMED + "\n  expect { completed_requests = «4_999» }"))
    found = assert_refused(check(source, tmp_path, {"golden/point.yaml": GOLDEN}), "run.golden", span)
    assert found.secondary[0].span.source.name.endswith("golden/point.yaml")


def test_a_digest_of_digits_only_is_text(tmp_path: Path) -> None:
    digits = "4" * 64
    source, _ = changed(ON_WHEELS.replace(FULL, digits), (VLLM, NAMED))
    result = check(source, tmp_path, {"golden/point.yaml": GOLDEN.replace(FULL, digits)})
    assert result.ok, said(result.diagnostics)


def test_the_schemas_know_the_counters_of_the_language() -> None:
    for name in ("golden", "plan"):
        assert set(schema(name)["$defs"]["expect"]["properties"]) == set(closed.COUNTERS)
