"""PASS, FAIL, INCONCLUSIVE or NOT_MEASURED, from the measured pairs alone (`perf.gate`, `perf.dependence`).

The order is fixed: what could not be measured, then what the product broke, then dependence, and only then
the order statistics. Nothing here asks for more samples.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from aisimc_runtime.gate.dependence import Diagnostic, Series, diagnose
from aisimc_runtime.gate.order import Bounds, bounds


class Result(StrEnum):
    """The result of the gate, beside the semantic one and never part of it."""

    PASS = "PASS"
    FAIL = "FAIL"
    INCONCLUSIVE = "INCONCLUSIVE"
    NOT_MEASURED = "NOT_MEASURED"


@dataclass(frozen=True, slots=True)
class Decision:
    """The timing decision of one row; `bounds` is None where the order-statistic gate was not applied."""

    result: Result
    reason: str
    bounds: Bounds | None
    diagnostics: tuple[Diagnostic, ...]


def decide(series: Series, *, threshold: float, thresholds: Mapping[str, float]) -> Decision:
    """Decide 60 ratios: dependence first, then both bounds against `threshold`; ValueError for another count."""
    diagnostics = diagnose(series, thresholds)
    breaches = [diagnostic for diagnostic in diagnostics if diagnostic.breached]
    if breaches:
        return Decision(Result.INCONCLUSIVE, _dependent(breaches), None, diagnostics)
    found = bounds(series.ratios)
    result, reason = _against(found, threshold)
    return Decision(result, reason, found, diagnostics)


def undecided(result: Result, reason: str) -> Decision:
    """A row whose 60 ratios do not exist: the product failed it, or it could not be measured."""
    return Decision(result, reason, None, ())


def overall(results: Iterable[Result], *, size_failed: bool) -> Result:
    """The campaign's own result: the worst of its rows, and FAIL for unexplained growth.

    FAIL before INCONCLUSIVE before NOT_MEASURED: a regression that was shown is not undone by a row that
    could not tell, and only a campaign whose every gated row passes has passed.
    """
    found = set(results)
    if size_failed or Result.FAIL in found:
        return Result.FAIL
    for result in (Result.INCONCLUSIVE, Result.NOT_MEASURED):
        if result in found:
            return result
    return Result.PASS if found else Result.NOT_MEASURED


def _against(found: Bounds, threshold: float) -> tuple[Result, str]:
    if found.upper <= threshold:
        return Result.PASS, f"the upper bound {found.upper:.4f} is at most {threshold:g}"
    if found.lower > threshold:
        return Result.FAIL, f"the lower bound {found.lower:.4f} is above {threshold:g}"
    return (
        Result.INCONCLUSIVE,
        f"{threshold:g} lies between the bounds {found.lower:.4f} and {found.upper:.4f}",
    )


def _dependent(breaches: Sequence[Diagnostic]) -> str:
    parts = [
        f"{item.name} {item.note}"
        if item.value is None
        else f"{item.name} is {item.value:+.3f}, beyond ±{item.threshold:g}"
        for item in breaches
    ]
    return "the ratios are not exchangeable: " + "; ".join(parts)
