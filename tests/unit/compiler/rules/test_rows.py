"""Rows: each rule with its valid neighbours and the kinds of text that it refuses."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.builders.campaigns import ON_WHEELS, assert_refused, changed, check, said

VLLM = "  capacity { num_gpu_blocks = 6_144 block_size = 64 max_num_seqs = 16 max_num_batched_tokens = 8_192 }"
SGLANG = "  capacity { num_gpu_blocks = 1_664 block_size = 512 max_num_seqs = 256 max_num_batched_tokens = 32_768 }"
TRTLLM = "  capacity { num_gpu_blocks = 2_000 block_size = 32 max_num_seqs = 16 max_num_batched_tokens = 8_192 }"
TRANSFER = "    transfer { bytes_per_token = 262_144 B bandwidth = 100 GB/s mode = full_prompt }"
AGGREGATED = "  topology aggregated { workers = 4 }"
EVIDENCE = "  evidence { preemptions = 1..3 workers = all }"
ROW = "row vllm-aggregated {\n  family = paged\n  engine = vllm"


def _capacity(old: str, new: str) -> tuple[str, str]:
    return VLLM, VLLM.replace(old, new)


REFUSED = [
    # engines and their fields
    ("row.engine", "engine = vllm", "engine = «vlm»"),
    ("row.engine", "engine = vllm", "engine = «VLLM»"),
    ("row.engine", "engine = trtllm", "engine = «tensorrt_llm»"),
    ("row.engine", "engine = sglang", "engine = «tgi»"),
    ("row.engine", SGLANG, SGLANG.replace("{ ", "{ «preemption_mode» = lifo ")),
    ("row.engine", VLLM, VLLM.replace("{ ", "{ «chunked_prefill_size» = 8_192 ")),
    ("row.engine", VLLM, VLLM.replace("{ ", "{ «max_prefill_tokens» = 8_192 ")),
    ("row.engine", TRTLLM, TRTLLM.replace("{ ", "{ «schedule_conservativeness» = 1.0 ")),
    ("row.engine", VLLM, VLLM.replace("{ ", "{ «enable_prefix_caching» = true ")),
    ("row.engine", VLLM, VLLM.replace("num_gpu_blocks", "«num_gpu_block»")),
    ("row.engine", VLLM, VLLM.replace("max_num_seqs", "«max_num_sequences»")),
    # composition
    ("row.composition", EVIDENCE, EVIDENCE + "\n  composition { placement = «kv_router» }"),
    ("row.composition", EVIDENCE, EVIDENCE + "\n  composition { placement = «round-robin» }"),
    ("row.composition", EVIDENCE, EVIDENCE + "\n  composition { placement = «random» scaling = none }"),
    ("row.composition", EVIDENCE, EVIDENCE + "\n  composition { scaling = «planner» }"),
    ("row.composition", EVIDENCE, EVIDENCE + "\n  composition { «router» = kv }"),
    ("row.composition", EVIDENCE, EVIDENCE + "\n  composition { «kvbm» = true }"),
    ("row.composition", EVIDENCE, EVIDENCE + "\n  «planner» = sla"),
    ("row.composition", EVIDENCE, EVIDENCE + "\n  «placement» = round_robin"),
    ("row.composition", EVIDENCE, EVIDENCE + "\n  «kv_router» { }"),
    ("row.composition", "family paged {", "family paged {\n  composition { placement = «kv_router» }"),
    # one configuration
    ("row.frozen", EVIDENCE, EVIDENCE + "\n  «candidate» { capacity { num_gpu_blocks = 7_000 } }"),
    ("row.frozen", EVIDENCE, EVIDENCE + "\n  «baseline» { engine = vllm }"),
    ("row.frozen", EVIDENCE, EVIDENCE + "\n  «candidate» = 7_000"),
    ("row.frozen", VLLM, VLLM.replace("{ ", "{ «candidate» { num_gpu_blocks = 7_000 } ")),
    ("row.frozen", AGGREGATED, "  topology aggregated { workers = 4 «baseline» { workers = 2 } }"),
    ("row.frozen", "family paged {", "family paged {\n  «candidate» { timing polynomial }"),
    ("row.frozen", EVIDENCE, "  evidence { preemptions = 1..3 «candidate» { } }"),
    # workers
    ("row.observable", AGGREGATED, "  topology aggregated { workers = «1» }"),
    ("row.observable", AGGREGATED, "  topology aggregated { workers = «0» }"),
    ("row.observable", AGGREGATED, "  topology aggregated { workers = «-4» }"),
    ("row.observable", AGGREGATED, "  topology aggregated { workers = «1» tp = 8 }"),
    ("row.observable", "prefill { workers = 2 }", "prefill { workers = «1» }"),
    ("row.observable", "decode { workers = 2 }", "decode { workers = «1» dp = 1 }"),
    ("row.observable", "aggregated { workers = 1 }", "aggregated { workers = «0» }"),
    # sizes
    ("row.capacity", *_capacity("6_144", "«0»")),
    ("row.capacity", *_capacity("6_144", "«-1»")),
    ("row.capacity", *_capacity("= 64 ", "= «0» ")),
    ("row.capacity", *_capacity("= 64 ", "= «1» ")),
    ("row.capacity", *_capacity("= 16 ", "= «0» ")),
    ("row.capacity", *_capacity("8_192", "«-8_192»")),
    ("row.capacity", VLLM, VLLM.replace(" }", " max_model_len = «0» }")),
    ("row.capacity", SGLANG, SGLANG.replace(" }", " chunked_prefill_size = «100» }")),
    ("row.capacity", SGLANG, SGLANG.replace("= 512", "= «48»")),
    ("row.capacity", SGLANG, SGLANG.replace(" }", " schedule_conservativeness = «0.0» }")),
    ("row.capacity", SGLANG, SGLANG.replace(" }", " schedule_conservativeness = «-1.0» }")),
    ("row.capacity", AGGREGATED, "  topology aggregated { workers = 4 dp = «0» }"),
    ("row.capacity", AGGREGATED, "  topology aggregated { workers = 4 tp = «0» }"),
    ("row.capacity", "decode { workers = 2 }", "decode { workers = 2 tp = «-1» }"),
    # transfer
    ("row.transfer", TRANSFER, TRANSFER.replace(" }", " latency = «5 ms» }")),
    ("row.transfer", TRANSFER, TRANSFER.replace(" }", " latency = «-1 ms» }")),
    ("row.transfer", TRANSFER, TRANSFER.replace("262_144 B", "«0 B»")),
    ("row.transfer", TRANSFER, TRANSFER.replace("100 GB/s", "«0 GB/s»")),
    ("row.transfer", TRANSFER, TRANSFER.replace("100 GB/s", "«-1 GB/s»")),
    ("row.transfer", TRANSFER, "    «transfer» { bytes_per_token = 1 B mode = full_prompt }"),
    ("row.transfer", TRANSFER, "    «transfer» { bandwidth = 100 GB/s }"),
    ("row.transfer", TRANSFER, "    «transfer» { mode = full_prompt latency = 1 ms }"),
    ("row.transfer", TRANSFER, "    «transfer» { }"),
    ("row.transfer", "decode { workers = 2 }", "decode { workers = 2 «transfer» { latency = 2 ms } }"),
    # admission
    ("row.admission", "  engine = vllm", "  engine = vllm\n  «max_in_flight» = 8"),
    ("row.admission", "  engine = vllm", "  engine = vllm\n  «iterations» = 1"),
    ("row.admission", "  engine = vllm", "  engine = vllm\n  «concurrency» = 8"),
    ("row.admission", "ratio = 2.0", "ratio = «0.0»"),
    ("row.admission", "ratio = 2.0", "ratio = «-2.0»"),
    ("row.admission", "ratio = 2.0", "ratio = «1e-300»"),
    ("row.admission", "ratio = 2.0", "ratio = «1e300»"),
    ("row.admission", "  engine = trtllm", "  engine = trtllm\n  max_in_flight = «0»"),
    # repetitions
    ("row.repetitions", "repetitions = 2", "repetitions = «3»"),
    ("row.repetitions", "repetitions = 2", "repetitions = «1»"),
    ("row.repetitions", "repetitions = 2", "repetitions = «0»"),
    ("row.repetitions", "repetitions = 2", "repetitions = «-2»"),
    ("row.repetitions", "  engine = vllm", "  engine = vllm\n  «repetitions» = 2"),
    ("row.repetitions", "repetitions = 2", "repetitions = 2 «average» = true"),
    # matrix ids
    ("row.no-substitute", "row vllm-aggregated {", "row «vllm-disaggregated» {"),
    ("row.no-substitute", "row vllm-aggregated {", "row «sglang-aggregated» {"),
    ("row.no-substitute", "row sglang-disaggregated {", "row «sglang-disaggregated-adp2-4» {"),
    ("row.no-substitute", "row vllm-aggregated {", "row «vllm-aggregated-adp2» {"),
    ("row.no-substitute", "row sglang-disaggregated {", "row «sglang-aggregated» {"),
    # errors
    ("row.error", EVIDENCE, '  expect_error = «""»'),
    ("row.error", EVIDENCE, '  expect_error = «"  "»'),
    ("row.error", EVIDENCE, '  expect_error = «"refused"»\n' + EVIDENCE),
    ("row.error", EVIDENCE, '  expect_error = «"refused"»\n  expect { completed_requests = 5_000 }'),
    # unsupported
    ("row.matrix", "exclude {", 'unsupported trtllm-aggregated { on = both reason = «""» }\nexclude {'),
    ("row.matrix", "exclude {", 'unsupported «trtllm-aggregated» { on = baseline reason = "x" }\nexclude {'),
    ("name.unknown", "exclude {", 'unsupported «trtllm-aggregatd» { on = both reason = "x" }\nexclude {'),
    ("name.unknown", "exclude {", 'unsupported trtllm-aggregated { on = «all» reason = "x" }\nexclude {'),
    ("name.missing", "exclude {", "unsupported «trtllm-aggregated» { on = both }\nexclude {"),
]


@pytest.mark.parametrize(("rule", "old", "new"), REFUSED)
def test_refused(rule: str, old: str, new: str, tmp_path: Path) -> None:
    source, span = changed(ON_WHEELS, (old, new))
    assert_refused(check(source, tmp_path), rule, span)


@pytest.mark.parametrize(
    ("written", "meant"), [("vlm", "vllm"), ("VLLM", "vllm"), ("trt_llm", "trtllm"), ("sglan", "sglang")]
)
def test_the_nearest_engine_is_offered(written: str, meant: str, tmp_path: Path) -> None:
    source, span = changed(ON_WHEELS, ("engine = vllm", f"engine = «{written}»"))
    found = assert_refused(check(source, tmp_path), "row.engine", span)
    assert found.replacement is not None
    assert found.replacement.text == meant


def test_a_foreign_field_from_a_family_is_labelled_at_the_row(tmp_path: Path) -> None:
    family = "family paged {\n  capacity { «chunked_prefill_size» = 8_192 }"
    source, span = changed(
        ON_WHEELS,
        ("family paged {", family),
        ("row sglang-disaggregated {\n  family = paged\n", "row sg {\n  timing polynomial input = conversation\n"),
        ("fixture single {\n  family = paged", "fixture single {\n  input = conversation"),
    )
    found = assert_refused(check(source, tmp_path), "row.engine", span)
    assert "`vllm-aggregated` takes it over from the family" in [label.message for label in found.secondary]


def test_a_limit_from_a_family_binds_fixtures_only(tmp_path: Path) -> None:
    family = (
        "family few { input = conversation timing polynomial «max_in_flight» = 4 }\n"
        "row vllm-aggregated {\n  family = few"
    )
    source, span = changed(ON_WHEELS, ("row vllm-aggregated {\n  family = paged", family))
    found = assert_refused(check(source, tmp_path), "row.admission", span)
    assert found.secondary
    fixture = family.replace("row vllm-aggregated", "fixture vllm-aggregated").replace("«", "").replace("»", "")
    result = check(changed(ON_WHEELS, ("row vllm-aggregated {\n  family = paged", fixture))[0], tmp_path)
    assert result.ok, said(result.diagnostics)


def test_a_mistake_of_a_family_is_said_once(tmp_path: Path) -> None:
    source, span = changed(
        ON_WHEELS,
        ("family paged {", "family paged {\n  arrival_speedup_ratio = «0.0»"),
        ("  arrival_speedup_ratio = 2.0\n", ""),
    )
    found = assert_refused(check(source, tmp_path), "row.admission", span)
    assert len(found.secondary) == 1


AUTHORITATIVE = ("matrix   = focused", "matrix   = authoritative")
SIX = "".join(
    f'unsupported {name} {{ on = both reason = "not touched" }}\n'
    for name in (
        "vllm-disaggregated",
        "vllm-disaggregated-adp2-4",
        "sglang-aggregated",
        "sglang-disaggregated-adp2-4",
        "trtllm-aggregated",
        "trtllm-disaggregated-adp2-4",
    )
)


def test_an_authoritative_campaign_accounts_for_the_matrix(tmp_path: Path) -> None:
    text = changed(ON_WHEELS, AUTHORITATIVE, ("exclude {", SIX + "exclude {"))[0]
    result = check(text, tmp_path)
    assert result.ok, said(result.diagnostics)
    for name in ("vllm-disaggregated", "trtllm-aggregated"):
        line = f'unsupported {name} {{ on = both reason = "not touched" }}\n'
        source, span = changed(text.replace("= authoritative", "= «authoritative»"), (line, ""))
        found = assert_refused(check(source, tmp_path), "row.matrix", span)
        assert f"`{name}`" in found.message


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("row vllm-aggregated {", "row vllm-agg {"),
        (EVIDENCE, '  expect_error = "refused"'),
        ("row vllm-aggregated {", "fixture vllm-aggregated {"),
    ],
)
def test_what_does_not_cover_a_row_of_the_matrix(old: str, new: str, tmp_path: Path) -> None:
    text = changed(ON_WHEELS, AUTHORITATIVE, ("exclude {", SIX + "exclude {"), (old, new))[0]
    found = check(text, tmp_path).diagnostics
    assert {d.rule for d in found} == {"row.matrix"}, said(found)
    assert len(found) == 1, said(found)
    assert "`vllm-aggregated`" in found[0].message + found[0].help


def test_an_unsupported_record_twice(tmp_path: Path) -> None:
    twice = 'unsupported trtllm-aggregated { on = both reason = "x" }\n'
    source, span = changed(
        ON_WHEELS, ("exclude {", twice + twice.replace("trtllm-aggregated", "«trtllm-aggregated»") + "exclude {")
    )
    assert_refused(check(source, tmp_path), "name.duplicate", span)


VALID = [
    (EVIDENCE, EVIDENCE + "\n  composition { placement = round_robin scaling = none }"),
    (EVIDENCE, EVIDENCE + "\n  composition { }"),
    (AGGREGATED, "  topology aggregated { workers = 2 }"),
    ("row vllm-aggregated {", "row anything {"),
    ("  topology aggregated { workers = 4 }", "  topology aggregated { workers = 4, tp = 8 }"),
    (VLLM, VLLM.replace(" }", " preemption_mode = fifo max_model_len = 131_072 }")),
    (
        SGLANG,
        SGLANG.replace(" }", " chunked_prefill_size = 1_024 max_prefill_tokens = 99 schedule_conservativeness = 1 }"),
    ),
    (TRANSFER, "    transfer { latency = 1 ms }"),
    (TRANSFER, "    transfer { latency = 0 ms }"),
    (TRANSFER, "    transfer { latency = 0.5 s }"),
    (TRANSFER, TRANSFER.replace(" }", " latency = 0 ms }")),
    (TRANSFER, TRANSFER.replace("full_prompt", "destination_missing")),
    (TRANSFER, TRANSFER.replace("262_144 B", "256 KiB")),
    ("ratio = 2.0", "ratio = 2"),
    ("ratio = 2.0", "ratio = 1e3"),
    ("  engine = trtllm", "  engine = trtllm\n  max_in_flight = 1"),
    (EVIDENCE, '  expect_error = "num_gpu_blocks"'),
    ("exclude {", 'unsupported vllm-aggregated { on = baseline reason = "predates it" }\nexclude {'),
    ("exclude {", 'unsupported sglang-disaggregated { on = candidate reason = "lost" }\nexclude {'),
    ("exclude {", 'unsupported trtllm-disaggregated { on = both reason = "no" }\nexclude {'),
]


@pytest.mark.parametrize(("old", "new"), VALID)
def test_valid_neighbours(old: str, new: str, tmp_path: Path) -> None:
    result = check(changed(ON_WHEELS, (old, new))[0], tmp_path)
    assert result.ok, said(result.diagnostics)


def test_one_worker_of_two_ranks_can_be_observed(tmp_path: Path) -> None:
    source, _ = changed(
        ON_WHEELS, ("row vllm-aggregated {", "row a {"), (AGGREGATED, "  topology aggregated { workers = 1 dp = 2 }")
    )
    result = check(source, tmp_path)
    assert result.ok, said(result.diagnostics)


def test_roles_may_say_all_of_the_capacity(tmp_path: Path) -> None:
    source, _ = changed(
        ON_WHEELS,
        ("prefill { workers = 2 }", "prefill { workers = 2\n" + SGLANG + " }"),
        (
            "decode { workers = 2 }",
            "decode { workers = 2\n"
            + SGLANG.replace("1_664", "900")
            + " timing fixed { prefill = 1 ms decode = 2 ms } }",
        ),
        (SGLANG + "\n  evidence { ret", "  evidence { ret"),
    )
    result = check(source, tmp_path)
    assert result.ok, said(result.diagnostics)


def test_an_expected_refusal_may_have_a_size_that_the_engine_refuses(tmp_path: Path) -> None:
    source, _ = changed(ON_WHEELS, (EVIDENCE, '  expect_error = "at least two"'), _capacity("= 64 ", "= 1 "))
    result = check(source, tmp_path)
    assert result.ok, said(result.diagnostics)
