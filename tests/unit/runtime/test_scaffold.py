"""What `new` and `import` write is a campaign: with its pins filled in, it compiles."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

from aisimc_compiler.api import check_file, compile_file
from aisimc_runtime.command.fmt import command as fmt_command
from aisimc_runtime.command.import_ import command as import_command
from aisimc_runtime.command.new import command as new_command
from aisimc_runtime.scaffold import revisions
from aisimc_runtime.scaffold.rows import ROWS

HASH = "a" * 64
COMMIT = "fb7b0d56de035d66ca9fcae7ff424055dcbf37cd"
OTHER = "6f9a315e583e8c4ed95e0a4fb5d20bd79d5cf140"


def with_pins(text: str) -> str:
    """What `aisimc pin` would fill in, made up."""
    text = re.sub(r'(wheel\s*= "[^"]*")', rf'\1 sha256 = "{HASH}"', text)
    text = re.sub(r'(embedded\s*= "[^"]*")', rf'\1 sha256 = "{HASH}"', text)
    text = re.sub(r'(patch\s*= "[^"]*")', rf'\1 patch_sha256 = "{HASH}"', text)
    text = re.sub(r'((?:file|path)\s*= "[^"]*")', rf'\1 sha256 = "{HASH}" rows = 12_031', text)
    return re.sub(r"(rows\s*= 5_000)", rf'\1 sha256 = "{HASH}"', text)


def problems(text: str, folder: Path) -> list[str]:
    path = folder / "made.campaign"
    path.write_text(text, "utf-8")
    return [f"{diagnostic.rule}: {diagnostic.message}" for diagnostic in check_file(path).diagnostics]


def new(*arguments: str) -> str:
    result = CliRunner().invoke(new_command, [*arguments, "-o", "-"])
    assert result.exit_code == 0, result.output
    return result.stdout


WHEELS = ("--baseline", "aisimulate==0.13.0.dev202610230000000081", "--candidate",
          "aisimulate==0.13.0.dev202610240000000082", "--relation", "the next nightly")  # fmt: skip


def test_the_whole_matrix_on_wheels_compiles(tmp_path: Path) -> None:
    text = new("matrix", *WHEELS, "--trace", "t.jsonl", "--window", "0:5000", "--matrix", "authoritative")
    assert problems(with_pins(text), tmp_path) == []


@pytest.mark.parametrize("row", ROWS)
def test_each_row_compiles_alone(row: str, tmp_path: Path) -> None:
    text = new("one", *WHEELS, "--trace", "t.jsonl", "--row", row)
    assert problems(with_pins(text), tmp_path) == []


def test_checkouts_get_a_build_block_and_a_relation_that_git_verifies(tmp_path: Path) -> None:
    text = new("c", "--baseline", f"https://example.org/r@{COMMIT}", "--candidate", f"https://example.org/r@{OTHER}",
               "--relation", "ancestor", "--upstream", "https://example.org/t", "--commit", COMMIT, "--path", "a.jsonl",
               "--window", "0:5000", "--row", "vllm-aggregated")  # fmt: skip
    assert re.search(r"relation\s*= ancestor", text)
    assert problems(with_pins(text), tmp_path) == []


def test_the_embedded_engine_with_a_patch_compiles(tmp_path: Path) -> None:
    text = new("e", "--baseline", "embedded", "--candidate", "embedded+patches/p.patch", "--relation", "one patch",
               "--trace", "t.jsonl", "--row", "trtllm-aggregated")  # fmt: skip
    assert problems(with_pins(text), tmp_path) == []


@pytest.mark.parametrize(
    ("version", "old"),
    [("0.12.0.dev2", True), ("0.13.0.dev202609270000000058", True), ("0.13.0.dev202610130000000070", False)],
)
def test_builds_without_canonical_mode_get_the_correction(version: str, old: bool) -> None:
    assert revisions.honours_no_canonical_mode(f"aisimulate=={version}") is old
    text = new("o", "--baseline", f"aisimulate=={version}", *WHEELS[2:], "--trace", "t.jsonl", "--row",
               "vllm-aggregated")  # fmt: skip
    assert ("stable_request_identity" in text) is old


@pytest.mark.parametrize("arguments", [
    ("n", "--baseline", "???", *WHEELS[2:], "--trace", "t", "--row", "vllm-aggregated"),
    ("n", *WHEELS, "--trace", "t", "--row", "vllm-aggregated", "--window", "5000"),
    ("n", *WHEELS, "--trace", "t", "--upstream", "u", "--row", "vllm-aggregated"),
    ("n", *WHEELS[:4], "--trace", "t", "--row", "vllm-aggregated"),
])  # fmt: skip
def test_what_cannot_be_written_is_refused_in_one_line(arguments: tuple[str, ...]) -> None:
    result = CliRunner().invoke(new_command, [*arguments, "-o", "-"])
    assert result.exit_code == 2
    assert result.stderr.startswith("aisimc: error: ")
    assert "Traceback" not in result.output


@pytest.mark.parametrize(
    "named", ["foo", "foo@", "@main", "embedded-core", "aisimulate==", "a b", "https://example.org/r"]
)
def test_what_names_no_revision_is_refused_before_anything_else(named: str) -> None:
    result = CliRunner().invoke(new_command, ["--baseline", named])
    assert result.exit_code == 2
    assert f"`{named}` names no revision\n  help: write " in result.stderr
    assert "embedded" in result.stderr


@pytest.mark.parametrize(
    ("lacking", "flag"), [("n", "NAME"), *((flag, flag) for flag in ("--baseline", "--relation", "--trace", "--row"))]
)
def test_without_a_terminal_what_is_not_given_is_named_by_its_flag(lacking: str, flag: str) -> None:
    arguments = ["n", *WHEELS, "--trace", "t", "--row", "vllm-aggregated"]
    at = arguments.index(lacking)
    del arguments[at : at + (1 if lacking == "n" else 2)]
    result = CliRunner().invoke(new_command, arguments)
    assert result.exit_code == 2
    assert result.stderr.startswith(f"aisimc: error: {flag} is not given, and there is no terminal to ask on\n")


def test_a_misspelt_row_is_answered_with_the_nearest() -> None:
    result = CliRunner().invoke(new_command, ["n", *WHEELS, "--trace", "t", "--row", "vllm-agregated"])
    assert (result.exit_code, result.stderr.splitlines()) == (
        2, ["aisimc: error: there is no row `vllm-agregated`", "  help: did you mean `vllm-aggregated`?"],
    )  # fmt: skip
    result = CliRunner().invoke(new_command, ["n", *WHEELS, "--trace", "t", "--row", "zzzz"])
    assert all(row in result.stderr for row in ROWS)


def test_all_rows_may_be_asked_for_at_once_without_a_matrix_that_claims_more() -> None:
    text = new("n", *WHEELS, "--trace", "t", "--row", "all")
    assert all(f"row {row} {{" in text for row in ROWS)
    assert re.search("matrix *= focused", text)


def laid_out(path: Path) -> bool:
    return CliRunner().invoke(fmt_command, ["--check", str(path)]).exit_code == 0


def test_what_is_written_is_laid_out_and_says_that_capacities_are_placeholders(tmp_path: Path) -> None:
    path = tmp_path / "my campaign $é.campaign"
    result = CliRunner().invoke(
        new_command, ["n", *WHEELS, "--trace", "t", "--window", "0:64", "--row", "all", "-o", str(path)]
    )
    assert result.exit_code == 0
    assert laid_out(path)
    comments = [line for line in path.read_text("utf-8").splitlines() if line.startswith("#")]
    assert "placeholders" in comments[0] and "aisimc requalify SPEC ROW" in "".join(comments)
    typed = [shlex.split(line.partition("    (")[0])[1:] for line in result.stdout.splitlines() if "aisimc" in line]
    assert typed == [
        ["aisimc", "pin", str(path)],
        ["aisimc", "check", str(path)],
        ["aisimc", "requalify", str(path), "vllm-aggregated"],
    ]
    assert "placeholders" in result.stdout


def test_a_file_that_is_there_is_never_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "n.campaign"
    path.write_text("mine")
    result = CliRunner().invoke(
        new_command, ["n", *WHEELS, "--trace", "t", "--row", "vllm-aggregated", "-o", str(path)]
    )
    assert (result.exit_code, path.read_text()) == (2, "mine")


CONFIGURATION = {
    "row_name": "sglang aggregated", "trace_file": "window.jsonl", "trace_sha256": "4" * 64, "trace_rows": 64,
    "trace_block_size": 512, "arrival_speedup_ratio": 1.0, "trace_upstream_repository": "https://example.org/traces",
    "trace_upstream_commit": "0" * 40, "trace_upstream_path": "window.jsonl", "trace_full_sha256": "4" * 64,
    "trace_full_rows": 64, "trace_slice_start": 0, "iterations": 1, "capture_canonical": True,
    "write_full_report": False, "metadata": {}, "expected": {},
    "spec": {
        "version": 1,
        "topology": {"kind": "aggregated", "workers": {"initial_workers": 2, "startup_delay_ms": 0.0}},
        "engine": {"dp_size": 1, "tensor_parallel_size": 1, "rank": {
            "backend": "sglang", "num_gpu_blocks": 64, "block_size": 512, "max_num_seqs": 64,
            "max_num_batched_tokens": 32768, "timing_model": {"type": "polynomial"}}},
        "adapters": {"placement": {"provider": "round_robin", "config": None},
                     "scaling": {"provider": "none", "config": None}},
        "record_per_request": True,
        "requests": [],
    },
}  # fmt: skip


def imported(folder: Path, *more: str) -> tuple[int, str]:
    arguments = [str(folder), *WHEELS[:4], *(more or WHEELS[4:])]
    result = CliRunner().invoke(import_command, arguments)
    return result.exit_code, result.output


def test_a_folder_of_configurations_becomes_a_campaign_that_compiles(tmp_path: Path) -> None:
    folder = tmp_path / "configs"
    folder.mkdir()
    for name in ("a", "b"):
        (folder / f"{name}.json").write_text(json.dumps(CONFIGURATION))
    status, output = imported(folder)
    assert status == 0, output
    text = (tmp_path / "configs.campaign").read_text("utf-8")
    assert text.count("input window {") == 1
    assert "row sglang-aggregated {" in text and "row sglang-aggregated-2 {" in text
    assert laid_out(tmp_path / "configs.campaign")
    wheels = re.sub(r'(wheel\s*= "[^"]*")', rf'\1 sha256 = "{HASH}"', text)
    assert problems(wheels, tmp_path) == []


def test_how_the_revisions_are_related_is_for_the_importer_to_say(tmp_path: Path) -> None:
    (tmp_path / "configs").mkdir()
    (tmp_path / "configs" / "a.json").write_text(json.dumps(CONFIGURATION))
    status, output = imported(tmp_path / "configs", "--name", "x")
    assert (status, list(tmp_path.glob("*.campaign"))) == (2, [])
    assert "--relation" in output


@pytest.mark.parametrize(
    ("more", "named"),
    [((), "configs"), (("-o", "{}/adopted.campaign"), "adopted"), (("--name", 'say "so"', "-o", "{}/b.campaign"), "")],
)
def test_an_imported_campaign_has_the_name_that_was_chosen(tmp_path: Path, more: tuple[str, ...], named: str) -> None:
    (tmp_path / "configs").mkdir()
    (tmp_path / "configs" / "a.json").write_text(json.dumps(CONFIGURATION))
    status, output = imported(tmp_path / "configs", *WHEELS[4:], *(word.format(tmp_path) for word in more))
    assert status == 0, output
    text = next(tmp_path.glob("*.campaign")).read_text("utf-8")
    assert text.startswith(f'campaign "{named}" {{' if named else 'campaign "say \\"so\\"" {')
    assert ("--name" in output) is bool(named)


@pytest.mark.parametrize(
    ("source", "written"),
    [
        (('file = "traces/w.jsonl"'), 'file       = "w.jsonl"'),
        (("generator { seed = 7 rows = 64 }"), "generator { seed = 7 rows = 64 }"),
        (
            f'upstream = "https://example.org/t" commit = "{COMMIT}" path = "w.jsonl"',
            'upstream   = "https://example.org/t"',
        ),
    ],
)
def test_a_compiled_configuration_comes_back_with_the_source_of_its_trace(
    source: str, written: str, tmp_path: Path
) -> None:
    text = new("one", *WHEELS, "--trace", "t.jsonl", "--row", "vllm-aggregated")
    text = re.sub(r'file       = "t.jsonl"', f'{source} sha256 = "{HASH}" rows = 64', text)
    path = tmp_path / "one.campaign"
    path.write_text(re.sub(r'(wheel\s*= "[^"]*")', rf'\1 sha256 = "{HASH}"', text), "utf-8")
    compiled = compile_file(path)
    assert compiled.plan is not None, compiled.diagnostics
    folder = tmp_path / "taken"
    folder.mkdir()
    (folder / "a.json").write_text(json.dumps(compiled.plan["rows"]["vllm-aggregated"]["configuration"]))
    status, output = imported(folder)
    assert status == 0, output
    back = (tmp_path / "taken.campaign").read_text("utf-8")
    assert written in back
    assert problems(re.sub(r'(wheel\s*= "[^"]*")', rf'\1 sha256 = "{HASH}"', back), tmp_path) == []


def test_quotes_in_what_a_person_says_are_written_as_the_language_has_them(tmp_path: Path) -> None:
    text = new("q", *WHEELS[:4], "--relation", 'the "next" \\ one', "--purpose", 'Is "b" as \\ good?', "--trace",
               "t.jsonl", "--row", "vllm-aggregated")  # fmt: skip
    assert problems(with_pins(text), tmp_path) == []


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("{", "is not JSON"),
        ("[]", "is no qualification configuration"),
        (json.dumps({**CONFIGURATION, "source_revision": "f" * 40}), "carries source_revision"),
    ],
)
def test_what_is_no_configuration_is_named(content: str, said: str, tmp_path: Path) -> None:
    folder = tmp_path / "configs"
    folder.mkdir()
    (folder / "a.json").write_text(content)
    status, output = imported(folder)
    assert status == 2
    assert said in output
