"""Inputs: each rule with its valid neighbours and the kinds of text that it refuses."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.builders.campaigns import ON_WHEELS, assert_refused, changed, check, said

UPSTREAM = """  upstream   = "https://github.com/kvcache-ai/Mooncake"
  commit     = "3cca71daccf2a7afb8fe3f0295358f70e3a69fdb"
  path       = "FAST25-release/traces/conversation_trace.jsonl"
"""
COMMIT = '"3cca71daccf2a7afb8fe3f0295358f70e3a69fdb"'
PATH = '"FAST25-release/traces/conversation_trace.jsonl"'
DIGEST = '"b8cbb061a85206d729d91cdc2981f43c9e0d99209dce588d3af5f7934408b9df"'
SLICE_DIGEST = '"c2157405477e02aeaaa01e5fcc9794bd9ac146f64643a03aef067853471356b0"'
SLICE = f"  slice {{\n    start  = 0\n    rows   = 5_000\n    sha256 = {SLICE_DIGEST}\n  }}\n"

REFUSED = [
    ("input.format", "mooncake", "«mooncak»"),
    ("input.format", "mooncake", "«Mooncake»"),
    ("input.format", "mooncake", "«agentic»"),
    ("input.format", "mooncake", "«multi_turn»"),
    ("input.format", "mooncake", "«jsonl»"),
    ("input.format", "block_size = 512\n", "block_size = «0»\n"),
    ("input.format", "block_size = 512\n", "block_size = «-512»\n"),
    ("input.upstream", f"  path       = {PATH}\n", ""),
    ("input.upstream", f"  commit     = {COMMIT}\n", ""),
    ("input.upstream", COMMIT, '«"main"»'),
    ("input.upstream", COMMIT, '«"3cca71d"»'),
    ("input.upstream", COMMIT, '«""»'),
    ("input.upstream", PATH, '«""»'),
    ("input.upstream", PATH, '«"/etc/trace.jsonl"»'),
    ("input.upstream", PATH, '«"../trace.jsonl"»'),
    ("input.upstream", PATH, '«"traces/*.jsonl"»'),
    ("input.upstream", PATH, '«"traces/"»'),
    ("input.upstream", '"https://github.com/kvcache-ai/Mooncake"', '«" "»'),
    ("input.upstream", UPSTREAM, '  file = "a.jsonl"\n' + UPSTREAM.replace("upstream", "«upstream»")),
    ("input.upstream", UPSTREAM, f'  file = "a.jsonl"\n  «commit» = {COMMIT}\n'),
    ("input.upstream", UPSTREAM, '  file = «"/data/trace.jsonl"»\n'),
    ("input.upstream", UPSTREAM, '  file = «"~/trace.jsonl"»\n'),
    ("input.upstream", UPSTREAM, '  file = «"https://example.org/trace.jsonl"»\n'),
    ("input.upstream", UPSTREAM, '  file = "a.jsonl"\n  «generator» { seed = 1 rows = 12_031 }\n'),
    ("input.upstream", UPSTREAM, UPSTREAM.replace("commit    ", "«branch»    ").replace(COMMIT, '"main"')),
    ("input.checksum", f"  sha256     = {DIGEST}\n", ""),
    ("input.checksum", DIGEST, '«"b8cbb061"»'),
    ("input.checksum", DIGEST, '«""»'),
    ("input.checksum", "rows       = 12_031", "rows       = «0»"),
    ("input.checksum", "rows       = 12_031", "rows       = «-1»"),
    ("input.checksum", UPSTREAM, "  generator { seed = 1 rows = «0» }\n"),
    ("input.format", UPSTREAM, "  generator { seed = «-1» rows = 12_031 }\n"),
    ("input.slice", f"    sha256 = {SLICE_DIGEST}\n", ""),
    ("input.slice", SLICE_DIGEST, '«"c2157405"»'),
    ("input.slice", SLICE_DIGEST, f'«{SLICE_DIGEST[:-2]}»"'),
    ("input.slice", "start  = 0", "start  = «7_032»"),
    ("input.slice", "start  = 0", "start  = «-1»"),
    ("input.slice", "rows   = 5_000", "rows   = «12_032»"),
    ("input.slice", "rows   = 5_000", "rows   = «0»"),
    ("input.slice", "rows   = 5_000", "rows   = «-5»"),
    ("input.slice", "    start  = 0\n", "    start  = 0\n    «sample» = random\n"),
    ("input.slice", "    start  = 0\n", "    start  = 0\n    «stride» = 2\n"),
    ("input.slice", "    start  = 0\n", "    start  = 0\n    «shuffle» = true\n"),
    ("input.slice", "    start  = 0\n", "    start  = 0\n    «repeat» = 3\n"),
    ("input.slice", "    start  = 0\n", "    start  = 0\n    «offset_unit» = rows\n"),
    ("input.slice", "    start  = 0\n", "    start  = 0\n    «window» { }\n"),
    ("input.slice", "  block_size = 512\n", "  block_size = 512\n  «shuffle» = true\n"),
    ("input.slice", "  block_size = 512\n", "  block_size = 512\n  «Sample» = 10\n"),
    ("input.long", "rows   = 5_000", "rows   = «4_999»"),
    ("input.long", "rows   = 5_000", "rows   = «1»"),
]


@pytest.mark.parametrize(("rule", "old", "new"), REFUSED)
def test_refused(rule: str, old: str, new: str, tmp_path: Path) -> None:
    if new.endswith('»"'):
        new = "«" + new.replace("«", "").replace("»", "") + "»"
    source, span = changed(ON_WHEELS, (old, new))
    assert_refused(check(source, tmp_path), rule, span)


def test_a_short_file_without_a_slice_is_not_long(tmp_path: Path) -> None:
    source, span = changed(ON_WHEELS, (SLICE, ""), ("12_031", "«4_000»"))
    assert_refused(check(source, tmp_path), "input.long", span)


def test_a_generator_makes_what_is_declared(tmp_path: Path) -> None:
    source, span = changed(ON_WHEELS, (UPSTREAM, "  generator { seed = 1 rows = 9_000 }\n"), ("12_031", "«12_031»"))
    assert_refused(check(source, tmp_path), "input.checksum", span)


def test_a_slice_of_everything_has_the_files_digest(tmp_path: Path) -> None:
    source, span = changed(ON_WHEELS, ("5_000", "12_031"), (SLICE_DIGEST, f"«{SLICE_DIGEST}»"))
    assert_refused(check(source, tmp_path), "input.slice", span)


VALID = [
    (),
    ((SLICE, ""),),
    (("5_000", "12_031"), (SLICE_DIGEST, DIGEST)),
    (("start  = 0", "start  = 7_031"),),
    ((UPSTREAM, '  file = "traces/window.jsonl"\n'),),
    ((UPSTREAM, '  file = "../shared/window.jsonl"\n'),),
    ((UPSTREAM, "  generator { seed = 0 rows = 12_031 }\n"),),
    (("corpus   = long", "corpus   = preflight"), ("5_000", "17")),
    ((COMMIT, COMMIT.upper()),),
]


@pytest.mark.parametrize("changes", VALID)
def test_valid_neighbours(changes: tuple[tuple[str, str], ...], tmp_path: Path) -> None:
    result = check(changed(ON_WHEELS, *changes)[0], tmp_path)
    assert result.ok, said(result.diagnostics)


def test_a_fixture_may_replay_a_short_input_in_a_long_campaign(tmp_path: Path) -> None:
    short = (
        'input short { format = mooncake block_size = 512 file = "s.jsonl" rows = 8 sha256 = "'
        + "a" * 64
        + '" }\nfixture single {\n  input = short'
    )
    result = check(changed(ON_WHEELS, ("fixture single {", short))[0], tmp_path)
    assert result.ok, said(result.diagnostics)


def test_a_short_input_is_one_mistake_however_many_rows_replay_it(tmp_path: Path) -> None:
    source, span = changed(ON_WHEELS, ("5_000", "«100»"))
    found = assert_refused(check(source, tmp_path), "input.long", span)
    assert [label.message for label in found.secondary] == ["declared here", "replayed by this row"]
