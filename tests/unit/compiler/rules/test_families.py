"""A family's values are judged once, whether or not a row takes them; a frozen row refuses those that differ."""

from __future__ import annotations

from pathlib import Path

import pytest

from aisimc_compiler.diagnostics.model import Diagnostic
from tests.builders.campaigns import ON_WHEELS, assert_refused, changed, check, said

ELSEWHERE = Path(__file__).resolve().parents[3] / "cases" / "examples"
FAMILY = "family paged {"
ROLES = "topology disaggregated { prefill { workers = 1 %s } decode { workers = 1 } "
LATENCY = "transfer { latency = %s } }"

WRONG = [
    ("row.engine", "engine = «vlm»"),
    ("name.unknown", "input = «nowhere»"),
    ("row.composition", "composition { placement = «kv_router» }"),
    ("row.composition", "composition { scaling = «planner» }"),
    ("row.capacity", "capacity { num_gpu_blocks = «0» }"),
    ("row.capacity", "topology aggregated { workers = 2 dp = «0» }"),
    ("row.capacity", ROLES % "capacity { block_size = «-1» }" + LATENCY % "1 ms"),
    ("row.observable", "topology aggregated { workers = «0» }"),
    ("run.pressure", "evidence { preemptions = «1..9» }"),
    ("run.pressure", "evidence { retractions = «0..2» }"),
    ("row.error", 'expect_error = «""»'),
    ("row.admission", "max_in_flight = «0»"),
    ("row.admission", "arrival_speedup_ratio = «-1.0»"),
    ("run.progress", "timing fixed { prefill = «-1 ms» decode = 1 ms }"),
    ("run.progress", "max_sim_time_ms = «0.0»"),
    ("run.golden", 'golden = «"nope.yaml"»'),
    ("run.golden", 'expect { canonical_sha256 = «"zz"» }'),
    ("row.frozen", 'frozen = «"nope.json"»'),
    ("row.transfer", ROLES % "" + LATENCY % "«-1 ms»"),
]


@pytest.mark.parametrize(("rule", "body"), WRONG)
def test_a_family_that_no_row_takes(rule: str, body: str, tmp_path: Path) -> None:
    source, span = changed(ON_WHEELS, (FAMILY, f"family other {{ {body} }}\n{FAMILY}"))
    assert_refused(check(source, tmp_path), rule, span)


@pytest.mark.parametrize(
    ("rule", "new"),
    [
        ("row.composition", "composition { placement = «kv_router» }"),
        ("run.progress", "max_sim_time_ms = «0.0»"),
        ("row.admission", "arrival_speedup_ratio = «0.0»"),
        ("row.engine", "engine = «vlm»"),
        ("row.capacity", "capacity { num_gpu_blocks = «0» }"),
    ],
)
def test_a_value_is_refused_once_whether_rows_take_it_or_say_it_themselves(rule: str, new: str, tmp_path: Path) -> None:
    source, span = changed(ON_WHEELS, (FAMILY, f"{FAMILY}\n  {new}"))
    assert_refused(check(source, tmp_path), rule, span)


@pytest.mark.parametrize(
    "body",
    [
        "",
        "engine = sglang",
        'sha256 = "00"',
        "evidence { preemptions = 0..0 }",
        "evidence { retractions = 1..3 preemptions = 1..2 }",
        "evidence { barrier = required handoffs = all }",
        "capacity { chunked_prefill_size = 1024 }",
        "engine = vllm capacity { chunked_prefill_size = 1_024 block_size = 1 }",
        "topology aggregated { workers = 1 }",
        ROLES % "capacity { num_gpu_blocks = 5 }" + LATENCY % "1 ms",
        "max_in_flight = 4",
        "expect { completed_requests = 5 }",
    ],
)
def test_what_a_family_lacks_or_some_row_may_need_is_no_mistake(body: str, tmp_path: Path) -> None:
    result = check(ON_WHEELS.replace(FAMILY, f"family other {{ {body} }}\n{FAMILY}"), tmp_path)
    assert result.ok, said(result.diagnostics)


def frozen_row(tmp_path: Path, family: str, own: str = "", kind: str = "row") -> tuple[Diagnostic, ...]:
    """What is said of a frozen row of SGLang, aggregated, over a family."""
    text = (ELSEWHERE / "everything-else.campaign").read_text(encoding="utf-8")
    files: dict[str, str | bytes] = {
        path.relative_to(ELSEWHERE).as_posix(): path.read_bytes()
        for folder in ("common", "configs", "golden")
        for path in (ELSEWHERE / folder).iterdir()
    }
    old = "row existing-configuration {\n"
    assert old in text
    text = text.replace(old, f"{kind} existing-configuration {{\n  family = fam {own}\n")
    return check(f"{text}\nfamily fam {{ {family} }}\n", tmp_path, files).diagnostics


@pytest.mark.parametrize(
    ("family", "token"),
    [
        ("engine = vllm", "vllm"),
        ("arrival_speedup_ratio = 9.0", "9.0"),
        ("max_sim_time_ms = 5.0", "5.0"),
        (
            "topology disaggregated { prefill { workers = 2 } decode { workers = 2 } transfer { latency = 1 ms } }",
            "disaggregated",
        ),
    ],
)
def test_a_family_that_contradicts_a_frozen_configuration(family: str, token: str, tmp_path: Path) -> None:
    found = frozen_row(tmp_path, family)
    assert [d.rule for d in found] == ["row.frozen"], said(found)
    start, end = found[0].span.start, found[0].span.end
    assert found[0].span.source.text[start:end] == token


@pytest.mark.parametrize(
    "family",
    ["engine = sglang", "arrival_speedup_ratio = 1.0", "timing polynomial", "topology aggregated { workers = 3 }", ""],
)
def test_a_family_that_does_not(family: str, tmp_path: Path) -> None:
    found = frozen_row(tmp_path, family)
    assert not found, said(found)


def test_a_limit_in_flight_beside_a_frozen_configuration_is_one_mistake(tmp_path: Path) -> None:
    assert [d.rule for d in frozen_row(tmp_path, "", "max_in_flight = 3")] == ["row.admission"]
    assert [d.rule for d in frozen_row(tmp_path, "max_in_flight = 3")] == ["row.admission"]
    [found] = frozen_row(tmp_path, "", "max_in_flight = 3", "fixture")
    assert (found.rule, found.label) == ("row.frozen", "would change it")


def test_a_frozen_configuration_may_lie_beside_the_campaigns_folder(tmp_path: Path) -> None:
    text = (ELSEWHERE / "everything-else.campaign").read_text(encoding="utf-8")
    data = (ELSEWHERE / "configs" / "sglang-aggregated.json").read_bytes()
    (tmp_path / "golden").mkdir()
    (tmp_path / "golden" / "sglang-aggregated.json").write_bytes(data)
    files = {f"golden/{path.name}": path.read_bytes() for path in (ELSEWHERE / "golden").iterdir()}
    files |= {f"common/{path.name}": path.read_bytes() for path in (ELSEWHERE / "common").iterdir()}
    specs = tmp_path / "specs"
    specs.mkdir()
    shared = text.replace('"configs/sglang-aggregated.json"', '"../golden/sglang-aggregated.json"')
    assert check(shared, specs, dict(files)).ok
    [found] = check(shared.replace("sglang-agg", "sglang-ag", 1), specs, dict(files)).diagnostics
    assert found.replacement is not None
    assert found.replacement.text == '"../golden/sglang-aggregated.json"'
