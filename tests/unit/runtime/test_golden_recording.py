"""`aisimc golden record`: rows that give no point, and why."""

from __future__ import annotations

from pathlib import Path

import pytest

from aisimc_runtime.failures import Refused
from aisimc_runtime.golden.points import left_out, points_of
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
