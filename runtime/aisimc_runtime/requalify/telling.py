"""What a search for a capacity says to people, while it goes on and at its end."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from aisimc_compiler.rules.refusal import plural
from aisimc_runtime.requalify.search import Observation, Outcome, plateaus


class Asked(NamedTuple):
    """What was searched: the dimension, the value to start from, the bounds of the pressure count, and where the
    campaign says the dimension, in words."""

    dimension: str
    start: int
    bounds: tuple[int, int]
    place: str


def line(seen: Observation, dimension: str, known: bool, fit: str) -> str:
    """One observation, as it is told while the search goes on."""
    if seen.error is not None:
        what = seen.error
    else:
        count = "no pressure count" if seen.pressure is None else plural(seen.pressure, "pressure event")
        completed = f"{seen.completed:,} of {plural(seen.requests, 'request')} completed"
        what = f"{count}, {completed}, {seen.short_outputs:,} cut short"
    return f"{dimension} = {seen.value:_}: {what} ({fit}{', kept from before' if known else ''})"


def told(outcome: Outcome, stable: bool, row: str, asked: Asked) -> Iterator[str]:
    """The outcome for people, line by line: the point, what is around it, what else qualifies, what to write."""
    least, most = asked.bounds
    if outcome.point is None:
        yield f"row {row}: no {asked.dimension} with {_span(least, most)} was observed"
        return
    value = outcome.point.value
    yield f"row {row}: {asked.dimension} = {value:_} with {plural(outcome.point.pressure or 0, 'pressure event')}"
    around = [
        f"{side} {seen.value:_} has {'an error' if seen.error is not None else seen.pressure}"
        for side, seen in (("below it,", outcome.below), ("above it,", outcome.above))
        if seen is not None
    ]
    if around:
        yield f"  {'; '.join(around)}"
    yield from _others(outcome, asked)
    if not stable:
        yield "  two processes disagree there: the baseline is unstable, and no capacity qualifies it"
    elif value != asked.start:
        yield f"  write {asked.dimension.rpartition('.')[2]} = {value:_} in {asked.place}: both arms run with it"
    else:
        yield "  the declared capacity qualifies as it is"


def _others(outcome: Outcome, asked: Asked) -> Iterator[str]:
    """The other observed values that qualify, and whether the point stands alone among what does not."""
    groups = plateaus(outcome, *asked.bounds)
    own = next(group for group in groups if outcome.point is not None and outcome.point.value in group)
    others = [value for group in groups for value in group if outcome.point is None or value != outcome.point.value]
    if others:
        yield f"  the nearest to {asked.start:_} is chosen; also qualifying, as observed: {_listed(others)}"
    widest = max(groups, key=lambda group: group[-1] - group[0])
    if widest[-1] - widest[0] > own[-1] - own[0]:
        yield (
            f"  everything observed from {widest[0]:_} to {widest[-1]:_} qualifies: a value inside a plateau outlives "
            "a small drift better than one at an edge"
        )


def _listed(values: list[int]) -> str:
    return ", ".join(f"{value:_}" for value in values)


def _span(least: int, most: int) -> str:
    return f"{least} to {most} pressure events" if least != most else plural(least, "pressure event")
