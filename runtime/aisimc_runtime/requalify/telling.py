"""What a search for a capacity says to people, while it goes on and at its end."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from aisimc_compiler.rules.refusal import plural
from aisimc_runtime.requalify.search import Observation, Outcome, plateaus


class Asked(NamedTuple):
    """What was searched: the dimension, the value to start from, the bounds of the pressure count, where the campaign
    says the dimension, in words, and how near to a value that does not qualify the search went."""

    dimension: str
    start: int
    bounds: tuple[int, int]
    place: str
    resolution: int = 1


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
        f"{abs(seen.value - value):_} {side}, {seen.value:_} does not qualify ({_why(seen)})"
        for side, seen in (("below", outcome.below), ("above", outcome.above))
        if seen is not None
    ]
    if around:
        yield f"  {'; '.join(around)}"
    yield from _edge(outcome, asked)
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
    widest = max(groups, key=lambda group: (group[-1] - group[0], group is own))
    value = outcome.point.value if outcome.point is not None else 0
    if widest[-1] > widest[0] and not widest[0] < value < widest[-1]:
        inside = [one for one in widest[1:-1] if one != value]
        middle = min(inside, key=lambda one: abs(2 * one - widest[0] - widest[-1]), default=None)
        such = "" if middle is None else f", such as {middle:_},"
        yield (
            f"  everything observed from {widest[0]:_} to {widest[-1]:_} qualifies: a value inside a plateau{such} "
            "outlives a small drift better than one at an edge"
        )


def margins(outcome: Outcome) -> dict[str, int | None]:
    """How far the point is from the nearest observed value on each side that does not qualify; None where none was."""
    if outcome.point is None:
        return {"below": None, "above": None}
    value = outcome.point.value
    sides = (("below", outcome.below), ("above", outcome.above))
    return {side: None if seen is None else abs(seen.value - value) for side, seen in sides}


def _edge(outcome: Outcome, asked: Asked) -> Iterator[str]:
    """A warning where the point has a value that does not qualify as a direct neighbour."""
    near = [side for side, margin in margins(outcome).items() if margin is not None and margin <= asked.resolution]
    if near:
        looked = "" if asked.resolution == 1 else " looked at"
        yield (
            f"  warning: this is the very edge: the next value{looked} {' and '.join(near)} does not qualify, so a "
            "small drift of the baseline may take the row out of its bounds again"
        )


def _why(seen: Observation) -> str:
    """What an observation that does not qualify lacks."""
    if seen.error is not None:
        return "an error"
    if seen.completed < seen.requests:
        return f"{seen.completed:,} of {plural(seen.requests, 'request')} completed"
    if seen.short_outputs:
        return f"{seen.short_outputs:,} cut short"
    return "no pressure count" if seen.pressure is None else plural(seen.pressure, "pressure event")


def _listed(values: list[int]) -> str:
    return ", ".join(f"{value:_}" for value in values)


def _span(least: int, most: int) -> str:
    return f"{least} to {most} pressure events" if least != most else plural(least, "pressure event")
