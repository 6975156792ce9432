"""Running, exceptions and the gate: each rule with its valid neighbours and the kinds of text that it refuses."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.builders.campaigns import EXCEPTION, ON_WHEELS, PERFORMANCE, assert_refused, changed, check, said

ALL = ON_WHEELS + EXCEPTION + PERFORMANCE
VLLM = "  evidence { preemptions = 1..3 workers = all }"
SGLANG = "  evidence { retractions = 1..3 handoffs = all }"
FIXED = "timing fixed { prefill = 10 ms decode = 2.5 ms }"

RUNNING = [
    ("run.determinism", "canonical_v1", "«canonical_v2»"),
    ("run.determinism", "canonical_v1", "«random»"),
    ("run.determinism", "canonical_v1", "«Canonical_v1»"),
    ("run.pressure", "preemptions = 1..3", "preemptions = «1..20»"),
    ("run.pressure", "preemptions = 1..3", "preemptions = «0..3»"),
    ("run.pressure", "preemptions = 1..3", "preemptions = «0..0»"),
    ("run.pressure", "preemptions = 1..3", "preemptions = «4..5»"),
    ("run.pressure", "preemptions = 1..3", "preemptions = «-1..3»"),
    ("run.pressure", "retractions = 1..3", "retractions = «1..4»"),
    ("run.pressure", "retractions = 1..3", "«preemptions» = 1..3"),
    ("run.pressure", "preemptions = 1..3", "«retractions» = 1..3"),
    ("run.pressure", FIXED, FIXED + "\n  evidence { preemptions = «1..3» }"),
    ("run.pressure", FIXED, FIXED + "\n  evidence { retractions = «1..1» }"),
    ("run.evidence", VLLM, VLLM.replace("workers = all", "handoffs = «all»")),
    ("run.evidence", VLLM, VLLM.replace("workers = all", "barrier = «required»")),
    ("run.evidence", SGLANG, SGLANG.replace("= all", "= «none»")),
    ("run.progress", FIXED, "timing fixed { prefill = «-1 ms» decode = 2 ms }"),
    ("run.progress", FIXED, "timing fixed { prefill = 0 ms decode = «0 ms» }"),
    ("run.progress", FIXED, FIXED + "\n  max_sim_time_ms = «0»"),
    ("run.progress", FIXED, FIXED + "\n  max_sim_time_ms = «-5»"),
    ("run.golden", FIXED, FIXED + '\n  expect { canonical_sha256 = «"abc"» }'),
    ("run.golden", FIXED, FIXED + "\n  expect { completed_requests = «-1» }"),
    ("run.golden", FIXED, FIXED + "\n  expect { decode_workers = «[1, 0]» }"),
    ("run.golden", FIXED, FIXED + "\n  expect { decode_workers = «[0, 0]» }"),
    ("run.golden", FIXED, FIXED + '\n  golden = «"absent.yaml"»'),
    ("run.golden", FIXED, FIXED + '\n  golden = «"../up.yaml"»'),
    ("run.golden", FIXED, FIXED + '\n  golden = «""»'),
    ("name.unknown", FIXED, FIXED + "\n  expect { «completed» = 5 }"),
    ("name.unknown", FIXED, FIXED + '\n  expect { «runner_binary_sha256» = "a" }'),
    ("name.unknown", FIXED, FIXED + "\n  expect { «measured_process_ms» = 5.0 }"),
    ("name.unknown", VLLM, VLLM.replace("= all", "= «some»")),
    ("name.unknown", VLLM, VLLM.replace("workers = all", "«worker» = all")),
    ("type.mismatch", VLLM, VLLM.replace("1..3", "«2»")),
    ("type.mismatch", VLLM, VLLM.replace("1..3", "«3..1»")),
    ("type.mismatch", VLLM, VLLM.replace("1..3", "«1.5..3.5»")),
    ("type.mismatch", FIXED, FIXED + "\n  expect { completed_requests = «5.5» }"),
    ("type.mismatch", FIXED, FIXED + '\n  expect { virtual_duration_ms = «"5"» }'),
    ("type.mismatch", FIXED, FIXED + "\n  expect { decode_workers = «3» }"),
    ("type.mismatch", FIXED, FIXED + "\n  expect { all_requests_full_output = «1» }"),
]

EXCEPTIONS = [
    *[
        ("exception.complete", line + "\n", "")
        for line in EXCEPTION.splitlines()
        if " = " in line and not line.startswith("    ")
    ],
    *[
        ("exception.complete", f'{name:11} = "{text}"', f'{name:11} = «"{empty}"»')
        for name, text in (
            ("baseline", "records the end of the pass"),
            ("candidate", "records the admission"),
            ("source", "the engine's scheduler"),
            ("cause", "the change moves the record"),
            ("impact", "charts shift by one pass"),
            ("disposition", "accepted in review"),
        )
        for empty in ("", "  ", "\\u200b")
    ],
    ("exception.complete", "[/per_request/*/first_admit_ms, /per_request/*/admission_history/*/at_ms]", "«[]»"),
    ("exception.complete", "requests    = all", "requests    = «[]»"),
    ("exception.complete", "requests    = all", 'requests    = [«""»]'),
    ("exception.complete", "requests    = all", 'requests    = ["request_1", «"request_1"»]'),
    ("exception.complete", '["pytest", "tests/test_admission.py"]', "«[]»"),
    ("exception.complete", '["pytest", "tests/test_admission.py"]', '«[""]»'),
    ("exception.complete", "    fails_on  = baseline\n", ""),
    ("exception.complete", '    command   = ["pytest", "tests/test_admission.py"]\n', ""),
    ("exception.complete", "/per_request/*/first_admit_ms,", "«/per_request»,"),
    ("exception.complete", "/per_request/*/first_admit_ms,", "«/per_request/*»,"),
    ("exception.complete", "/per_request/*/first_admit_ms,", "«/summary/*»,"),
    ("exception.complete", "/per_request/*/first_admit_ms,", "«/*»,"),
    (
        "exception.complete",
        "/per_request/*/first_admit_ms,",
        "/per_request/*/first_admit_ms, «/per_request/*/first_admit_ms»,",
    ),
    ("exception.test", "fails_on  = baseline", "fails_on  = «candidate»"),
    ("exception.test", "passes_on = candidate", "passes_on = «baseline»"),
    ("exception.used", "/per_request/*/first_admit_ms,", "«/summary/wall_time_ms»,"),
    ("exception.used", "/per_request/*/first_admit_ms,", "«/planner/html_report_path»,"),
    ("name.unknown", "/per_request/*/first_admit_ms,", "«/per_requests/*/first_admit_ms»,"),
    ("name.unknown", "  row         = vllm-aggregated", "  row         = «vllm-agregated»"),
    ("exception.test", "fails_on  = baseline", "fails_on  = «baselin»"),
    ("exception.test", "fails_on  = baseline", "fails_on  = «both»"),
    ("exception.test", "passes_on = candidate", "passes_on = «neither»"),
    ("name.unknown", "requests    = all", "requests    = «some»"),
    ("type.mismatch", "requests    = all", 'requests    = «"all"»'),
    ("type.mismatch", "/per_request/*/first_admit_ms,", '«"/per_request/*/first_admit_ms"»,'),
    ("type.mismatch", '["pytest", "tests/test_admission.py"]', '«"pytest tests/test_admission.py"»'),
    ("type.mismatch", "/per_request/*/first_admit_ms,", "«/per_request/*/*_ms»,"),
]

GATE = [
    ("perf.boundary", "replay_execution_ms", "«wall_time_ms»"),
    ("perf.boundary", "replay_execution_ms", "«end_to_end_ms»"),
    ("perf.boundary", "replay_execution_ms", "«replay_execution»"),
    ("perf.boundary", "  warmups   = 5", "  warmups   = 5\n  «timer» = shell"),
    ("perf.design", "warmups   = 5", "warmups   = «3»"),
    ("perf.design", "warmups   = 5", "warmups   = «0»"),
    ("perf.design", "pairs     = 60", "pairs     = «30»"),
    ("perf.design", "pairs     = 60", "pairs     = «61»"),
    ("perf.design", "threshold = 1.05", "threshold = «1.10»"),
    ("perf.design", "threshold = 1.05", "threshold = «1»"),
    ("perf.design", "seed      = 20261129", "seed      = «-1»"),
    ("perf.design", "  warmups   = 5", "  warmups   = 5\n  «adaptive» = true"),
    ("perf.design", "rows      = [vllm-aggregated]", "rows      = «[]»"),
    ("perf.design", "rows      = [vllm-aggregated]", "rows      = [«single»]"),
    ("perf.design", "rows      = [vllm-aggregated]", "rows      = [vllm-aggregated, «vllm-aggregated»]"),
    ("perf.predeclared", "  seed      = 20261129\n", ""),
    ("perf.predeclared", "  diagnostics { lag1_autocorrelation = 0.30 order_trend = 0.30 }\n", ""),
    ("perf.predeclared", '  exchangeability = "fresh pinned processes, order randomised from the seed"\n', ""),
    ("perf.predeclared", "  invalidate_on = [affinity_violation, competing_load]\n", ""),
    ("perf.predeclared", "lag1_autocorrelation = 0.30 ", ""),
    ("perf.predeclared", "lag1_autocorrelation = 0.30 ", "lag1_autocorrelation = «0.0» "),
    ("perf.predeclared", "lag1_autocorrelation = 0.30 ", "lag1_autocorrelation = «1.5» "),
    ("perf.predeclared", "lag1_autocorrelation = 0.30 ", "lag1_autocorrelation = «-0.3» "),
    ("perf.predeclared", '"fresh pinned processes, order randomised from the seed"', '«""»'),
    ("perf.predeclared", "[affinity_violation, competing_load]", "«[]»"),
    ("perf.predeclared", "[affinity_violation, competing_load]", "[competing_load, «competing_load»]"),
    ("perf.retain", "  warmups   = 5", "  warmups   = 5\n  «drop_outliers» = true"),
    ("perf.fresh", "  warmups   = 5", "  warmups   = 5\n  «iterations» = 10"),
    ("perf.size", "  warmups   = 5", '  warmups   = 5\n  size_explanation = «" "»'),
    ("name.unknown", "[affinity_violation, competing_load]", "[«outlier»]"),
    ("name.unknown", "rows      = [vllm-aggregated]", "rows      = [«vllm-agregated»]"),
    ("name.unknown", "rows      = [vllm-aggregated]", "rows      = «everything»"),
    ("name.missing", "  pairs     = 60\n", ""),
    ("name.missing", "  metric    = replay_execution_ms\n", ""),
    ("type.mismatch", "pairs     = 60", 'pairs     = «"60"»'),
    ("type.mismatch", "rows      = [vllm-aggregated]", "rows      = «[1]»".replace("«[1]»", "[«1»]")),
    ("syntax.duplicate", "pairs     = 60", "pairs     = 60 «pairs» = 60"),
]


@pytest.mark.parametrize(("rule", "old", "new"), [*RUNNING, *EXCEPTIONS, *GATE])
def test_refused(rule: str, old: str, new: str, tmp_path: Path) -> None:
    source, span = changed(ALL, (old, new))
    assert_refused(check(source, tmp_path), rule, span)


def test_a_swapped_test_is_one_mistake(tmp_path: Path) -> None:
    source, span = changed(
        ALL, ("fails_on  = baseline", "fails_on  = «candidate»"), ("passes_on = candidate", "passes_on = baseline")
    )
    assert_refused(check(source, tmp_path), "exception.test", span)


VALID = [
    ("preemptions = 1..3", "preemptions = 1..1"),
    ("preemptions = 1..3", "preemptions = 2..3"),
    (" preemptions = 1..3", ""),
    (FIXED, FIXED + "\n  evidence { preemptions = 0..0 waiting = required reuse = none handoffs = none }"),
    (FIXED, "timing fixed { prefill = 0 ms decode = 2 ms }"),
    (FIXED, "timing fixed { prefill = 1 s decode = 0.5 ms }"),
    (FIXED, FIXED + "\n  max_sim_time_ms = 60_000"),
    (FIXED, FIXED + "\n  max_sim_time_ms = 0.5"),
    (FIXED, FIXED + "\n  expect { decode_workers = [0, 1,], virtual_duration_ms = 5, handoffs_complete = 0 }"),
    (FIXED, FIXED + '\n  expect { canonical_sha256 = "' + "A" * 64 + '" all_requests_full_output = true }'),
    ("requests    = all", 'requests    = ["request_1", "request_2"]'),
    ("rows      = [vllm-aggregated]", "rows      = all"),
    ("threshold = 1.05", "threshold = 1.050"),
    ("order_trend = 0.30", "order_trend = 0.30 temperature_trend = 0.2"),
    ("  warmups   = 5", '  warmups   = 5\n  size_explanation = "a second engine"'),
    ("/per_request/*/first_admit_ms,", "/summary/duration_ms,"),
]


@pytest.mark.parametrize(("old", "new"), VALID)
def test_valid_neighbours(old: str, new: str, tmp_path: Path) -> None:
    result = check(changed(ALL, (old, new))[0], tmp_path)
    assert result.ok, said(result.diagnostics)


def test_a_barrier_needs_ranks(tmp_path: Path) -> None:
    one = "  engine = trtllm\n  topology aggregated { workers = 1 }"
    ranks = one.replace("workers = 1", "workers = 1 dp = 2") + "\n  evidence { barrier = required }"
    result = check(changed(ON_WHEELS, (one, ranks))[0], tmp_path)
    assert result.ok, said(result.diagnostics)


def test_pressure_from_a_family_is_refused_at_the_familys_line(tmp_path: Path) -> None:
    source, span = changed(
        ON_WHEELS,
        ("family paged {", "family paged {\n  evidence { preemptions = «1..9» }"),
        ("preemptions = 1..3 ", ""),
        (
            "row sglang-disaggregated {\n  family = paged",
            "row sglang-disaggregated {\n  input = conversation timing polynomial",
        ),
        ("fixture single {\n  family = paged", "fixture single {\n  input = conversation"),
    )
    found = assert_refused(check(source, tmp_path), "run.pressure", span)
    assert [label.message for label in found.secondary] == ["`vllm-aggregated` takes it over from the family"]
