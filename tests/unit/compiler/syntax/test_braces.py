"""Braces that are missing, too many, or of another kind: one error, and everything around them is read."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.builders.campaigns import ON_WHEELS, changed, check

AGGREGATED = "topology aggregated { workers = 4 }"
EXCLUDE = ON_WHEELS[ON_WHEELS.index("exclude {") : ON_WHEELS.index("family paged")]
PATH = '"FAST25-release/traces/conversation_trace.jsonl"'
MODE = "mode        = canonical_v1"

CASES = [
    ("syntax", ON_WHEELS, MODE, f"{MODE} «}}»"),
    ("syntax", ON_WHEELS, AGGREGATED, f"{AGGREGATED} «}}»"),
    ("syntax", ON_WHEELS, "workers = all }\n}", "workers = all } «}»\n}"),
    ("syntax", ON_WHEELS, AGGREGATED, "topology aggregated { workers = 4 «]»"),
    ("syntax", ON_WHEELS, "repetitions = 2\n}", "repetitions = 2\n«]»"),
    ("syntax", ON_WHEELS, "determinism {", "determinism «[»"),
    ("syntax", ON_WHEELS, "revision baseline {", "revision baseline «(»"),
    ("syntax", ON_WHEELS, 'campaign "one" {', 'campaign "one" «=» {'),
    ("syntax", ON_WHEELS, "row vllm-aggregated {", "row vllm-aggregated «=» {"),
    ("syntax", ON_WHEELS, "row vllm-aggregated {", "row «vllm-aggregated»"),
    ("syntax", ON_WHEELS, "determinism {\n  mode        = canonical_v1\n  repetitions = 2\n}",
     "determinism «{»\n  mode        = canonical_v1\n  repetitions = 2\n"),
    ("name.missing", ON_WHEELS, AGGREGATED, "topology «aggregated»"),
    ("name.missing", ON_WHEELS, "topology aggregated { workers = 1 }", "topology «aggregated»"),
    ("type.mismatch", ON_WHEELS, "prefill = 10 ms", "prefill = «10 parsecs»"),
    ("type.mismatch", ON_WHEELS, "bandwidth = 100 GB/s", "bandwidth = «100 GB/sec2»"),
    ("type.mismatch", ON_WHEELS, "block_size = 512\n", "block_size = «512 tokens»\n"),
    ("type.mismatch", ON_WHEELS, "preemptions = 1..3", "preemptions = «1 to» 3"),
    ("type.mismatch", ON_WHEELS, PATH, f"«{PATH[1:-1]}»"),
    ("syntax", ON_WHEELS, '"https://github.com/kvcache-ai/Mooncake"', "«https://github.com/kvcache-ai/Mooncake»"),
    ("syntax", ON_WHEELS, '"aisimulate==0.12.0.dev2"', "«aisimulate==0.12.0.dev2»"),
    ("syntax", ON_WHEELS, '"aisimulate==0.12.0.dev2"', "«aisimulate>=0.12»"),
    ("syntax", ON_WHEELS, "preemptions = 1..3", "preemptions = 1 «-» 3"),
    ("syntax", ON_WHEELS, "language = 1", "language = 1 «+» 0"),
    ("syntax", ON_WHEELS, AGGREGATED, "topology aggregated «{» workers = 4"),
    ("syntax", ON_WHEELS, "evidence { preemptions = 1..3 workers = all }", "evidence «{» workers = all"),
    ("syntax", ON_WHEELS, "prefill { workers = 2 }", "prefill «{» workers = 2"),
    ("syntax", ON_WHEELS, "exclude {", "exclude { «{»"),
    ("syntax", ON_WHEELS, AGGREGATED, "topology «=» aggregated { workers = 4 }"),
    ("syntax", ON_WHEELS, AGGREGATED, "topology «:» aggregated { workers = 4 }"),
    ("syntax", ON_WHEELS, EXCLUDE, "«exclude»\n"),
]  # fmt: skip


@pytest.mark.parametrize(("rule", "base", "old", "new"), CASES)
def test_one_error(rule: str, base: str, old: str, new: str, tmp_path: Path) -> None:
    source, span = changed(base, (old, new))
    found = check(source, tmp_path).diagnostics
    assert [(d.rule, d.span.start, d.span.end) for d in found] == [(rule, *(span or ()))], found
    assert rule == "syntax" or found[0].notes


def test_a_brace_where_its_block_may_well_end_closes_it(tmp_path: Path) -> None:
    source, span = changed(ON_WHEELS + "«}»\n")
    found = check(source, tmp_path).diagnostics
    assert [(d.rule, d.span.start) for d in found] == [("syntax", (span or (0,))[0])]
