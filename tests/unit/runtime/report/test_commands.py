"""`aisimc report` and `aisimc diff` as commands: what they print and how they end."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest
from click.testing import CliRunner, Result

from aisimc_runtime.command import diff, report
from aisimc_runtime.command.run import limits_hit
from aisimc_runtime.compare.subjects import WALL_CLOCK
from aisimc_runtime.report import build
from aisimc_runtime.report.manifest import write_manifest
from tests.builders import outcomes, records


def run(command: object, *arguments: object) -> Result:
    return CliRunner().invoke(command, [str(argument) for argument in arguments])  # type: ignore[arg-type]


@pytest.mark.parametrize(("outcome", "status"), [("pass", 0), ("exceptions", 0), ("difference", 1), ("blocked", 3)])
@pytest.mark.parametrize("style", ["text", "json", "md", "html", "junit", "statement"])
def test_reports_end_with_the_verdicts_status(tmp_path: Path, outcome: str, status: int, style: str) -> None:
    folder = outcomes.OUTCOMES[outcome](tmp_path / "run")
    printed = run(report.command, folder, "--format", style)
    assert printed.exit_code == status
    assert "hand-made" in printed.output
    out = tmp_path / "out"
    assert run(report.command, folder, "--format", style, "-o", out).exit_code == status
    assert "hand-made" in out.read_text()
    assert sorted(path.name for path in folder.iterdir() if path.name.startswith("report")) == []


def test_a_report_that_cannot_be_made(tmp_path: Path) -> None:
    result = run(report.command, tmp_path)
    assert result.exit_code == 2
    assert "aisimc: error:" in result.output


def test_diff_of_two_records(tmp_path: Path) -> None:
    a = records.vllm_record()
    b = records.changed(a)
    b["per_request"][4]["first_token_ms"] += 0.25
    first, second = records.write(a, tmp_path / "a.jsonl"), records.write(b, tmp_path / "b.jsonl")
    result = run(diff.command, first, second)
    assert result.exit_code == 1
    assert "first parting 60.500 ms, request_5 first_token_ms" in result.output
    assert "/per_request/*/first_token_ms" in result.output
    assert run(diff.command, first, first).exit_code == 0
    assert orjson.loads(run(diff.command, first, second, "--json").output)["values"] == 1


def test_diff_of_raw_reports_leaves_the_wall_clock_out(tmp_path: Path) -> None:
    raw = records.vllm_record()["summary"] | {"per_request": records.vllm_record()["per_request"]}
    paths = []
    for number in (1, 2):
        path = tmp_path / f"{number}.json"
        path.write_bytes(orjson.dumps(raw | dict.fromkeys(WALL_CLOCK, 1.0 * number)))
        paths.append(path)
    result = run(diff.command, *paths)
    assert result.exit_code == 0
    assert "wall_time_ms" in result.output
    canonical = records.write(records.vllm_record(), tmp_path / "c.jsonl")
    assert run(diff.command, paths[0], canonical).exit_code == 2


def test_diff_of_a_run_and_a_row(tmp_path: Path) -> None:
    folder = outcomes.differing(tmp_path / "run")
    by_run = run(diff.command, folder, "--row", outcomes.NAME)
    by_row = run(diff.command, folder / "rows" / outcomes.NAME)
    assert by_run.exit_code == by_row.exit_code == 1
    assert by_run.output == by_row.output
    assert "candidate" in by_run.output
    assert run(diff.command, folder).exit_code == 2
    assert "rows: vllm-aggregated" in run(diff.command, folder).output
    assert run(diff.command, folder, "--row", "nothing").exit_code == 2
    assert "its rows are vllm-aggregated" in run(diff.command, folder, "--row", "nothing").output
    assert "did you mean `vllm-aggregated`?" in run(diff.command, folder, "--row", "vllm-agregated").output
    assert run(diff.command, folder, "--row", "../rows/vllm-aggregated").exit_code == 2


def test_diff_of_rows_that_agree_needs_no_records(tmp_path: Path) -> None:
    folder = outcomes.passing(tmp_path / "run")
    assert run(diff.command, folder, "--row", outcomes.NAME).exit_code == 0
    other = outcomes.passing(tmp_path / "other")
    assert run(diff.command, folder, other, "--row", outcomes.NAME).exit_code == 0


def test_diff_says_when_a_record_was_not_kept(tmp_path: Path) -> None:
    folder, other = outcomes.passing(tmp_path / "run"), outcomes.differing(tmp_path / "other")
    result = run(diff.command, folder, other, "--row", outcomes.NAME)
    assert result.exit_code == 3
    assert "was not kept" in result.output


@pytest.mark.parametrize("content", [b"", b"no json", b"[]", b'{"per_request":[{"a":1}'])
def test_diff_of_what_is_no_record(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "x"
    path.write_bytes(content)
    good = records.write(records.vllm_record(), tmp_path / "good")
    result = run(diff.command, path, good)
    assert result.exit_code == 3
    assert "Traceback" not in result.output
    assert run(diff.command, tmp_path / "absent", good).exit_code == 2


@pytest.mark.parametrize(
    "name", ["artifacts.json", "journal.jsonl", "rows/vllm-aggregated/replays/candidate-2/qualification.jsonl"]
)
@pytest.mark.parametrize("damage", ["gone", "edited", "other JSON"])
def test_a_finished_run_that_was_damaged_gives_no_report(tmp_path: Path, name: str, damage: str) -> None:
    """Found by hand: with a file gone or edited, a report still said PASS; only `verify` saw it."""
    folder = outcomes.OUTCOMES["pass"](tmp_path / "run")
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.is_file():
        path.write_text("{}\n")
    write_manifest(folder)
    assert run(report.command, folder).exit_code == 0
    if damage == "gone":
        path.unlink()
    else:
        path.write_bytes(b"[]\n" if damage == "other JSON" else path.read_bytes() + b" ")
    result = run(report.command, folder)
    assert result.exit_code == 3
    assert name in result.output and "aisimc verify" in result.output
    assert "PASS" not in result.output


@pytest.mark.parametrize("columns", [40, 80])
def test_diff_breaks_no_pattern_and_names_the_command_for_the_rest(
    tmp_path: Path, columns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    folder = outcomes.differing(tmp_path / "run")
    result = run(diff.command, folder, "--row", outcomes.NAME, "--limit", 1)
    lines = result.output.splitlines()
    assert [line for line in lines if line != line.rstrip()] == []
    assert any(line.endswith("  /per_request/*/admission_history/*/at_ms") for line in lines)
    (again,) = [line.split() for line in lines if "--limit 0" in line]
    every = run(diff.command, *again[2:])
    assert every.output.count("/per_request/*/first_admit_ms") == 1
    assert "more class" not in every.output


def test_the_mark_beside_events_is_explained(tmp_path: Path) -> None:
    folder = outcomes.differing(tmp_path / "run")
    printed = run(diff.command, folder, "--row", outcomes.NAME).output
    assert "\n  › " in printed
    assert printed.count("  › from the instant on at which they part") == 1


def test_limits_that_ended_replays_are_named_with_their_size(tmp_path: Path) -> None:
    made = build(outcomes.passing(tmp_path / "run"))
    assert limits_hit(made) == []
    replays = [row["arms"]["baseline"]["replays"][0] for row in made["rows"]]
    replays[0] |= {"limit": "memory", "error": "more than 512 MiB of memory: ended by the memory limit"}
    replays[1] |= {"limit": "time", "error": "no end after 1800 s: ended by the time limit"}
    assert limits_hit(made) == ["the memory limit (512 MiB)", "the time limit (1800 s)"]
