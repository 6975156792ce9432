"""docs/performance-gate.md quotes figures and an example; they are those of the code."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from aisimc_compiler.plan import schedule
from aisimc_runtime.gate import causes, sampler
from aisimc_runtime.gate.dependence import FURTHER_LAGS
from aisimc_runtime.gate.design import CAUSES
from aisimc_runtime.gate.effect import LEVEL
from aisimc_runtime.gate.order import LOWER_ORDER, UPPER_ORDER, coverage


@pytest.fixture(scope="module")
def page(root: Path) -> str:
    return (root / "docs" / "performance-gate.md").read_text()


def test_coverage_and_orders(page: str) -> None:
    exact = coverage(schedule.PAIRS)
    assert f"{float(1 - exact.lower):.6f}" in page
    assert f"Each bound holds with probability {float(exact.lower):.2%}".replace("%", " %") in page
    assert f"both together with {float(exact.both):.2%}".replace("%", " %") in page
    assert f"{float(coverage(60, lower_order=25).lower):.1%}".replace("%", " %") in page
    assert (LOWER_ORDER, UPPER_ORDER) == (24, 37)


def test_limits_of_the_environment(page: str) -> None:
    for share in (causes.RUN_DELAY_SHARE, causes.STEAL_SHARE):
        assert f"more than {share:.0%}".replace("%", " %") in page
    assert causes.NEIGHBOUR_SHARE == 0.5
    assert "more than half of the node's other CPUs" in page
    assert f"After {sampler.INVALIDATION_LIMIT} invalidated rounds" in page
    assert f"from 0.25 s to {sampler.LONGEST_WAIT_S:.0f} s" in page
    assert causes.LEAST_TICKS == 5
    assert set(re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE)) >= set(CAUSES)


def test_diagnostics_and_bootstrap(page: str) -> None:
    assert FURTHER_LAGS == (2, 3, 4, 5, 10)
    assert "Lags 2 to 5 and 10" in page
    assert f"a {LEVEL:.0%} percentile interval".replace("%", " %") in page


def test_the_example_is_a_design_that_compiles(page: str, root: Path, tmp_path: Path) -> None:
    from aisimc_compiler.api import check_file

    [block] = re.findall(r"```\n(performance \{.*?\n\})\n```", page, re.DOTALL)
    shared = (root / "specs" / "common" / "gate.campaign").read_text()
    edited = re.sub(r"\nperformance \{.*?\n\}\n", lambda _: f"\n{block}\n", shared, flags=re.DOTALL)
    assert edited != shared
    (tmp_path / "common").mkdir()
    (tmp_path / "common" / "gate.campaign").write_text(edited)
    (tmp_path / "performance.campaign").write_text((root / "specs" / "performance.campaign").read_text())
    assert [d.message for d in check_file(tmp_path / "performance.campaign").diagnostics] == []


def test_the_campaigns_that_it_names_are_there(page: str, root: Path) -> None:
    for name in re.findall(r"aisimc run (\S+)", page):
        assert (root / name).is_file()
