"""The rows of a report on a terminal: figures and digests whole at every width, and nothing left out in silence."""

from __future__ import annotations

import io
import re
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from aisimc_runtime.report import build, terminal
from aisimc_runtime.report import wording as say
from tests.builders import outcomes
from tests.unit.runtime.report.test_reading import slower

Report = dict[str, Any]
LONG = 1_122_556.1234
HEADS = ("topology", "requests", "pressure", "virtual ms", "canonical SHA-256")


def long_figures(report: Report) -> Report:
    """The report with figures as long as those of real corpora."""
    for row in report["rows"]:
        for number, arm in enumerate(row["arms"].values()):
            if arm["evidence"] is not None:
                differs = row["result"] != "PASS"
                arm["evidence"]["virtual_duration_ms"] = LONG + number * differs
                arm["evidence"]["requests"] = 12_000
    return report


def rows_part(report: Report, width: int) -> str:
    stream = io.StringIO()
    terminal.summary(report, Console(file=stream, width=width, color_system=None, highlight=False))
    return stream.getvalue().split("\n\n")[1]


@pytest.fixture(params=["pass", "exceptions", "difference", "instability", "slower"])
def report(request: pytest.FixtureRequest, tmp_path: Path) -> Report:
    make = outcomes.OUTCOMES.get(request.param, slower)
    return long_figures(build(make(tmp_path / "run")))


@pytest.mark.parametrize("width", [40, 60, 80, 100, 140])
def test_figures_and_digests_are_whole_and_what_is_left_out_is_named(report: Report, width: int) -> None:
    text = rows_part(report, width)
    assert "…" not in text
    assert [line for line in text.splitlines() if len(line) > width] == []
    words = text.split()
    for row in report["rows"]:
        for cell in (say.both_pressures(row), say.virtual_ms(row), say.digest_cell(row), say.result(row)):
            assert set(cell.split()) <= set(words), cell
    gone = re.search(r"not shown at this width: (.*)", text)
    missing = gone[1].split(", ") if gone else []
    assert [head for head in HEADS if head not in text.partition("not shown")[0]] == missing
    assert missing == ["topology", "requests"][: len(missing)]
    if width == 140:
        assert missing == []


@pytest.mark.parametrize("width", [40, 60, 80, 100, 140])
def test_an_arrow_is_explained_where_there_is_one(report: Report, width: int) -> None:
    text = rows_part(report, width)
    assert ("→" in text.replace(say.ARROWS, "")) == (say.ARROWS.split()[0] + " leads from" in text)


def test_two_values_stand_one_above_the_other_before_the_next_column_goes(tmp_path: Path) -> None:
    report = long_figures(build(slower(tmp_path / "run")))
    lines = rows_part(report, 80).splitlines()
    assert lines[0].split() == ["row", "result", "requests", "pressure", "virtual", "ms", "canonical", "SHA-256"]
    assert lines[1].split()[4] == "1,122,556.123"
    assert lines[2].split()[2:4] == ["→", "1,122,557.123"]
    assert lines[2].split()[4] == "≠"
    assert len(lines[2].split()[5]) == 12
