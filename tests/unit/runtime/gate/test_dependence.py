"""Serial correlation, trends, and what breaches a threshold."""

from __future__ import annotations

from math import exp

import pytest

from aisimc_runtime.gate.dependence import (
    Diagnostic,
    Series,
    autocorrelation,
    diagnose,
    pearson,
    ranks,
    spearman,
)

LIMITS = {"lag1_autocorrelation": 0.30, "order_trend": 0.30, "temperature_trend": 0.30}
RATIOS = [1.02, 0.99, 1.01, 1.05, 0.97, 1.03, 1.0, 1.01]


def named(found: tuple[Diagnostic, ...], name: str) -> Diagnostic:
    return next(item for item in found if item.name == name)


def alternating(count: int = 60) -> list[float]:
    return [1.0 + 0.01 * (-1) ** place for place in range(count)]


def test_ranks_share_ties() -> None:
    assert ranks([10.0, 20.0, 10.0, 30.0]) == [1.5, 3.0, 1.5, 4.0]


def test_figures_agree_with_scipy() -> None:
    """Values computed with SciPy 1.16 (spearmanr) and NumPy (corrcoef)."""
    logs = [0.019802627296179712, -0.01005033585350145, 0.009950330853168092, 0.04879016416943201]
    logs += [-0.030459207484708574, 0.02955880224154443, 0.0, 0.009950330853168092]
    assert spearman(RATIOS, [float(i) for i in range(8)]) == pytest.approx(-0.05988131309566294)
    assert autocorrelation(logs, 1) == pytest.approx(-0.6787506143803629)


def test_correlation_of_what_does_not_vary_is_not_known() -> None:
    assert pearson([1.0, 1.0, 1.0], [1.0, 2.0, 3.0]) is None
    assert pearson([0.1 + 0.2, 0.3, 0.3], [1.0, 2.0, 3.0]) is None  # rounding is no variation
    assert pearson([1.0, 2.0], [1.0, 2.0]) is None


def test_perfect_correlation_stays_within_one() -> None:
    values = [0.1 * place for place in range(60)]
    assert pearson(values, [3 * value for value in values]) == pytest.approx(1.0)
    assert abs(pearson(values, [-value for value in values]) or 0.0) <= 1.0


def test_alternation_breaches_the_lag_threshold() -> None:
    found = diagnose(Series(alternating()), LIMITS)
    lag1 = named(found, "lag1_autocorrelation")
    assert lag1.breached
    assert lag1.value == pytest.approx(-1.0)
    assert not named(found, "order_trend").breached
    assert named(found, "lag2_autocorrelation").value == pytest.approx(1.0)
    assert not named(found, "lag2_autocorrelation").breached  # information only


def test_drift_breaches_the_trend_threshold() -> None:
    drifting = [exp(0.0005 * place + 0.004 * ((place * 37) % 11 - 5)) for place in range(60)]
    trend = named(diagnose(Series(drifting), LIMITS), "order_trend")
    assert trend.breached
    assert (trend.value or 0) > 0.3


def test_a_threshold_bounds_the_absolute_value_and_may_be_reached() -> None:
    value = named(diagnose(Series(RATIOS), {}), "lag1_autocorrelation").value
    assert value is not None
    assert value < 0
    reached = diagnose(Series(RATIOS), {"lag1_autocorrelation": abs(value)})
    assert not named(reached, "lag1_autocorrelation").breached
    below = diagnose(Series(RATIOS), {"lag1_autocorrelation": abs(value) - 1e-9})
    assert named(below, "lag1_autocorrelation").breached


def test_a_required_figure_that_cannot_be_computed_is_a_breach() -> None:
    found = diagnose(Series([1.0] * 60), LIMITS)
    assert named(found, "lag1_autocorrelation").breached
    assert "all ratios are equal" in named(found, "order_trend").note


def test_temperature_counts_only_where_it_is_told_and_changes() -> None:
    silent = named(diagnose(Series(RATIOS), LIMITS), "temperature_trend")
    constant = named(diagnose(Series(RATIOS, temperatures_c=[50.0] * 8), LIMITS), "temperature_trend")
    warming = named(
        diagnose(Series(RATIOS, temperatures_c=[40 + 100 * r for r in RATIOS]), LIMITS), "temperature_trend"
    )
    assert (silent.breached, silent.note) == (False, "the machine tells no temperature")
    assert (constant.breached, constant.note) == (False, "the temperature did not change")
    assert warming.breached


def test_undeclared_temperature_is_shown_and_judges_nothing() -> None:
    limits = {key: LIMITS[key] for key in ("lag1_autocorrelation", "order_trend")}
    found = named(diagnose(Series(RATIOS, temperatures_c=[100 * r for r in RATIOS]), limits), "temperature_trend")
    assert found.value == pytest.approx(1.0)
    assert not found.breached


def test_elapsed_time_and_frequency_are_information() -> None:
    series = Series(RATIOS, elapsed_s=[float(i) for i in range(8)], frequencies_mhz=[3000 * r for r in RATIOS])
    found = diagnose(series, LIMITS)
    assert named(found, "frequency_trend").value == pytest.approx(1.0)
    assert named(found, "elapsed_time_trend").threshold is None
