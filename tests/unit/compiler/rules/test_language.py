"""The language itself: kinds, names, duplicates, what is missing, version and imports."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.builders.campaigns import (
    EXCEPTION,
    HEAD,
    ON_CHECKOUTS,
    ON_WHEELS,
    PERFORMANCE,
    REST,
    WHEELS,
    assert_refused,
    changed,
    check,
    said,
)

VLLM = "  capacity { num_gpu_blocks = 6_144 block_size = 64 max_num_seqs = 16 max_num_batched_tokens = 8_192 }"
FIXED = "timing fixed { prefill = 10 ms decode = 2.5 ms }"
EXCLUDE = (
    "exclude {\n  /summary/wall_time_ms\n  /summary/processed_tokens_per_s\n"
    "  /summary/processed_output_tokens_per_s\n  /planner/html_report_path\n}\n"
)

REFUSED = [
    # kinds
    ("type.mismatch", "language = 1\n", 'language = «"1"»\n'),
    ("type.mismatch", "language = 1\n", "language = «1.0»\n"),
    ("type.mismatch", '"One change"', "«change»"),
    ("type.mismatch", '"One change"', "«5»"),
    ("type.mismatch", '"One change"', "«true»"),
    ("type.mismatch", '"One change"', '«["One change"]»'),
    ("type.mismatch", "corpus   = long", 'corpus   = «"long"»'),
    ("type.mismatch", "corpus   = long", "corpus   = long\n  self_check = «yes»"),
    ("type.mismatch", "corpus   = long", 'corpus   = long\n  self_check = «"false"»'),
    ("type.mismatch", "corpus   = long", "corpus   = long\n  self_check = «0»"),
    ("type.mismatch", "rows       = 12_031", 'rows       = «"12_031"»'),
    ("type.mismatch", "rows       = 12_031", "rows       = «12_031.5»"),
    ("type.mismatch", "rows       = 12_031", "rows       = «1.2e4»"),
    ("type.mismatch", "rows       = 12_031", "rows       = «99999999999999999999»"),
    ("type.mismatch", "rows       = 12_031", "rows       = «1..12_031»"),
    ("type.mismatch", "rows       = 12_031", "rows       = «12_031 B»"),
    ("type.mismatch", "engine = vllm", 'engine = «"vllm"»'),
    ("type.mismatch", "engine = vllm", "engine = «[vllm]»"),
    ("type.mismatch", "ratio = 2.0", 'ratio = «"2.0"»'),
    ("type.mismatch", "ratio = 2.0", "ratio = «2 ms»"),
    ("type.mismatch", "100 GB/s", "«100»"),
    ("type.mismatch", "100 GB/s", "«100 GiB/s»"),
    ("type.mismatch", "100 GB/s", "«100 MB/s»"),
    ("type.mismatch", "100 GB/s", "«100 gb/s»"),
    ("type.mismatch", "100 GB/s", "«100 ms»"),
    ("type.mismatch", "262_144 B", "«262_144»"),
    ("type.mismatch", "262_144 B", "«262 KB»"),
    ("type.mismatch", "262_144 B", "«0.5 B»"),
    ("type.mismatch", "262_144 B", '«"262144 B"»'),
    ("type.mismatch", "prefill = 10 ms", "prefill = «10»"),
    ("type.mismatch", "prefill = 10 ms", "prefill = «10 us»"),
    ("type.mismatch", "prefill = 10 ms", "prefill = «10 GB/s»"),
    ("type.mismatch", "num_gpu_blocks = 6_144", "num_gpu_blocks = «6144.0»"),
    ("type.mismatch", "num_gpu_blocks = 6_144", "num_gpu_blocks = «many»"),
    ("type.mismatch", VLLM, "  capacity = «5»"),
    ("type.mismatch", FIXED, "timing = «polynomial»"),
    ("type.mismatch", FIXED, "timing = «fixed»"),
    ("type.mismatch", "engine = vllm", "«engine» { }"),
    ("type.mismatch", 'campaign "one"', "campaign «one»"),
    # the campaign's name names the run's folder
    ("type.mismatch", 'campaign "one"', 'campaign «"../one"»'),
    ("type.mismatch", 'campaign "one"', 'campaign «"a/b"»'),
    ("type.mismatch", 'campaign "one"', 'campaign «"a\\\\b"»'),
    ("type.mismatch", 'campaign "one"', 'campaign «".hidden"»'),
    ("type.mismatch", 'campaign "one"', 'campaign «"-rf"»'),
    ("type.mismatch", 'campaign "one"', 'campaign «"a\\u0000b"»'),
    ("type.mismatch", 'campaign "one"', f'campaign «"{"x" * 200}"»'),
    ("type.mismatch", "row vllm-aggregated {", 'row «"vllm-aggregated"» {'),
    ("type.mismatch", "exclude {", "exclude «these» {"),
    ("type.mismatch", "aggregated { workers = 1 }", '«"aggregated"» { workers = 1 }'),
    # names
    ("name.unknown", "corpus   = long", "corpus   = «lang»"),
    ("name.unknown", "corpus   = long", "corpus   = «Long»"),
    ("name.unknown", "corpus   = long", "corpus   = long «purpos» = 5"),
    ("name.unknown", "matrix   = focused", "matrix   = «full»"),
    ("name.unknown", "input conversation {", "«inputs» x { }\ninput conversation {"),
    ("name.unknown", "input conversation {", "«campain» { }\ninput conversation {"),
    ("name.unknown", "input conversation {", "«corpus» = long\ninput conversation {"),
    ("name.unknown", "  engine = vllm", "  engine = vllm «enginee» = vllm"),
    ("name.unknown", "  engine = vllm", "  engine = vllm «tile» { }"),
    ("name.unknown", "  engine = vllm\n  arr", "  engine = vllm «dp» = 4\n  arr"),
    ("name.unknown", "family = paged\n  engine = vllm", "family = «page»\n  engine = vllm"),
    ("name.unknown", "family paged {\n  input = conversation", "family paged {\n  input = «conversatoin»"),
    ("name.unknown", "family paged {", "family paged {\n  «family» = other"),
    ("name.unknown", FIXED, "timing «linear»"),
    ("name.unknown", FIXED, "timing «external» { }"),
    ("name.unknown", "topology aggregated { workers = 4 }", "topology «agregated» { workers = 4 }"),
    ("name.unknown", "{ workers = 4 }", "{ workers = 4 «pp» = 2 }"),
    ("name.unknown", "mode = full_prompt", "mode = «full»"),
    ("name.unknown", VLLM, VLLM.replace(" }", " preemption_mode = «random» }")),
    ("name.unknown", "  engine = vllm\n", '  engine = vllm\n  «sha256» = "' + "a" * 64 + '"\n'),
    ("name.unknown", '  sha256 = "9334', '  «commit» = "main"\n  sha256 = "9334'),
    # what is missing
    ("name.missing", '  purpose  = "One change"\n', ""),
    ("name.missing", "  language = 1\n", ""),
    ("name.missing", '"One change"', '«""»'),
    ("name.missing", '"One change"', '«"  \\t"»'),
    ("name.missing", "  repetitions = 2\n", ""),
    ("name.missing", "  mode        = canonical_v1\n", ""),
    ("name.missing", "  format     = mooncake\n", ""),
    ("name.missing", "  rows       = 12_031\n", ""),
    ("name.missing", "    start  = 0\n", ""),
    ("name.missing", "  slice {\n    start  = 0\n    rows   = 5_000\n", "  «slice» {\n"),
    ("name.missing", "  engine = trtllm\n", ""),
    (
        "name.missing",
        "row vllm-aggregated {\n  family = paged\n  engine = vllm\n",
        "row «vllm-aggregated» {\n  family = paged\n",
    ),
    ("name.missing", "  topology aggregated { workers = 4 }\n", ""),
    ("name.missing", VLLM, ""),
    ("name.missing", VLLM, "  «capacity» { num_gpu_blocks = 6_144 }"),
    ("name.missing", VLLM, VLLM.replace("capacity", "«capacity»").replace(" block_size = 64", "")),
    ("name.missing", "prefill { workers = 2 }", "«prefill» { dp = 1 }"),
    ("name.missing", "    decode { workers = 2 }\n", ""),
    ("name.missing", "    prefill { workers = 2 }\n    decode { workers = 2 }\n", ""),
    ("name.missing", FIXED, "timing «fixed» { prefill = 10 ms }"),
    ("name.missing", FIXED, "timing «fixed»"),
    ("name.missing", "row vllm-aggregated {", "«row» {"),
    ("name.missing", "aggregated { workers = 1 }", "«aggregated» { }"),
    ("name.missing", EXCLUDE, ""),
    ("name.missing", "determinism {\n  mode        = canonical_v1\n  repetitions = 2\n}\n", ""),
    ("name.missing", 'campaign "one"', 'campaign «""»'),
    # duplicates
    ("syntax.duplicate", "corpus   = long", "corpus   = long\n  «corpus» = preflight"),
    ("syntax.duplicate", VLLM, VLLM + "\n  «capacity» { }"),
    ("syntax.duplicate", VLLM, VLLM.replace(" }", " «block_size» = 64 }")),
    ("syntax.duplicate", FIXED, FIXED + "\n  «timing» polynomial"),
    ("syntax.duplicate", EXCLUDE, EXCLUDE + EXCLUDE.replace("exclude", "«exclude»")),
    ("syntax.duplicate", "determinism {", "determinism { mode = canonical_v1 repetitions = 2 }\n«determinism» {"),
    ("syntax.duplicate", "    rows   = 5_000\n", "    rows   = 5_000\n    «rows» = 5_000\n"),
    ("name.duplicate", "fixture single {", "fixture «vllm-aggregated» {"),
    ("name.duplicate", "row sglang-disaggregated {", "row «vllm-aggregated» {"),
    ("name.duplicate", "family paged {", "family paged { timing polynomial }\nfamily «paged» {"),
    # version
    ("language.version", "language = 1\n", "language = «2»\n"),
    ("language.version", "language = 1\n", "language = «0»\n"),
    ("language.version", "language = 1\n", "language = «-1»\n"),
]


@pytest.mark.parametrize(("rule", "old", "new"), REFUSED)
def test_refused(rule: str, old: str, new: str, tmp_path: Path) -> None:
    source, span = changed(ON_WHEELS, (old, new))
    assert_refused(check(source, tmp_path), rule, span)


def test_a_second_input_of_one_name(tmp_path: Path) -> None:
    second = REST[REST.index("input conversation") : REST.index("exclude")].replace(
        "conversation {", "«conversation» {"
    )
    source, span = changed(ON_WHEELS, ("exclude {", second + "exclude {"))
    found = assert_refused(check(source, tmp_path), "name.duplicate", span)
    assert found.secondary[0].message == "the first one"


def test_a_second_campaign_block(tmp_path: Path) -> None:
    source, span = changed(ON_WHEELS, ("determinism {", HEAD.replace("campaign", "«campaign»") + "determinism {"))
    assert_refused(check(source, tmp_path), "syntax.duplicate", span)


def test_a_build_is_missing(tmp_path: Path) -> None:
    start, end = ON_CHECKOUTS.index("build {"), ON_CHECKOUTS.index("determinism {")
    source, span = changed(ON_CHECKOUTS[:start] + ON_CHECKOUTS[end:], ('campaign "one"', 'campaign «"one"»'))
    assert_refused(check(source, tmp_path), "name.missing", span)


@pytest.mark.parametrize(
    ("rows", "rule"), [("", "name.missing"), ("row x { family = paged }", "name.missing"), ("row x\n", "")]
)
def test_rows_are_missing(rows: str, rule: str, tmp_path: Path) -> None:
    start = ON_WHEELS.index("row vllm-aggregated")
    result = check(ON_WHEELS[:start] + rows, tmp_path)
    assert len(result.diagnostics) == 1, said(result.diagnostics)
    assert result.diagnostics[0].rule == (rule or result.diagnostics[0].rule)


@pytest.mark.parametrize(
    ("old", "new", "mended", "applicable"),
    [
        ('"One change"', "«change»", '"change"', True),
        ("engine = vllm", 'engine = «"vllm"»', "vllm", True),
        ("num_gpu_blocks = 6_144", 'num_gpu_blocks = «"6144"»', "6144", True),
        ("num_gpu_blocks = 6_144", "num_gpu_blocks = «6144.0»", "6144", True),
        ("preemptions = 1..3", "preemptions = «2»", "2..2", False),
        ("preemptions = 1..3", "preemptions = «3..1»", "1..3", False),
        ("262_144 B", "«262_144»", "262_144 B", False),
        ("engine = vllm", "engine = «vlm»", "vllm", False),
    ],
)
def test_replacements(old: str, new: str, mended: str, applicable: bool, tmp_path: Path) -> None:
    source, span = changed(ON_WHEELS, (old, new))
    found = check(source, tmp_path).diagnostics
    assert len(found) == 1, said(found)
    assert found[0].replacement is not None
    assert (found[0].replacement.span.start, found[0].replacement.span.end) == span
    assert found[0].replacement.text == mended
    assert found[0].replacement.applicable is applicable


IMPORT = 'import «"{}"»\n'


@pytest.mark.parametrize(
    "path",
    [
        "absent.campaign",
        "/etc/passwd",
        "../outside.campaign",
        "sub/../../outside.campaign",
        "",
        " ",
        ".",
        "sub",
        "~/x.campaign",
        "sub\\\\x.campaign",
        "https://example.org/x.campaign",
        "C:/x.campaign",
        "one.campaign",
        "./one.campaign",
        "binary.campaign",
        " sub/ok.campaign",
    ],
)
def test_imports_that_lead_nowhere(path: str, tmp_path: Path) -> None:
    folder = tmp_path / "campaigns"
    folder.mkdir()
    (tmp_path / "outside.campaign").write_text(EXCLUDE)
    files: dict[str, str | bytes] = {"sub/ok.campaign": "# nothing\n", "binary.campaign": b"\xff\xfe"}
    source, span = changed(IMPORT.format(path) + ON_WHEELS)
    assert_refused(check(source, folder, files), "import.path", span)


def test_an_import_through_a_symbolic_link(tmp_path: Path) -> None:
    folder = tmp_path / "campaigns"
    folder.mkdir()
    (tmp_path / "outside.campaign").write_text(EXCLUDE)
    (folder / "inside.campaign").symlink_to(tmp_path / "outside.campaign")
    source, span = changed(IMPORT.format("inside.campaign") + ON_WHEELS.replace(EXCLUDE, ""))
    result = check(source, folder)
    assert [d.rule for d in result.diagnostics][:1] == ["import.path"], said(result.diagnostics)
    assert (result.diagnostics[0].span.start, result.diagnostics[0].span.end) == span


def test_a_cycle_of_imports(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {"a/b.campaign": 'import "c.campaign"\n', "a/c.campaign": 'import "b.campaign"\n'}
    result = check('import "a/b.campaign"\n' + ON_WHEELS, tmp_path, files)
    assert [d.rule for d in result.diagnostics] == ["import.path"], said(result.diagnostics)
    assert result.diagnostics[0].span.source.name.endswith("a/c.campaign")
    assert result.diagnostics[0].secondary


def test_imported_blocks_count_as_written(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {
        "common/all.campaign": 'import "exclusions.campaign"\nimport "more/inputs.campaign"\n',
        "common/exclusions.campaign": EXCLUDE,
        "common/more/inputs.campaign": REST[REST.index("input") : REST.index("exclude")],
    }
    start, end = ON_WHEELS.index("input conversation"), ON_WHEELS.index("family paged")
    result = check('import "common/all.campaign"\n' + ON_WHEELS[:start] + ON_WHEELS[end:], tmp_path, files)
    assert result.ok, said(result.diagnostics)
    assert len(result.files) == 4


def test_a_mistake_in_an_import_stands_there(tmp_path: Path) -> None:
    text = EXCLUDE.replace("  /summary/wall_time_ms\n", "  /summary/wall_time\n")
    result = check('import "x.campaign"\n' + ON_WHEELS.replace(EXCLUDE, ""), tmp_path, {"x.campaign": text})
    assert [d.rule for d in result.diagnostics] == ["exclude.closed"], said(result.diagnostics)
    assert result.diagnostics[0].span.source.name.endswith("x.campaign")


def test_a_block_both_here_and_in_an_import(tmp_path: Path) -> None:
    result = check('import "x.campaign"\n' + ON_WHEELS, tmp_path, {"x.campaign": EXCLUDE})
    assert [d.rule for d in result.diagnostics] == ["syntax.duplicate"], said(result.diagnostics)
    assert result.diagnostics[0].secondary[0].span.source.name.endswith("x.campaign")


def test_an_import_by_two_ways_counts_once(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {
        "a.campaign": 'import "x.campaign"\n',
        "b.campaign": 'import "x.campaign"\n',
        "x.campaign": EXCLUDE,
    }
    result = check('import "a.campaign"\nimport "b.campaign"\n' + ON_WHEELS.replace(EXCLUDE, ""), tmp_path, files)
    assert result.ok, said(result.diagnostics)


def test_an_import_twice_in_one_file(tmp_path: Path) -> None:
    source, span = changed('import "x.campaign"\nimport «"./x.campaign"»\n' + ON_WHEELS.replace(EXCLUDE, ""))
    assert_refused(check(source, tmp_path, {"x.campaign": EXCLUDE}), "syntax.duplicate", span)


def test_many_nested_imports_end(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {f"i{n}.campaign": f'import "i{n + 1}.campaign"\n' for n in range(200)}
    result = check('import "i0.campaign"\n' + ON_WHEELS, tmp_path, files)
    assert [d.rule for d in result.diagnostics] == ["import.path"], said(result.diagnostics)


def test_a_fragment_is_valid_as_far_as_it_goes(tmp_path: Path) -> None:
    result = check(EXCLUDE, tmp_path)
    assert result.ok and result.fragment
    result = check("family x { input = elsewhere timing polynomial }\nrow y { family = z }", tmp_path)
    assert result.fragment
    assert result.ok, said(result.diagnostics)
    refused = check(EXCLUDE.replace("/summary/wall_time_ms", "/summary"), tmp_path)
    assert refused.fragment and [d.rule for d in refused.diagnostics] == ["exclude.closed"]


def test_what_is_torn_is_not_missing(tmp_path: Path) -> None:
    source, _ = changed(ON_WHEELS, ("  engine = trtllm\n", "  engine = = trtllm\n"))
    result = check(source, tmp_path)
    assert {d.rule for d in result.diagnostics} == {"syntax"}, said(result.diagnostics)


def test_several_mistakes_are_all_said_in_order(tmp_path: Path) -> None:
    source, _ = changed(
        ON_WHEELS,
        ("corpus   = long", "corpus   = lang"),
        ("repetitions = 2", "repetitions = 3"),
        ("engine = vllm", "engine = vlm"),
        ("workers = 1 }", "workers = 0 }"),
    )
    result = check(source, tmp_path)
    assert [d.rule for d in result.diagnostics] == ["name.unknown", "row.repetitions", "row.engine", "row.observable"]


@pytest.mark.parametrize(
    ("old", "new", "rule"),
    [
        ("input conversation {", "«inptu» conversation {", "name.unknown"),
        ("input conversation {", 'input «"conversation"» {', "type.mismatch"),
        ("family paged {", "«famly» paged {", "name.unknown"),
        ("family paged {", 'family «"paged"» {', "type.mismatch"),
        ("revision candidate {", "«revison» candidate {", "name.unknown"),
        ("determinism {", "«determinsm» {", "name.unknown"),
        ("exclude {", "«exclud» {", "name.unknown"),
        ("row vllm-aggregated {", "«rwo» vllm-aggregated {", "name.unknown"),
        ("row vllm-aggregated {", 'row «"vllm-aggregated"» {', "type.mismatch"),
        ('campaign "one" {', '«campain» "one" {', "name.unknown"),
        ("  engine = vllm\n", "  «engin» = vllm\n", "name.unknown"),
        ("  topology aggregated { workers = 4 }", "  «topolgy» aggregated { workers = 4 }", "name.unknown"),
        ("{ workers = 4 }", "{ «worker» = 4 }", "name.unknown"),
        ('  wheel    = "aisimulate==0.12.0.dev2"', '  «whel»    = "aisimulate==0.12.0.dev2"', "name.unknown"),
        ("  slice {", "  «slcie» {", "name.unknown"),
        (
            "{ workers = 4 }",
            "{ «prefill» { workers = 2 } decode { workers = 2 } transfer { latency = 1 ms } }",
            "name.unknown",
        ),
        ("topology aggregated { workers = 4 }", "topology disaggregated { «workers» = 4 dp = 2 }", "name.unknown"),
        ("    decode { workers = 2 }", "    decode { workers = 2 }\n    «tp» = 2", "name.unknown"),
        ("    start  = 0", "    «strat»  = 0", "name.unknown"),
    ],
)
def test_one_slip_is_one_error(old: str, new: str, rule: str, tmp_path: Path) -> None:
    source, span = changed(ON_WHEELS + EXCEPTION + PERFORMANCE, (old, new))
    assert_refused(check(source, tmp_path), rule, span)


def test_every_wheel_text_is_sound(tmp_path: Path) -> None:
    assert check(HEAD + WHEELS + REST, tmp_path).ok
