"""The bounds and their exact coverage."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from statistics import median

import pytest

from aisimc_runtime.gate import order


def test_coverage_is_the_binomial_one() -> None:
    exact = order.coverage(60)
    # P(B <= 23), B binomial(60, 1/2): 0.046230490536..., as SciPy's binom.cdf has it too.
    assert float(1 - exact.lower) == pytest.approx(0.04623049053646187, abs=1e-15)
    assert exact.lower == exact.upper
    assert float(exact.both) == pytest.approx(0.9075390189270762, abs=1e-15)


def test_24_and_37_are_the_tightest_orders_that_keep_95_percent() -> None:
    assert order.coverage(60).lower >= Fraction(95, 100) > order.coverage(60, lower_order=25).lower
    assert order.coverage(60).upper >= Fraction(95, 100) > order.coverage(60, upper_order=36).upper


def test_coverage_agrees_with_counting_every_outcome() -> None:
    """Five ratios, each above or below the median: X(2) is too high when at most one lies below."""
    too_high = sum(sum(signs) <= 1 for signs in product((0, 1), repeat=5))
    assert order.coverage(5, lower_order=2, upper_order=4).lower == 1 - Fraction(too_high, 32)


def test_bounds_are_the_24th_and_37th_smallest() -> None:
    found = order.bounds([float(value) for value in reversed(range(1, 61))])
    assert (found.lower, found.upper) == (24.0, 37.0)


@pytest.mark.parametrize("count", [0, 59, 61])
def test_bounds_want_exactly_sixty(count: int) -> None:
    with pytest.raises(ValueError, match=f"60 ratios, not {count}"):
        order.bounds([1.0] * count)


@pytest.mark.parametrize("values", [[3.0], [1.0, 2.0], [5.0, 1.0, 3.0], [4.0, 4.0, 1.0, 9.0]])
def test_median(values: list[float]) -> None:
    assert order.median(values) == median(values)


def test_no_median_of_nothing() -> None:
    with pytest.raises(ValueError, match="no values"):
        order.median([])
