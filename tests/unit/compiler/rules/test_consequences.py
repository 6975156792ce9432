"""What follows from a mistake is not said: one error, at the token that has to change, whatever else it breaks."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.builders.campaigns import (
    CHECKOUTS,
    EXCEPTION,
    ON_CHECKOUTS,
    ON_EMBEDDED,
    ON_WHEELS,
    PERFORMANCE,
    WHEELS,
    assert_refused,
    changed,
    check,
    said,
)

ALL = ON_WHEELS + EXCEPTION + PERFORMANCE
VLLM = "  capacity { num_gpu_blocks = 6_144 block_size = 64 max_num_seqs = 16 max_num_batched_tokens = 8_192 }"
AGGREGATED = "  topology aggregated { workers = 4 }"
EVIDENCE = "  evidence { preemptions = 1..3 workers = all }"
CORRECTION = "repetitions = 2 correction stable_request_identity"
COMMIT = '"6f9a315e583e8c4ed95e0a4fb5d20bd79d5cf140"'
POINTERS = (
    "  /summary/wall_time_ms\n  /summary/processed_tokens_per_s\n"
    "  /summary/processed_output_tokens_per_s\n  /planner/html_report_path\n"
)
EXCLUDE = f"exclude {{\n{POINTERS}}}\n"
DETERMINISM = "determinism {\n  mode        = canonical_v1\n  repetitions = 2\n}\n"

# An unknown name that gives what the block lacks stands in its place: the lack is no second mistake.
IN_PLACE = [
    ("name.unknown", ALL, "rows       = 12_031", "«row_count» = 12_031"),
    ("name.unknown", ALL, "  format     = mooncake", "  «kind»     = mooncake"),
    ("name.unknown", ALL, 'sha256     = "b8cb', '«checksum»     = "b8cb'),
    ("name.unknown", ALL, 'path       = "FAST', '«location» = "FAST'),
    ("name.unknown", ALL, 'purpose  = "One change"', '«description» = "One change"'),
    ("name.unknown", ALL, "language = 1", "«version» = 1"),
    ("name.unknown", ALL, "corpus   = long", "«size» = long"),
    ("input.slice", ALL, "start  = 0", "«offset» = 0"),
    ("input.slice", ALL, "rows   = 5_000", "«count» = 5_000"),
    ("input.slice", ALL, '    sha256 = "c215', '    «digest» = "c215'),
    ("row.engine", ALL, "num_gpu_blocks = 6_144", "«blocks» = 6_144"),
    ("name.unknown", ALL, "{ workers = 4 }", "{ «replicas» = 4 }"),
    ("name.unknown", ALL, "    decode { workers = 2 }", "    «generation» { workers = 2 }"),
    ("name.unknown", ALL, "bandwidth = 100 GB/s", "«speed» = 100 GB/s"),
    ("name.unknown", ALL, "  engine = trtllm", "  «backend» = trtllm"),
    ("name.unknown", ALL, "  input = conversation\n", "  «trace» = conversation\n"),
    ("name.unknown", ALL, "mode        = canonical_v1", "«determinism» = canonical_v1"),
    ("name.unknown", ALL, "repetitions = 2", "«count» = 2"),
    ("name.unknown", ALL, "cause       =", "«why»       ="),
    ("name.unknown", ALL, "  row         = vllm", "  «of»         = vllm"),
    ("name.unknown", ALL, "  regression_test {", "  «check» {"),
    ("name.unknown", ALL, "fails_on  = baseline", "«fails»  = baseline"),
    ("name.unknown", ALL, "metric    =", "«measure»    ="),
    ("name.unknown", ALL, "exchangeability =", "«argument» ="),
    ("name.unknown", ALL, "seed      = 2026", "«random»      = 2026"),
    ("name.unknown", ALL, "order_trend = 0.30", "«drift» = 0.30"),
    ("name.unknown", ALL, "prefill = 10 ms", "«prompt_pass» = 10 ms"),
    ("name.unknown", ALL, '  sha256   = "9b50', '  «hash»   = "9b50'),
    ("name.unknown", ALL, '  relation = "the', '  «descent» = "the'),
    ("name.unknown", ALL, '  wheel    = "aisim', '  «package»    = "aisim'),
    ("name.unknown", ON_CHECKOUTS, f"  commit     = {COMMIT}", f"  «sha»     = {COMMIT}"),
    ("name.unknown", ON_CHECKOUTS, "  toolchain =", "  «rust» ="),
    ("name.unknown", ON_CHECKOUTS, "  profile   =", "  «mode»   ="),
    ("name.unknown", ON_EMBEDDED, '  embedded     = "ref', '  «core»     = "ref'),
    ("name.unknown", ON_EMBEDDED, '  patch_sha256 = "', '  «patch_digest» = "'),
    # blocks of the file
    ("name.unknown", ALL, "exclude {", "«exclusions» {"),
    ("name.unknown", ALL, "determinism {", "«repetition» {"),
    ("name.unknown", ALL, "family paged {", "«families» paged {"),
    ("name.unknown", ALL, "input conversation {", "«trace» conversation {"),
    ("name.unknown", ALL, "row vllm-aggregated {", "«case» vllm-aggregated {"),
    ("name.unknown", ALL, "revision candidate {", "«arm» candidate {"),
]


@pytest.mark.parametrize(("rule", "base", "old", "new"), IN_PLACE)
def test_what_an_unknown_name_stands_for_is_not_missing(
    rule: str, base: str, old: str, new: str, tmp_path: Path
) -> None:
    source, span = changed(base, (old, new))
    assert_refused(check(source, tmp_path), rule, span)


def test_what_an_unknown_name_cannot_stand_for_is_missing(tmp_path: Path) -> None:
    source, _ = changed(ON_WHEELS, ("  rows       = 12_031\n", '  remark = "twelve thousand"\n'))
    found = check(source, tmp_path).diagnostics
    assert sorted(d.rule for d in found) == ["name.missing", "name.unknown"], said(found)


def test_the_missing_name_is_offered(tmp_path: Path) -> None:
    source, span = changed(ON_WHEELS, ("{ workers = 4 }", "{ «replicas» = 4 }"))
    assert (
        "did you mean `workers`, which is missing here?"
        in assert_refused(check(source, tmp_path), "name.unknown", span).help
    )


REFERRED = [
    ("name.missing", "input conversation {", "«input» {"),
    ("name.missing", "family paged {", "«family» {"),
    ("name.missing", "row vllm-aggregated {", "«row» {"),
    ("row.error", EVIDENCE, '  expect_error = «""»'),
    ("row.error", EVIDENCE, '  expect_error = «" "»'),
]


@pytest.mark.parametrize(("rule", "old", "new"), REFERRED)
def test_references_to_what_was_refused_are_no_mistakes(rule: str, old: str, new: str, tmp_path: Path) -> None:
    source, span = changed(ALL, (old, new))
    assert_refused(check(source, tmp_path), rule, span)


SWAPPED = [
    (CHECKOUTS, "revision baseline {", "revision candidate {", "revision candidate {", "revision «candidate» {"),
    (CHECKOUTS, "revision candidate {", "revision «baseline» {", "", ""),
    (WHEELS, "revision candidate {", "revision «baseline» {", "", ""),
]


@pytest.mark.parametrize(("arms", "old", "new", "also", "as_"), SWAPPED)
def test_an_arm_given_twice_is_one_mistake(arms: str, old: str, new: str, also: str, as_: str, tmp_path: Path) -> None:
    base = ON_CHECKOUTS if arms is CHECKOUTS else ON_WHEELS
    source, span = changed(base, *([(also, as_)] if also else []), (old, new))
    assert_refused(check(source, tmp_path), "pin.arms", span)


ONE_ARM = [
    ("row.frozen", VLLM, VLLM.replace("capacity", "capacity «candidate»")),
    ("row.frozen", VLLM, VLLM + "\n  capacity «candidate» { num_gpu_blocks = 7_000 }"),
    ("row.frozen", AGGREGATED, AGGREGATED.replace("aggregated", "«candidate»")),
    ("row.frozen", EVIDENCE, EVIDENCE.replace("evidence", "evidence «baseline»")),
    ("row.frozen", EVIDENCE, EVIDENCE + "\n  «arms» { }"),
    ("row.frozen", EVIDENCE, EVIDENCE + "\n  «per_arm» { }"),
    ("row.frozen", EVIDENCE, EVIDENCE + "\n  «only» = candidate"),
    ("row.frozen", EVIDENCE, EVIDENCE + "\n  «when» candidate { capacity { num_gpu_blocks = 7_000 } }"),
    ("row.frozen", EVIDENCE, EVIDENCE + "\n  «candidate_capacity» { num_gpu_blocks = 7_000 }"),
    ("row.frozen", VLLM, VLLM.replace(" }", " «num_gpu_blocks_candidate» = 7_000 }")),
    ("row.frozen", AGGREGATED, AGGREGATED.replace(" }", " «workers_baseline» = 2 }")),
    ("pin.correction", "repetitions = 2", f"{CORRECTION} {{ «on» = candidate }}"),
    ("pin.correction", "repetitions = 2", f"{CORRECTION} {{ «for» = [baseline] }}"),
]


@pytest.mark.parametrize(("rule", "old", "new"), ONE_ARM)
def test_nothing_is_said_for_one_arm(rule: str, old: str, new: str, tmp_path: Path) -> None:
    source, span = changed(ON_WHEELS, (old, new))
    assert_refused(check(source, tmp_path), rule, span)


EXCLUDED = [
    ("exclude.closed", "/planner/html_report_path", "«/per_request/*/ttft_ms»"),
    ("exclude.closed", "/summary/wall_time_ms", "«/result/summary/wall_time_ms»"),
    ("exclude.closed", "/summary/wall_time_ms", "«/summary/mean_ttft_ms»"),
    ("type.mismatch", "/summary/wall_time_ms", '«"/summary/wall_time_ms"»'),
    ("type.mismatch", "/planner/html_report_path", '«"/planner/html_report_path"»'),
    ("type.mismatch", "/summary/wall_time_ms", "«wall_time_ms»"),
    ("type.mismatch", "/planner/html_report_path", "«html_report_path»"),
    ("type.mismatch", "/summary/wall_time_ms", "«5»"),
]


@pytest.mark.parametrize(("rule", "old", "new"), EXCLUDED)
def test_a_wrong_exclusion_stands_in_place_of_the_right_one(rule: str, old: str, new: str, tmp_path: Path) -> None:
    source, span = changed(ON_WHEELS, (old, new))
    assert_refused(check(source, tmp_path), rule, span)


def test_an_exclusion_twice_in_place_of_another(tmp_path: Path) -> None:
    twice = POINTERS.replace("/planner/html_report_path", "«/summary/wall_time_ms»")
    source, span = changed(ON_WHEELS, (POINTERS, twice))
    found = assert_refused(check(source, tmp_path), "exclude.closed", span)
    assert found.replacement is not None
    assert found.replacement.text == "/planner/html_report_path"


def test_a_quoted_pointer_loses_its_quotes(tmp_path: Path) -> None:
    source, span = changed(ON_WHEELS, ("  /summary/wall_time_ms", '  «"/summary/wall_time_ms"»'))
    found = assert_refused(check(source, tmp_path), "type.mismatch", span)
    assert found.replacement == (found.span, "/summary/wall_time_ms", True)


def test_a_digest_in_a_checkout(tmp_path: Path) -> None:
    source, span = changed(ON_CHECKOUTS, ("= ancestor", '= ancestor «sha256» = "' + "a" * 64 + '"'))
    assert_refused(check(source, tmp_path), "name.unknown", span)


@pytest.mark.parametrize("number", ["12,031", "012_031", "12__031", "+12_031", "0x2f", "12."])
def test_a_number_that_cannot_be_read_does_not_double_the_source(number: str, tmp_path: Path) -> None:
    source, span = changed(ON_WHEELS, ("= 12_031", f"= «{number}»"))
    found = check(source, tmp_path).diagnostics
    assert [(d.rule, d.span.start, d.span.end) for d in found] == [("syntax", *(span or ()))], said(found)


@pytest.mark.parametrize("keyword", ["row vllm-aggregated {", "family paged {", "input conversation {", "exclude {"])
def test_a_block_within_another_is_said_once(keyword: str, tmp_path: Path) -> None:
    moved = DETERMINISM.rstrip()[:-1]
    name, space, rest = keyword.partition(" ")
    source, span = changed(ALL, (DETERMINISM, ""), (keyword, f"{moved}\n  «{name}»{space}{rest}"))
    end = source.index("\n}", source.index(moved)) + 2
    found = assert_refused(check(source[:end] + "\n}" + source[end:], tmp_path), "name.unknown", span)
    assert "`}`" in found.help


def test_a_row_without_the_name_of_its_frozen_file(tmp_path: Path) -> None:
    row = 'row «taken-over» {\n  input = conversation\n  sha256 = "' + "a" * 64 + '"\n}\nexclude {'
    source, span = changed(ON_WHEELS, ("exclude {", row))
    found = assert_refused(check(source, tmp_path), "name.missing", span)
    assert "`frozen`" in found.message


IMPORTED = ["import «exclusions»", 'import «"one.campaign"»', "«import»"]


@pytest.mark.parametrize("statement", IMPORTED)
def test_what_a_refused_import_would_have_brought_is_not_missing(statement: str, tmp_path: Path) -> None:
    source, span = changed(f"{statement}\n{ON_WHEELS}", (EXCLUDE, ""))
    found = check(source, tmp_path).diagnostics
    assert len(found) == 1, said(found)
    assert (found[0].span.start, found[0].span.end) == span


SUBSTITUTES = [
    ("row vllm-aggregated {", "row «sglang-aggregated» {"),
    ("row sglang-disaggregated {", "row «trtllm-disaggregated» {"),
    ("row sglang-disaggregated {", "row «vllm-aggregated-adp2» {"),
    ("row vllm-aggregated {", "row «vllm-disaggregated» {"),
]


@pytest.mark.parametrize(("old", "new"), SUBSTITUTES)
def test_a_substitute_is_not_held_to_the_evidence_of_its_name(old: str, new: str, tmp_path: Path) -> None:
    source, span = changed(ON_WHEELS, (old, new))
    assert_refused(check(source, tmp_path), "row.no-substitute", span)


def test_an_aggregated_row_with_the_evidence_of_handoffs_under_the_other_name(tmp_path: Path) -> None:
    source, span = changed(
        ON_WHEELS,
        ("row vllm-aggregated {", "row «vllm-disaggregated» {"),
        (EVIDENCE, "  evidence { retractions = 1..3 handoffs = all }"),
    )
    assert_refused(check(source, tmp_path), "row.no-substitute", span)


MATRIX = "".join(
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
AUTHORITATIVE = ON_WHEELS.replace("= focused", "= authoritative").replace("exclude {", MATRIX + "exclude {")


@pytest.mark.parametrize(
    ("rule", "old", "new"),
    [
        ("name.duplicate", "row sglang-disaggregated {", "row «vllm-aggregated» {"),
        ("row.matrix", "row vllm-aggregated {", "row «vllm-agregated» {"),
        ("row.matrix", "row vllm-aggregated {", "row «the-vllm-row» {"),
        ("name.missing", "row vllm-aggregated {", "«row» {"),
        ("name.unknown", "row vllm-aggregated {", "«case» vllm-aggregated {"),
        ("row.engine", "engine = vllm", "engine = «vlm»"),
        ("type.mismatch", "row vllm-aggregated {", 'row «"vllm-aggregated"» {'),
    ],
)
def test_a_row_of_the_matrix_that_was_refused_is_not_missing(rule: str, old: str, new: str, tmp_path: Path) -> None:
    assert check(AUTHORITATIVE, tmp_path).ok
    source, span = changed(AUTHORITATIVE, (old, new))
    assert_refused(check(source, tmp_path), rule, span)


def test_the_id_of_its_shape_is_offered_to_a_misnamed_row(tmp_path: Path) -> None:
    source, span = changed(AUTHORITATIVE, ("row vllm-aggregated {", "row «first» {"))
    found = assert_refused(check(source, tmp_path), "row.matrix", span)
    assert found.replacement is not None
    assert found.replacement.text == "vllm-aggregated"


def test_one_revision_has_no_relation_to_itself(tmp_path: Path) -> None:
    source, span = changed(
        ON_CHECKOUTS,
        (COMMIT, '«"fb7b0d56de035d66ca9fcae7ff424055dcbf37cd"»'),
        ("  relation   = ancestor\n", ""),
    )
    assert_refused(check(source, tmp_path), "pin.distinct", span)


def test_a_self_check_of_the_wrong_kind_may_have_said_true(tmp_path: Path) -> None:
    source, span = changed(
        ON_CHECKOUTS,
        ("  matrix   = focused", '  matrix   = focused self_check = «"true"»'),
        (COMMIT, '"fb7b0d56de035d66ca9fcae7ff424055dcbf37cd"'),
        ("  relation   = ancestor\n", ""),
    )
    assert_refused(check(source, tmp_path), "type.mismatch", span)


def test_a_transfer_in_a_role_is_not_missing_beside_it(tmp_path: Path) -> None:
    transfer = "    transfer { bytes_per_token = 262_144 B bandwidth = 100 GB/s mode = full_prompt }\n"
    source, span = changed(
        ON_WHEELS, (transfer, ""), ("decode { workers = 2 }", "decode { workers = 2 «transfer» { latency = 1 ms } }")
    )
    assert_refused(check(source, tmp_path), "row.transfer", span)


FILES: dict[str, str | bytes] = {"common/exclusions.campaign": EXCLUDE, "golden/window.yaml": "", "configs/a.json": ""}


@pytest.mark.parametrize(
    ("rule", "written", "meant"),
    [
        ("import.path", "common/exclusion.campaign", "common/exclusions.campaign"),
        ("import.path", "comon/exclusions.campaign", "common/exclusions.campaign"),
        ("import.path", "./Common/exclusions.campaign", "./common/exclusions.campaign"),
        ("run.golden", "golden/windw.yaml", "golden/window.yaml"),
        ("run.golden", "golden/window.yml", "golden/window.yaml"),
        ("row.frozen", "config/a.json", "configs/a.json"),
        ("import.path", "elsewhere/else.campaign", None),
    ],
)
def test_the_nearest_file_is_offered(rule: str, written: str, meant: str | None, tmp_path: Path) -> None:
    row = "row other {\n  input = conversation\n"
    base = {
        "import.path": f'import «"{written}"»\n{ON_WHEELS}'.replace(EXCLUDE, ""),
        "run.golden": ON_WHEELS.replace("  engine = vllm\n", f'  engine = vllm\n  golden = «"{written}"»\n'),
        "row.frozen": ON_WHEELS.replace(EXCLUDE, f'{row}  frozen = «"{written}"» sha256 = "{"a" * 64}"\n}}\n{EXCLUDE}'),
    }[rule]
    source, span = changed(base)
    found = assert_refused(check(source, tmp_path, FILES), rule, span)
    assert (found.replacement and found.replacement.text) == (meant and f'"{meant}"')


def test_words_and_blocks_that_a_campaign_lacks_are_said_in_one_run(tmp_path: Path) -> None:
    text = ALL.replace('  purpose  = "One change"\n', "").replace(EXCLUDE, "")
    assert (text.count("purpose"), text.count("/summary")) == (0, 0)
    assert [(found.rule, found.message) for found in check(text, tmp_path).diagnostics] == [
        ("name.missing", "campaign `one` does not say its `purpose`"),
        ("name.missing", "the campaign has no `exclude` block"),
    ]


# A slip beside the right name is no second one of it, and what only one place lacks is said of that place.
BESIDE = [
    ("name.unknown", ALL, 'purpose  = "One change"', '«purpos» = "x" purpose  = "One change"'),
    ("name.unknown", ALL, 'purpose  = "One change"', 'purpose  = "One change" «purpos» = "x"'),
    ("name.unknown", ALL, "    prefill { workers = 2 }", "    «encode» { workers = 2 }"),
    ("row.engine", ALL, "{ num_gpu_blocks = 6_144", "{ «num_gpu_block» = 6_144 num_gpu_blocks = 6_144"),
    (
        "name.unknown",
        ALL,
        "family paged {\n  input = conversation\n  timing",
        "family paged {\n  input = conversation\n  «timming»",
    ),
    ("name.unknown", ALL, EXCLUDE, '«imprt» "common/exclusions.campaign"\n'),
    ("type.mismatch", ALL, EXCLUDE, "exclude = «[/summary/wall_time_ms]»\n"),
    ("type.mismatch", ALL, "/summary/wall_time_ms", "«summary/wall_time_ms»"),
    ("name.unknown", ALL, "rows      = [vllm-aggregated]", "rows      = «vllm-aggregated»"),
]


@pytest.mark.parametrize(("rule", "base", "old", "new"), BESIDE)
def test_a_slip_beside_what_is_right(rule: str, base: str, old: str, new: str, tmp_path: Path) -> None:
    source, span = changed(base, (old, new))
    assert_refused(check(source, tmp_path), rule, span)


def test_a_campaign_without_an_input_is_not_told_of_each_row(tmp_path: Path) -> None:
    start = ON_WHEELS.index("input conversation {")
    end = ON_WHEELS.index("exclude {")
    found = check(ON_WHEELS[:start] + ON_WHEELS[end:], tmp_path).diagnostics
    assert [d.message for d in found] == ["the campaign has no `input` block"], said(found)


@pytest.mark.parametrize("part", ["capacity", "timing"])
def test_what_one_role_lacks_is_said_of_that_role(part: str, tmp_path: Path) -> None:
    held = {
        "capacity": "capacity { num_gpu_blocks = 9 block_size = 512 max_num_seqs = 9 max_num_batched_tokens = 512 }",
        "timing": "timing polynomial",
    }[part]
    text = ON_WHEELS.replace("    decode { workers = 2 }", f"    decode {{ workers = 2 {held} }}")
    if part == "timing":
        text = text.replace(
            "family paged {\n  input = conversation\n  timing polynomial", "family paged {\n  input = conversation"
        )
        text = text.replace(AGGREGATED, f"{AGGREGATED}\n  timing polynomial")
    else:
        text = text.replace(
            "  capacity { num_gpu_blocks = 1_664 block_size = 512", "  # { num_gpu_blocks = 1_664 block_size = 512"
        )
    found = check(text, tmp_path).diagnostics
    wanted = f"row `sglang-disaggregated` does not say the `{part}` of its `prefill` role"
    assert [d.message for d in found] == [wanted], said(found)


@pytest.mark.parametrize("token", ["vl\u200blm", "en\u200bgine"])
def test_a_name_that_hides_a_character_is_not_unknown_as_well(token: str, tmp_path: Path) -> None:
    old = "engine = vllm"
    new = old.replace(token.replace("\u200b", ""), token)
    found = check(ON_WHEELS.replace(old, new), tmp_path).diagnostics
    assert [d.rule for d in found] == ["syntax"], said(found)
    assert found[0].replacement is not None
    assert found[0].replacement.text == token.replace("\u200b", "")


def test_a_row_of_a_list_alone_is_put_into_one(tmp_path: Path) -> None:
    source, span = changed(ALL, ("rows      = [vllm-aggregated]", "rows      = «vllm-aggregated»"))
    found = assert_refused(check(source, tmp_path), "name.unknown", span)
    assert found.replacement is not None
    assert found.replacement.text == "[vllm-aggregated]"
    assert found.label == "takes `all`, or a list of names"
