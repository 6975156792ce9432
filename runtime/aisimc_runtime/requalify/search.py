"""The search for the nearest capacity with bounded pressure: pure, over a function that observes one capacity.

Source: the method's stage 3 (tune capacity minimally, back off rather than accept a pressure flood) and its golden
points, which keep an observation below and above the one that was frozen. Pressure falls with capacity but not
monotonically near the edge, so every value that counts was really observed and none is inferred.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

SWEEP = 8
"""How many values between the start and the point are looked at for a nearer one."""


class Fit(Enum):
    """What an observed capacity means for the row."""

    TIGHT = "too tight"
    """Too many pressure events, requests that failed or were cut short, or an engine that gave up."""
    QUALIFIES = "qualifies"
    LOOSE = "too loose"
    """The edge was not exercised: no pressure event."""


@dataclass(frozen=True, slots=True)
class Observation:
    """One replay of the baseline at one capacity value."""

    value: int
    pressure: int | None
    """Preemptions or retractions; None where the revision gives no count that is evidence."""
    requests: int
    completed: int
    short_outputs: int
    virtual_duration_ms: float | None
    canonical_sha256: str | None
    error: str | None = None

    def fit(self, least: int, most: int) -> Fit:
        """How the observation stands to the bounds `least..most` of the pressure count."""
        broken = self.error is not None or self.completed < self.requests or self.short_outputs > 0
        if broken or self.pressure is None or self.pressure > most:
            return Fit.TIGHT
        return Fit.LOOSE if self.pressure < least else Fit.QUALIFIES


@dataclass(frozen=True, slots=True)
class Outcome:
    """`point` is the qualifying observation nearest to the start, None where none was found; `below` and `above`
    are the nearest observations on either side that do not qualify."""

    point: Observation | None
    below: Observation | None
    above: Observation | None
    observations: tuple[Observation, ...]


class _Search:
    def __init__(
        self, observe: Callable[[int], Observation], least: int, most: int, budget: int, say: Callable[[str], None]
    ) -> None:
        self.seen: dict[int, Observation] = {}
        self.say = say
        self._observe = observe
        self._least, self._most, self._budget = least, most, budget

    def fit(self, value: int) -> Fit:
        if value not in self.seen:
            self.seen[value] = self._observe(value)
        return self.seen[value].fit(self._least, self._most)

    @property
    def spent(self) -> bool:
        return len(self.seen) >= self._budget


def search(
    start: int,
    observe: Callable[[int], Observation],
    *,
    least: int,
    most: int,
    minimum: int = 1,
    resolution: int = 1,
    budget: int = 64,
    say: Callable[[str], None] = lambda purpose: None,
) -> Outcome:
    """The nearest value to `start` whose pressure count lies in `least..most`, all outputs whole.

    `resolution` is how close (in units of the capacity) the point must come to a neighbour on the start's side that
    does not qualify; `budget` bounds the number of observations. `say` is told what the observations after it are for
    once a point is known. `observe` may raise; what it raised passes through.
    """
    state = _Search(observe, least, most, budget, say)
    first = state.fit(start)
    found: int | None = start
    if first is not Fit.QUALIFIES:
        direction = 1 if first is Fit.TIGHT else -1
        found = _approach(state, start, direction, first, minimum, resolution)
        if found is not None:
            found = _sweep(state, start, found, resolution)
    if found is not None:
        _enclose(state, found, minimum, max(1, start // 16))
    return _outcome(state, found, least, most)


def _approach(state: _Search, start: int, direction: int, first: Fit, minimum: int, resolution: int) -> int | None:
    """Gallop away from the start until the fit changes, then halve the gap towards the start."""
    near, step = start, max(1, start // 32)
    while not state.spent:
        probe = max(minimum, near + direction * step)
        if probe == near:
            return None
        fit = state.fit(probe)
        if fit is Fit.QUALIFIES:
            return _tighten(state, near, probe, resolution)
        if fit is not first:
            return _bisect(state, near, probe, first, resolution)
        near, step = probe, step * 2
    return None


def _bisect(state: _Search, near: int, far: int, first: Fit, resolution: int) -> int | None:
    """Between a value that fits like the start and one on the other side of the edge."""
    while abs(far - near) > 1 and not state.spent:
        middle = (near + far) // 2
        fit = state.fit(middle)
        if fit is Fit.QUALIFIES:
            return _tighten(state, near, middle, resolution)
        near, far = (middle, far) if fit is first else (near, middle)
    return None


def _tighten(state: _Search, near: int, found: int, resolution: int) -> int:
    """Bring a qualifying value nearer to the start; `near` does not qualify and lies on the start's side."""
    if abs(found - near) > resolution:
        state.say(f"{found:_} qualifies; is there a nearer one, towards {near:_}?")
    while abs(found - near) > resolution and not state.spent:
        middle = (near + found) // 2
        if middle in (near, found):
            break
        if state.fit(middle) is Fit.QUALIFIES:
            found = middle
        else:
            near = middle
    return found


def _sweep(state: _Search, start: int, found: int, resolution: int) -> int:
    """Counts jump near the edge, so halving can step over a nearer point: look at a few values in between, the
    nearest to the start first."""
    stride = (found - start) / (SWEEP + 1)
    values = sorted({start + round(stride * piece) for piece in range(1, SWEEP + 1)} - {start, found})
    if values and not state.spent:
        state.say(f"counts jump near an edge: is there a nearer one than {found:_} that halving stepped over?")
    near = start
    for value in values if found > start else reversed(values):
        if state.spent:
            break
        if state.fit(value) is Fit.QUALIFIES:
            return _tighten(state, near, value, resolution)
        near = value
    return found


def _enclose(state: _Search, found: int, minimum: int, step: int) -> None:
    """See to it that there is an observation outside the bounds below and above the point."""
    for direction in (-1, 1):
        if any((value - found) * direction > 0 and state.fit(value) is not Fit.QUALIFIES for value in list(state.seen)):
            continue
        side = "above" if direction > 0 else "below"
        state.say(f"{found:_} is the point; what is the nearest value {side} it that does not qualify?")
        at, stride = found, step
        while not state.spent:
            at = max(minimum, at + direction * stride)
            if state.fit(at) is not Fit.QUALIFIES or at == minimum:
                break
            stride *= 2


def plateaus(outcome: Outcome, least: int, most: int) -> list[tuple[int, ...]]:
    """The observed values that qualify, in order, grouped where no observed value between them does not.

    A capacity inside a wide group outlives a small drift of the baseline better than one on its own.
    """
    groups: list[tuple[int, ...]] = []
    before = False
    for seen in outcome.observations:
        qualifies = seen.fit(least, most) is Fit.QUALIFIES
        if qualifies and before:
            groups[-1] = (*groups[-1], seen.value)
        elif qualifies:
            groups.append((seen.value,))
        before = qualifies
    return groups


def _outcome(state: _Search, found: int | None, least: int, most: int) -> Outcome:
    ordered = tuple(state.seen[value] for value in sorted(state.seen))
    if found is None:
        return Outcome(None, None, None, ordered)
    others = [seen for seen in ordered if seen.fit(least, most) is not Fit.QUALIFIES]
    below = max((seen for seen in others if seen.value < found), key=lambda seen: seen.value, default=None)
    above = min((seen for seen in others if seen.value > found), key=lambda seen: seen.value, default=None)
    return Outcome(state.seen[found], below, above, ordered)
