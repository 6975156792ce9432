"""Distribution-free bounds of the median ratio from two order statistics, with their exact coverage.

With n independent ratios of one continuous distribution, the number below its median m is binomial(n, 1/2)
whatever that distribution is. The r-th smallest lies above m exactly when fewer than r ratios lie below, so
P(X(r) > m) = P(B <= r - 1): no normality, no variance, no estimate enters (Thompson 1936; David and Nagaraja,
Order Statistics, 3rd ed., section 7.1). Ties only make the bounds more conservative.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import comb

LOWER_ORDER = 24
"""The 24th smallest of 60 is the one-sided lower 95 % bound of the median (`perf.gate`)."""
UPPER_ORDER = 37
"""The 37th smallest of 60 is the one-sided upper 95 % bound."""


@dataclass(frozen=True, slots=True)
class Coverage:
    """Exact probabilities, under independent identically distributed ratios, that the bounds hold."""

    lower: Fraction
    """P(lower bound <= median)."""
    upper: Fraction
    """P(median <= upper bound)."""
    both: Fraction
    """P(lower bound <= median <= upper bound)."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """The two order statistics of a set of ratios."""

    lower: float
    upper: float
    lower_order: int = LOWER_ORDER
    upper_order: int = UPPER_ORDER


def binomial_at_most(k: int, n: int) -> Fraction:
    """P(B <= k) for B binomial(n, 1/2), exactly."""
    return Fraction(sum(comb(n, i) for i in range(k + 1)), 2**n)


def coverage(n: int, lower_order: int = LOWER_ORDER, upper_order: int = UPPER_ORDER) -> Coverage:
    """The exact coverage of the order statistics `lower_order` and `upper_order` of n ratios."""
    too_high = binomial_at_most(lower_order - 1, n)
    too_low = binomial_at_most(n - upper_order, n)
    return Coverage(lower=1 - too_high, upper=1 - too_low, both=1 - too_high - too_low)


def bounds(ratios: Sequence[float]) -> Bounds:
    """The 24th and 37th smallest of exactly 60 ratios; ValueError for any other number of them."""
    if len(ratios) != 60:
        raise ValueError(f"the bounds are defined for 60 ratios, not {len(ratios)}")
    ordered = sorted(ratios)
    return Bounds(lower=ordered[LOWER_ORDER - 1], upper=ordered[UPPER_ORDER - 1])


def median(values: Sequence[float]) -> float:
    """The middle value, or the mean of the two middle ones; ValueError for none."""
    if not values:
        raise ValueError("no values")
    ordered = sorted(values)
    half = len(ordered) // 2
    return ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2
