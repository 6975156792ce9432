"""The campaigns that users start from, run as they stand: quickstart, the three demonstrations, the fixtures."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.builders.schemas import problems
from tests.conftest import ROOT

pytestmark = [pytest.mark.cargo, pytest.mark.slow]

SPECS = ROOT / "specs"
FIXTURES = sorted(path.stem for path in (SPECS / "fixtures").glob("*.campaign"))


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One store for all of them, so that an engine that several use is built once."""
    return tmp_path_factory.mktemp("store")


def run(campaign: str, store: Path, folder: Path) -> tuple[int, dict[str, Any], str, Path]:
    """Exit status, report, standard output and run folder of one campaign."""
    command = [
        sys.executable,
        "-m",
        "aisimc_runtime",
        "run",
        str(SPECS / f"{campaign}.campaign"),
        "--runs",
        str(folder),
    ]
    env = os.environ | {"AISIMC_STORE": str(store), "NO_COLOR": "1"}
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1), done.stdout + done.stderr
    (place,) = (path for path in folder.iterdir() if path.is_dir())
    report = json.loads((place / "report.json").read_bytes())
    assert problems("report", report) == []
    return done.returncode, report, done.stdout, place


def test_the_quickstart_shows_every_lifecycle(store: Path, tmp_path: Path) -> None:
    status, report, _, place = run("quickstart", store, tmp_path)
    assert (status, report["verdict"]["semantic"]) == (0, "PASS")
    counters = {
        row.name: json.loads((row / "replays" / "baseline-1" / "qualification.jsonl").read_bytes())
        for row in (place / "rows").iterdir()
    }
    assert 1 <= counters["vllm-aggregated"]["vllm_preemptions"] <= 3
    assert 1 <= counters["sglang-disaggregated"]["sglang_retractions"] <= 3
    assert counters["sglang-disaggregated"]["handoffs_complete"] == 400
    assert counters["trtllm-no-evict"]["pressure_records"] == 0
    assert all(row["requests_with_reuse"] > 0 for row in counters.values())
    assert all(row["requests_with_short_output"] == 0 for row in counters.values())


def test_a_refactoring_passes(store: Path, tmp_path: Path) -> None:
    status, report, _, _ = run("refactoring", store, tmp_path)
    assert (status, report["verdict"]["semantic"]) == (0, "PASS")


def test_a_correction_passes_with_its_record(store: Path, tmp_path: Path) -> None:
    status, report, _, place = run("correction", store, tmp_path)
    assert (status, report["verdict"]["semantic"]) == (0, "PASS_WITH_SEMANTIC_EXCEPTIONS")
    tests = {arm: json.loads((place / "exceptions" / "admission-at-pass-start" / f"{arm}.json").read_bytes())
             for arm in ("baseline", "candidate")}  # fmt: skip
    assert (tests["baseline"]["passed"], tests["candidate"]["passed"]) == (False, True)
    assert "admitted at 10.0 ms" in tests["baseline"]["stdout"]


def test_a_regression_fails_and_its_first_parting_is_named(store: Path, tmp_path: Path) -> None:
    status, report, shown, place = run("regression", store, tmp_path)
    assert (status, report["verdict"]["semantic"]) == (1, "FAIL")
    parting = json.loads((place / "rows" / "vllm-aggregated" / "difference.json").read_bytes())["first_parting"]
    assert parting is not None
    assert "request_" in shown


@pytest.mark.parametrize("name", FIXTURES)
def test_a_lifecycle_happens_and_happens_the_same_way_twice(name: str, store: Path, tmp_path: Path) -> None:
    status, report, shown, _ = run(f"fixtures/{name}", store, tmp_path)
    assert (status, report["verdict"]["semantic"]) == (0, "PASS"), shown
