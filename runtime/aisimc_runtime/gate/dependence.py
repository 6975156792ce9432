"""Whether the ratios may be treated as exchangeable: serial correlation and trends (`perf.dependence`).

The order-statistic bounds are exact for independent ratios only, and that two processes ran side by side
does not make one pair independent of the next: a node that heats up, a neighbour that comes and goes, show
as correlation along the run. These figures look for that; thresholds are declared before the run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import fsum, isfinite, log, sqrt

FURTHER_LAGS = (2, 3, 4, 5, 10)


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One figure of dependence, with the threshold that it was held against, if one was declared."""

    name: str
    value: float | None
    threshold: float | None
    breached: bool
    note: str


@dataclass(frozen=True, slots=True)
class Series:
    """The measured pairs in run order; the columns that the machine does not tell are None."""

    ratios: Sequence[float]
    elapsed_s: Sequence[float] | None = None
    temperatures_c: Sequence[float] | None = None
    frequencies_mhz: Sequence[float] | None = None


def pearson(xs: Sequence[float], ys: Sequence[float]) -> float | None:
    """Pearson's correlation; None where one side does not vary or there are fewer than three points."""
    n = len(xs)
    if n < 3 or n != len(ys):
        return None
    mean_x, mean_y = fsum(xs) / n, fsum(ys) / n
    dx, dy = [x - mean_x for x in xs], [y - mean_y for y in ys]
    xx, yy = fsum(d * d for d in dx), fsum(d * d for d in dy)
    scale = sqrt(xx) * sqrt(yy)
    # A spread of rounding errors around one value is no variation.
    if min(xx, yy) <= 1e-24 * max(1.0, mean_x * mean_x, mean_y * mean_y) or not isfinite(scale):
        return None
    return max(-1.0, min(1.0, fsum(a * b for a, b in zip(dx, dy, strict=True)) / scale))


def ranks(values: Sequence[float]) -> list[float]:
    """Ranks from 1, ties sharing their mean rank."""
    order = sorted(range(len(values)), key=values.__getitem__)
    out = [0.0] * len(values)
    start = 0
    while start < len(order):
        end = start
        while end + 1 < len(order) and values[order[end + 1]] == values[order[start]]:
            end += 1
        for place in range(start, end + 1):
            out[order[place]] = (start + end) / 2 + 1
        start = end + 1
    return out


def spearman(xs: Sequence[float], ys: Sequence[float]) -> float | None:
    """Spearman's rho: Pearson's correlation of the ranks; None as for `pearson`."""
    return pearson(ranks(xs), ranks(ys))


def autocorrelation(values: Sequence[float], lag: int) -> float | None:
    """Pearson's correlation of the values with themselves `lag` places later; None as for `pearson`."""
    return pearson(values[:-lag], values[lag:])


def diagnose(series: Series, thresholds: Mapping[str, float]) -> tuple[Diagnostic, ...]:
    """Every figure in a fixed order: the three that may carry a threshold, then those shown as information."""
    logs = [log(ratio) for ratio in series.ratios]
    order = [float(place) for place in range(len(logs))]
    out = [
        _judged("lag1_autocorrelation", autocorrelation(logs, 1), thresholds, "all ratios are equal"),
        _judged("order_trend", spearman(series.ratios, order), thresholds, "all ratios are equal"),
        _temperature(series, thresholds),
    ]
    out.extend(
        _information(f"lag{lag}_autocorrelation", autocorrelation(logs, lag), "no variation") for lag in FURTHER_LAGS
    )
    elapsed = None if series.elapsed_s is None else pearson(logs, series.elapsed_s)
    out.append(_information("elapsed_time_trend", elapsed, "elapsed times are not known"))
    frequency = None if series.frequencies_mhz is None else spearman(series.ratios, series.frequencies_mhz)
    out.append(_information("frequency_trend", frequency, "the machine tells no changing frequency"))
    return tuple(out)


def _judged(name: str, value: float | None, thresholds: Mapping[str, float], why_none: str) -> Diagnostic:
    """A required figure: one that cannot be computed has shown nothing, so it counts as a breach."""
    threshold = thresholds.get(name)
    if value is None:
        return Diagnostic(name, None, threshold, threshold is not None, f"cannot be computed: {why_none}")
    breached = threshold is not None and abs(value) > threshold
    return Diagnostic(name, value, threshold, breached, "")


def _temperature(series: Series, thresholds: Mapping[str, float]) -> Diagnostic:
    """Held to its threshold only where the machine tells a temperature that changes (decisions: The gate)."""
    name = "temperature_trend"
    if series.temperatures_c is None:
        return Diagnostic(name, None, thresholds.get(name), False, "the machine tells no temperature")
    value = spearman(series.ratios, series.temperatures_c)
    if value is None:
        return Diagnostic(name, None, thresholds.get(name), False, "the temperature did not change")
    return _judged(name, value, thresholds, "")


def _information(name: str, value: float | None, why_none: str) -> Diagnostic:
    return Diagnostic(name, value, None, False, "information only" if value is not None else why_none)
