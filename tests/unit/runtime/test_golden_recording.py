"""`aisimc golden record`: the file that it writes, and rows that give no point, and why."""

from __future__ import annotations

from pathlib import Path

import pytest
from ruamel.yaml import YAML

from aisimc_compiler.plan.golden import golden_row
from aisimc_compiler.schemas.problems import problems
from aisimc_runtime.failures import Refused
from aisimc_runtime.golden.points import Point, left_out, points_of
from aisimc_runtime.golden.writing import merged
from aisimc_runtime.report.writing import write_all
from tests.builders import outcomes


@pytest.mark.parametrize(
    ("outcome", "why"),
    [("exceptions", "it passed with exceptions"), ("difference", "it failed"), ("blocked", "it is not finished")],
)
@pytest.mark.parametrize("named", [True, False])
def test_a_row_that_gives_no_point_says_why(tmp_path: Path, outcome: str, why: str, named: bool) -> None:
    folder = outcomes.OUTCOMES[outcome](tmp_path / "run")
    write_all(folder)
    with pytest.raises(Refused) as caught:
        points_of(folder, [outcomes.NAME] if named else [], digest=False)
    assert f"row {outcomes.NAME}" in caught.value.message
    assert why in caught.value.message
    assert bool(caught.value.help) == (outcome == "exceptions")
    assert left_out(folder) == [
        f"row {outcomes.NAME}: {why}"
        + (", and a point is what both arms give alike" if outcome == "exceptions" else "")
    ]


def test_a_row_that_passed_leaves_nothing_out(tmp_path: Path) -> None:
    folder = outcomes.passing(tmp_path / "run")
    write_all(folder)
    assert left_out(folder) == []


RUN = {"revision": "r1", "artifact_sha256": "a" * 64, "plan_digest": "b" * 64, "report_digest": "c" * 64}
INPUT = {"input_sha256": "d" * 64, "slice_sha256": "e" * 64}


def point(row: str) -> Point:
    return Point(row, {"engine": "vllm", "qualified": INPUT, "expect": {"completed_requests": 5}})


def test_a_new_file_says_once_who_qualified_its_points(tmp_path: Path) -> None:
    path = tmp_path / "g.yaml"
    path.write_text(merged(path, RUN, [point("a"), point("b")], on="2026-11-30"), "utf-8")
    document = YAML(typ="safe").load(path.read_text("utf-8"))
    assert problems("golden", document) == []
    assert document["qualified"] == {**RUN, "on": "2026-11-30"}
    assert document["rows"]["a"]["qualified"] == INPUT
    assert golden_row(path.read_bytes(), "b")["qualified"] == {**RUN, **INPUT, "on": "2026-11-30"}


def test_a_row_recorded_later_says_where_it_differs_and_the_others_stay_what_they_were(tmp_path: Path) -> None:
    path = tmp_path / "g.yaml"
    path.write_text(merged(path, RUN, [point("a"), point("b")], on="2026-11-30"), "utf-8")
    before = golden_row(path.read_bytes(), "a")
    later = {**RUN, "revision": "r2", "report_digest": "f" * 64}
    path.write_text(merged(path, later, [point("b")], on="2026-12-01"), "utf-8")
    assert golden_row(path.read_bytes(), "a") == before
    assert golden_row(path.read_bytes(), "b")["qualified"] == {**later, **INPUT, "on": "2026-12-01"}


def test_a_file_without_a_common_word_gets_whole_rows(tmp_path: Path) -> None:
    path = tmp_path / "g.yaml"
    path.write_text("schema: 1\nqualified: {}\nrows:\n  old:\n    expect: {}  # mine\n", "utf-8")
    text = merged(path, RUN, [point("a")], on="2026-11-30")
    assert "# mine" in text
    path.write_text(text, "utf-8")
    assert golden_row(path.read_bytes(), "a")["qualified"] == {**RUN, **INPUT, "on": "2026-11-30"}
    assert golden_row(path.read_bytes(), "old")["qualified"] == {}
