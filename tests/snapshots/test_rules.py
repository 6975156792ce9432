"""What each compile-time rule says about one mistake, as golden text and golden JSON."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest
from syrupy.assertion import SnapshotAssertion
from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode

from aisimc_compiler.api import check_file
from aisimc_compiler.diagnostics.render import json as as_json
from aisimc_compiler.diagnostics.render import text as as_text
from aisimc_compiler.rules import RULES
from tests.builders.campaigns import EXCEPTION, ON_CHECKOUTS, ON_EMBEDDED, ON_WHEELS, PERFORMANCE, changed, said

ALL = ON_WHEELS + EXCEPTION + PERFORMANCE


class Mistake(NamedTuple):
    """One mistake in a whole campaign."""

    rule: str
    old: str
    new: str
    base: str = ALL


CANDIDATE = '"6f9a315e583e8c4ed95e0a4fb5d20bd79d5cf140"'
VLLM = "  evidence { preemptions = 1..3 workers = all }"
SAME = (
    '  wheel    = "aisimulate==0.12.0.dev2"\n'
    '  sha256   = "9b50283211b7927a7d80a87a98a2eb0d869376b6459f9eaf0d18acebef4593e4"'
)
BASELINE = (
    '  wheel    = "aisimulate==0.12.0.dev1"\n'
    '  sha256   = "9334cf5150e74eeff8f55c68a6b01f3cc355d89f5652504ee6c235e02f9d9bd2"'
)

MISTAKES = [
    Mistake("syntax", "corpus   = long", "corpus   ="),
    Mistake("syntax.duplicate", "corpus   = long", "corpus   = long\n  corpus   = preflight"),
    Mistake("type.mismatch", "rows       = 12_031", 'rows       = "12031"'),
    Mistake("name.unknown", "family = paged\n  engine = vllm", "family = page\n  engine = vllm"),
    Mistake("name.missing", "  mode        = canonical_v1\n", ""),
    Mistake("name.duplicate", "fixture single {", "fixture vllm-aggregated {"),
    Mistake("language.version", "language = 1\n", "language = 2\n"),
    Mistake("import.path", "determinism {", 'import "../shared/exclusions.campaign"\ndeterminism {'),
    Mistake("pin.commit", CANDIDATE, '"main"', ON_CHECKOUTS),
    Mistake("pin.wheel", '"aisimulate==0.12.0.dev2"', '"aisimulate>=0.12"'),
    Mistake("pin.arms", "revision candidate {", "revision canary {"),
    Mistake("pin.distinct", SAME, BASELINE),
    Mistake("pin.relation", '"the next build of the same line"', "ancestor"),
    Mistake("pin.same-build", '"1.93.1"', '"nightly"', ON_CHECKOUTS),
    Mistake("pin.features", '["replay-bench"]', '["all"]', ON_CHECKOUTS),
    Mistake(
        "pin.correction",
        "  repetitions = 2\n",
        "  repetitions = 2\n  correction stable_request_identity { arms = [candidate] }\n",
    ),
    Mistake(
        "pin.embedded",
        '"patches/change.patch"\n  patch_sha256',
        '"patches/change.patch"\n  source_revision = "a"\n  patch_sha256',
        ON_EMBEDDED,
    ),
    Mistake("input.upstream", '"3cca71daccf2a7afb8fe3f0295358f70e3a69fdb"', '"main"'),
    Mistake("input.checksum", '"b8cbb061a85206d729d91cdc2981f43c9e0d99209dce588d3af5f7934408b9df"', '"b8cbb061"'),
    Mistake("input.slice", "start  = 0", "start  = 8_000"),
    Mistake("input.long", "rows   = 5_000", "rows   = 4_999"),
    Mistake("input.format", "mooncake", "agentic"),
    Mistake("exclude.closed", "  /summary/wall_time_ms\n", "  /summary/wall_time_ms\n  /summary/mean_ttft_ms\n"),
    Mistake("row.composition", VLLM, VLLM + "\n  composition { placement = kv_router }"),
    Mistake("row.frozen", VLLM, VLLM + "\n  candidate { capacity { num_gpu_blocks = 7_000 } }"),
    Mistake("row.observable", "{ workers = 4 }", "{ workers = 1 }"),
    Mistake("row.engine", "family paged {", "family paged {\n  capacity { preemption_mode = lifo }"),
    Mistake("row.capacity", "6_144", "0"),
    Mistake("row.transfer", "mode = full_prompt }", "mode = full_prompt latency = 5 ms }"),
    Mistake("row.admission", "  engine = vllm", "  engine = vllm\n  max_in_flight = 8"),
    Mistake("row.repetitions", "repetitions = 2", "repetitions = 3"),
    Mistake("row.matrix", "matrix   = focused", "matrix   = authoritative"),
    Mistake("row.no-substitute", "row sglang-disaggregated {", "row sglang-disaggregated-adp2-4 {"),
    Mistake("row.error", VLLM, VLLM + '\n  expect_error = "refused"'),
    Mistake("run.determinism", "canonical_v1", "random"),
    Mistake("run.evidence", VLLM, VLLM.replace("workers", "handoffs")),
    Mistake("run.pressure", "preemptions = 1..3", "preemptions = 1..20"),
    Mistake("run.progress", "prefill = 10 ms", "prefill = -10 ms"),
    Mistake("run.golden", VLLM, VLLM + '\n  golden = "absent.yaml"'),
    Mistake("exception.complete", '"accepted in review"', '""'),
    Mistake("exception.test", "fails_on  = baseline", "fails_on  = candidate"),
    Mistake("exception.used", "/per_request/*/first_admit_ms,", "/summary/wall_time_ms,"),
    Mistake("perf.boundary", "replay_execution_ms", "wall_time_ms"),
    Mistake("perf.design", "pairs     = 60", "pairs     = 30"),
    Mistake("perf.predeclared", "  seed      = 20261129\n", ""),
    Mistake("perf.fresh", "warmups   = 5", "warmups   = 5 iterations = 10"),
    Mistake("perf.retain", "warmups   = 5", "warmups   = 5 drop_outliers = true"),
    Mistake("perf.size", "warmups   = 5", 'warmups   = 5 size_explanation = ""'),
]


class _Golden(SingleFileSnapshotExtension):
    _write_mode = WriteMode.TEXT
    file_extension = "txt"


def test_every_compile_time_rule_has_a_golden_output() -> None:
    assert {name for name, info in RULES.items() if "compile" in info.where} <= {mistake.rule for mistake in MISTAKES}


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.rule)
def test_what_a_rule_says(
    mistake: Mistake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, snapshot: SnapshotAssertion
) -> None:
    monkeypatch.chdir(tmp_path)
    text, _ = changed(mistake.base, (mistake.old, mistake.new))
    Path("one.campaign").write_text(text, encoding="utf-8")
    found = check_file("one.campaign").diagnostics
    assert mistake.rule in {d.rule for d in found}, said(found)

    def code_of(rule: str) -> str:
        return RULES[rule].code

    shown = "".join(as_text.render(found, code_of)) + as_json.render(found, code_of)
    assert shown == snapshot(extension_class=_Golden)


def test_codes_are_stable_and_names_are_the_contracts() -> None:
    codes = [info.code for info in RULES.values()]
    assert len(codes) == len(set(codes))
    assert all(info.name == name for name, info in RULES.items())
    assert (RULES["syntax"].code, RULES["pin.commit"].code, RULES["perf.size"].code) == ("AC0001", "AC0101", "AC0709")


def test_every_rule_is_explained() -> None:
    for info in RULES.values():
        for part in (info.title, info.reason, info.source, info.example, info.mend, info.where):
            assert part.strip(), info.name
        assert info.example != info.mend
        assert not info.reason.endswith("."), info.name
