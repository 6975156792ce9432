"""Section, picture, terminal lines and the plan's description, from a gate whose figures are known."""

from __future__ import annotations

import json
import re
from fractions import Fraction
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from aisimc_compiler.plan.schedule import steps
from aisimc_runtime.gate import terminal
from aisimc_runtime.gate.order import coverage
from aisimc_runtime.gate.pictures import ratios_svg
from aisimc_runtime.gate.result import build, not_measured
from aisimc_runtime.gate.schedule import describe
from aisimc_runtime.gate.section import disagreements, section
from aisimc_runtime.gate.stage import gate_folder
from tests.unit.runtime.gate.making import DESIGN, plan
from tests.unit.runtime.gate.test_sampler import FakeBench, failed, recorded, run


@pytest.fixture
def run_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A run whose only gated row was measured."""
    monkeypatch.setattr("os.fsync", lambda handle: None)
    (tmp_path / "plan.json").write_text(json.dumps(plan()))
    sizes = {"source": "embedded", "size_bytes": 1000, "text_size_bytes": 500}
    (tmp_path / "artifacts.json").write_text(json.dumps({"baseline": sizes, "candidate": sizes}))
    folder = gate_folder(tmp_path, "row")
    folder.mkdir(parents=True)
    run(folder, FakeBench())
    keep(folder, build(DESIGN, "row", recorded(folder)))
    return tmp_path


def keep(folder: Path, gate: dict[str, Any]) -> None:
    (folder / "gate.json").write_text(json.dumps(gate))


def shown(run_folder: Path) -> dict[str, Any]:
    found = section(run_folder)
    assert found is not None
    return found


def test_the_section_holds_the_result_and_every_sample(run_folder: Path) -> None:
    found = shown(run_folder)
    assert found["result"] == "PASS"
    [row] = found["rows"]
    assert len(row["samples"]) == 130
    assert {sample["status"] for sample in row["samples"]} == {"ok"}
    assert row["samples"][0]["timing"]["replay_execution_ms"] == 20.07
    assert Fraction(row["bounds"]["one_sided_coverage_exact"]) == coverage(60).lower


def test_no_performance_block_no_section(tmp_path: Path) -> None:
    (tmp_path / "plan.json").write_text(json.dumps({"performance": None}))
    assert section(tmp_path) is None


def test_growth_fails_a_gate_whose_times_pass(run_folder: Path) -> None:
    arms = {arm: {"source": "embedded", "size_bytes": size} for arm, size in (("baseline", 100), ("candidate", 106))}
    (run_folder / "artifacts.json").write_text(json.dumps(arms))
    found = shown(run_folder)
    assert (found["result"], found["size"]["result"], found["rows"][0]["result"]) == ("FAIL", "FAIL", "PASS")
    (run_folder / "plan.json").write_text(json.dumps(plan(size_explanation="a new engine")))
    assert shown(run_folder)["result"] == "PASS"


def test_a_gate_that_was_never_reached_is_not_measured(run_folder: Path) -> None:
    (run_folder / "plan.json").write_text(json.dumps(plan(rows=("row", "later"))))
    found = shown(run_folder)
    assert found["result"] == "NOT_MEASURED"
    assert found["rows"][1]["reason"] == "the run ended before the gate"


def test_an_unfinished_gate_is_not_measured_and_shows_its_samples(run_folder: Path) -> None:
    (gate_folder(run_folder, "row") / "gate.json").unlink()
    [row] = shown(run_folder)["rows"]
    assert row["result"] == "NOT_MEASURED"
    assert "not finished" in row["reason"]
    assert len(row["samples"]) == 130


def test_a_changed_result_is_found_out(run_folder: Path) -> None:
    assert disagreements(run_folder) == []
    folder = gate_folder(run_folder, "row")
    gate = json.loads((folder / "gate.json").read_text())
    keep(folder, gate | {"result": "FAIL"})
    assert disagreements(run_folder) == ["row: gate.json does not follow from its samples (result)"]


def test_a_changed_sample_is_found_out(run_folder: Path) -> None:
    path = gate_folder(run_folder, "row") / "samples.jsonl"
    path.write_text(re.sub(r'"replay_execution_ms":20\.\d+', '"replay_execution_ms":19.0', path.read_text(), count=40))
    [found] = disagreements(run_folder)
    assert "pairs" in found


def test_a_last_bit_of_a_logarithm_is_no_disagreement(run_folder: Path) -> None:
    folder = gate_folder(run_folder, "row")
    gate = json.loads((folder / "gate.json").read_text())
    gate["effect"]["geometric_mean"] *= 1 + 1e-15
    keep(folder, gate)
    assert disagreements(run_folder) == []


def test_the_picture_shows_every_ratio_twice_and_both_bounds(run_folder: Path) -> None:
    [row] = shown(run_folder)["rows"]
    root = ElementTree.fromstring(ratios_svg(row))
    svg = "{http://www.w3.org/2000/svg}"
    points = [c for c in root.iter(f"{svg}circle") if c.get("r") == "3"]
    assert len(points) == 120
    assert sum(c.get("class") == "b" for c in points) == 60  # thirty baseline-first pairs in either panel
    assert len([c for c in root.iter(f"{svg}circle") if c.get("class") == "k"]) == 2
    ys = [float(c.get("cy") or "nan") for c in points[60:]]
    assert ys == sorted(ys, reverse=True)  # sorted upwards: y falls
    assert "currentColor" in ratios_svg(row)
    assert "<script" not in ratios_svg(row)


def test_the_picture_of_a_dependent_gate_has_no_bounds(run_folder: Path) -> None:
    [row] = shown(run_folder)["rows"]
    row["bounds"] |= {"applied": False, "lower": None, "upper": None}
    text = ratios_svg(row)
    assert "bounds not applied" in text
    assert 'class="k"' not in text


def test_no_ratios_no_picture() -> None:
    assert ratios_svg(not_measured(DESIGN, "row", "no metric")) == ""


def test_names_cannot_break_the_picture(run_folder: Path) -> None:
    [row] = shown(run_folder)["rows"]
    picture = ElementTree.fromstring(ratios_svg(row | {"row": "<&>", "result": '"'}))
    assert any("<&>" in "".join(part.itertext()) or "<&>" in str(part.attrib) for part in picture.iter())


def test_the_terminal_says_the_result_first(run_folder: Path) -> None:
    found = terminal.lines(shown(run_folder))
    assert found[0] == "performance: PASS (engine-only round-robin replay-loop parity)"
    text = "\n".join(found)
    assert "60 valid pairs of 130 processes" in text
    assert "one-sided 95.4% bounds" in text
    assert "secondary, not deciding" in text
    assert "medians of baseline and candidate: loop 20.1 and 20.5 ms, set-up 1.0 and 1.0 ms" in text
    assert re.search(r"median ratio 1\.0\d+ with the baseline first, 1\.0\d+ with the candidate first", text)
    assert "size: PASS: artifact +0.0%, .text +0.0%" in text


def test_long_times_are_parted_in_thousands(run_folder: Path) -> None:
    section = shown(run_folder)
    section["rows"][0]["diagnostics_ms"]["baseline"]["setup_ms"] = 12345.67
    assert "set-up 12,345.7 and 1.0 ms" in "\n".join(terminal.lines(section))


def test_the_terminal_of_what_was_not_measured(run_folder: Path) -> None:
    keep(gate_folder(run_folder, "row"), not_measured(DESIGN, "row", "the baseline exposes nothing"))
    (gate_folder(run_folder, "row") / "samples.jsonl").unlink()
    found = terminal.lines(shown(run_folder))
    assert found[1] == "  row: NOT_MEASURED: the baseline exposes nothing"


def test_the_terminal_of_a_failure(run_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = gate_folder(run_folder, "row")
    (folder / "samples.jsonl").unlink()
    run(folder, FakeBench(lambda at: failed("exit status 1: out of blocks") if at == 50 else None))
    text = "\n".join(terminal.lines(shown(run_folder)))
    [arm] = [step.arm for step in steps(DESIGN.seed, "row") if step.order == 50]
    assert f"FAIL: the {arm} failed in pair 20: exit status 1: out of blocks" in text
    assert "1 failed" in text


def test_the_plan_shows_the_whole_schedule() -> None:
    found = describe(plan()["performance"])
    pairs = "".join(re.sub(r"^ *pairs +\d+-\d+", "", line) for line in found if "pairs " in line and "-" in line)
    assert pairs.count("B") == pairs.count("C") == 30
    assert "seed 7" in "\n".join(found)
    assert describe(plan(rows=("a", "b"))["performance"], ["b"])[4].strip() == "b"
