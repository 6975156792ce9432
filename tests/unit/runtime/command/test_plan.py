"""`aisimc plan`: views, formats, statuses, and that it writes nothing but what -o names."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from aisimc_compiler.api import compile_file
from aisimc_runtime.planview.text import render
from tests.builders.texts import SPECS

EXAMPLES = Path(__file__).resolve().parents[3] / "cases" / "examples"
NIGHTLY = EXAMPLES / "nightly-conversation.campaign"


def aisimc(*arguments: str | Path, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", "from aisimc_runtime.command.main import main; main()", *map(str, arguments)],
        cwd=cwd,
        env={**os.environ, "AISIMC_STORE": str(cwd / "no-store"), **environment},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_the_view_shows_rows_parameters_counts_and_needs(tmp_path: Path) -> None:
    done = aisimc("plan", NIGHTLY, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    shown = done.stdout
    assert compile_file(NIGHTLY).plan_digest in shown
    for words in (
        "vllm-disaggregated-adp2-4",
        "6,337 blocks of 64, 16 sequences, 8,192 tokens, polynomial",
        "262,144 B a token at 100 GB/s, full_prompt",
        "32 replay processes",
        "the whole matrix, 8 rows",
        "pip downloads it",
    ):
        assert words in shown
    assert "\x1b[" not in shown
    assert list(tmp_path.iterdir()) == []


def test_colours_only_where_they_are_wanted(tmp_path: Path) -> None:
    assert "\x1b[" in aisimc("plan", NIGHTLY, "--color", "always", cwd=tmp_path).stdout


@pytest.mark.parametrize("options", [("--json",), ("--format", "json")])
def test_json_is_the_plan_and_nothing_else(options: tuple[str, ...], tmp_path: Path) -> None:
    done = aisimc("plan", NIGHTLY, *options, cwd=tmp_path)
    assert done.stdout.encode() == compile_file(NIGHTLY).plan_bytes
    assert done.stderr == ""


def test_a_saved_plan_is_the_same_plan(tmp_path: Path) -> None:
    saved = tmp_path / "plan.json"
    done = aisimc("plan", NIGHTLY, "-o", saved, cwd=tmp_path)
    assert done.returncode == 0 and "saved as" in done.stdout
    assert saved.read_bytes() == compile_file(NIGHTLY).plan_bytes
    assert [path.name for path in tmp_path.iterdir()] == ["plan.json"]
    again = aisimc("plan", saved, "--json", cwd=tmp_path)
    assert again.stdout.encode() == saved.read_bytes()


def test_a_plan_that_was_changed_is_refused(tmp_path: Path) -> None:
    saved = tmp_path / "plan.json"
    plan = json.loads(compile_file(NIGHTLY).plan_bytes)
    plan["determinism"]["repetitions"] = 1
    saved.write_text(json.dumps(plan))
    done = aisimc("plan", saved, cwd=tmp_path)
    assert done.returncode == 2
    assert "determinism.repetitions" in done.stderr and "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("kind", "first", "edge"),
    [
        ("dot", "digraph plan {", '"barrier" -> "replay/vllm-aggregated/baseline/1";'),
        ("mermaid", "flowchart LR", " --> "),
    ],
)
def test_the_graph(kind: str, first: str, edge: str, tmp_path: Path) -> None:
    done = aisimc("plan", NIGHTLY, "--graph", kind, cwd=tmp_path)
    assert done.returncode == 0
    assert done.stdout.startswith(first) and edge in done.stdout


def test_the_gates_whole_schedule_is_shown(tmp_path: Path) -> None:
    done = aisimc("plan", EXAMPLES / "everything.campaign", cwd=tmp_path)
    assert "then 130 timed ones" in done.stdout
    assert "fixed by seed 20261129" in done.stdout
    assert "pairs 41-60" in done.stdout


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("invalid/kv-router.campaign", "row.composition"),
        ("common/exclusions.campaign", "no `campaign` block"),
        ("absent.campaign", "cannot be read"),
        (".", "cannot be read"),
    ],
)
def test_what_is_refused(name: str, words: str, tmp_path: Path) -> None:
    done = aisimc("plan", EXAMPLES / name, "-o", tmp_path / "plan.json", cwd=tmp_path)
    assert done.returncode == 2
    assert words in done.stderr and "Traceback" not in done.stderr
    assert done.stdout == ""
    assert list(tmp_path.iterdir()) == []


def test_a_plan_that_cannot_be_saved(tmp_path: Path) -> None:
    done = aisimc("plan", NIGHTLY, "-o", tmp_path / "no" / "such" / "plan.json", cwd=tmp_path)
    assert done.returncode == 3
    assert done.stderr.startswith("aisimc: error: ") and "Traceback" not in done.stderr


def test_what_the_store_has_is_said_and_kept_out_of_the_plan(tmp_path: Path) -> None:
    from aisimc_runtime.planview.supplies import supplies

    plan = compile_file(NIGHTLY).plan
    assert plan is not None
    everything = list(supplies(plan, lambda sha256: True))
    nothing = list(supplies(plan, lambda sha256: False))
    assert [supply.have for supply in everything] == [True, True, True]
    assert [supply.download for supply in nothing] == [True, True, True]
    assert [supply.kind for supply in nothing] == ["wheel", "wheel", "input"]


@pytest.mark.parametrize(
    ("requests", "said"), [(["a"], "1 request"), (["a", "b"], "2 requests"), ("all", "all requests")]
)
def test_the_requests_of_an_exception_are_counted_in_words(requests: list[str] | str, said: str) -> None:
    plan = compile_file(next(path for path in SPECS if path.stem == "correction")).plan
    assert plan is not None
    (record,) = plan["exceptions"].values()
    shown = list(render({**plan, "exceptions": {"e": {**record, "requests": requests}}}, "0" * 64, []))
    assert any(line.endswith(f" of {said}") for line in shown)
