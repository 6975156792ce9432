"""The secondary effect size: a seeded paired bootstrap of the log ratios. It never decides the gate.

The mean of the log ratios, back on the ratio scale, is the geometric mean ratio; pairs are resampled with
replacement and the 5 % and 95 % quantiles of the resampled means taken (percentile bootstrap, Efron and
Tibshirani 1993, chapter 13).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, fsum, log

from aisimc_compiler.splitmix import SplitMix64

RESAMPLES = 2000
LEVEL = 0.90


@dataclass(frozen=True, slots=True)
class Effect:
    """The geometric mean ratio with its percentile interval."""

    geometric_mean: float
    lower: float
    upper: float
    level: float
    resamples: int
    seed: int


def bootstrap(ratios: Sequence[float], seed: int, resamples: int = RESAMPLES) -> Effect:
    """Resample the ratios `resamples` times from `seed`; ValueError for no ratios."""
    if not ratios:
        raise ValueError("no ratios")
    logs = [log(ratio) for ratio in ratios]
    n = len(logs)
    generator = SplitMix64(seed)
    means = sorted(fsum(logs[generator.below(n)] for _ in range(n)) / n for _ in range(resamples))
    tail = round((1 - LEVEL) / 2 * resamples)
    return Effect(
        geometric_mean=exp(fsum(logs) / n),
        lower=exp(means[tail]),
        upper=exp(means[resamples - 1 - tail]),
        level=LEVEL,
        resamples=resamples,
        seed=seed,
    )
