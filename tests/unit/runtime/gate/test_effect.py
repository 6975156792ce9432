"""The secondary effect size."""

from __future__ import annotations

import random
from math import exp

import pytest

from aisimc_runtime.gate.effect import bootstrap


def ratios(center: float = 1.0) -> list[float]:
    generator = random.Random(3)
    return [center * exp(generator.gauss(0, 0.02)) for _ in range(60)]


def test_the_same_seed_gives_the_same_interval() -> None:
    assert bootstrap(ratios(), 5, resamples=200) == bootstrap(ratios(), 5, resamples=200)
    assert bootstrap(ratios(), 5, resamples=200) != bootstrap(ratios(), 6, resamples=200)


def test_the_interval_is_about_what_theory_says() -> None:
    """Mean of 60 log ratios with deviation 0.02: 1.645 * 0.02 / sqrt(60) on either side."""
    found = bootstrap(ratios(1.08), 1)
    assert found.lower < found.geometric_mean < found.upper
    assert found.geometric_mean == pytest.approx(1.08, abs=0.01)
    assert (found.upper - found.lower) / found.geometric_mean == pytest.approx(2 * 1.645 * 0.02 / 60**0.5, rel=0.25)


def test_ratios_without_spread_have_no_interval() -> None:
    found = bootstrap([1.1] * 60, 1, resamples=50)
    assert (found.lower, found.upper) == (pytest.approx(1.1), pytest.approx(1.1))


def test_nothing_to_resample() -> None:
    with pytest.raises(ValueError, match="no ratios"):
        bootstrap([], 1)
