"""PASS, FAIL and INCONCLUSIVE from ratios, and the campaign's result from its rows."""

from __future__ import annotations

import random

import pytest

from aisimc_runtime.gate.decision import Decision, Result, decide, overall
from aisimc_runtime.gate.dependence import Series

LIMITS = {"lag1_autocorrelation": 0.30, "order_trend": 0.30}


def shuffled(values: list[float], seed: int = 0) -> list[float]:
    """An order whose lag and trend are small, found once and fixed."""
    out = list(values)
    random.Random(seed).shuffle(out)
    return out


def gate(ratios: list[float], threshold: float = 1.05) -> Decision:
    return decide(Series(ratios), threshold=threshold, thresholds=LIMITS)


def spread(center: float, step: float = 0.0001) -> list[float]:
    return shuffled([center + step * (place - 29.5) for place in range(60)])


@pytest.mark.parametrize(
    ("center", "result"),
    [(1.0, Result.PASS), (0.5, Result.PASS), (1.10, Result.FAIL), (1.05, Result.INCONCLUSIVE)],
)
def test_results(center: float, result: Result) -> None:
    assert gate(spread(center)).result is result


def test_an_upper_bound_at_the_threshold_passes_and_a_lower_one_there_does_not_fail() -> None:
    ratios = shuffled([1.0 + 0.001 * place for place in range(60)])
    assert gate(ratios, threshold=1.0 + 0.001 * 36).result is Result.PASS
    at_lower = gate(ratios, threshold=1.0 + 0.001 * 23)
    assert at_lower.result is Result.INCONCLUSIVE
    assert gate(ratios, threshold=1.0 + 0.001 * 23 - 1e-9).result is Result.FAIL


def test_dependence_comes_first_and_leaves_no_bounds() -> None:
    decision = gate(sorted(spread(1.5)))
    assert decision.result is Result.INCONCLUSIVE
    assert decision.bounds is None
    assert "order_trend is +1.000, beyond ±0.3" in decision.reason


def test_the_size_of_an_outlier_changes_nothing() -> None:
    ratios = sorted(spread(1.0))
    huge = shuffled([*ratios[:-1], 50.0])
    assert gate(huge).bounds == gate(shuffled(ratios)).bounds


@pytest.mark.parametrize(
    ("rows", "size_failed", "result"),
    [
        (["PASS", "PASS"], False, "PASS"),
        (["PASS", "PASS"], True, "FAIL"),
        (["PASS", "INCONCLUSIVE"], False, "INCONCLUSIVE"),
        (["NOT_MEASURED", "INCONCLUSIVE"], False, "INCONCLUSIVE"),
        (["PASS", "NOT_MEASURED"], False, "NOT_MEASURED"),
        (["NOT_MEASURED", "INCONCLUSIVE", "FAIL"], False, "FAIL"),
        (["NOT_MEASURED"], True, "FAIL"),
        ([], False, "NOT_MEASURED"),
    ],
)
def test_overall_is_the_worst(rows: list[str], size_failed: bool, result: str) -> None:
    assert overall(map(Result, rows), size_failed=size_failed) is Result(result)
