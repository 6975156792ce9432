"""The capacity search, on made-up engines whose pressure is known at every capacity."""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import given
from hypothesis import strategies as st

from aisimc_runtime.requalify.search import Fit, Observation, search


def engine(pressure: Callable[[int], int]) -> tuple[Callable[[int], Observation], list[int]]:
    asked: list[int] = []

    def observe(value: int) -> Observation:
        asked.append(value)
        return Observation(value, pressure(value), 100, 100, 0, 1.0, "d")

    return observe, asked


def falling(edge: int, slope: int) -> Callable[[int], int]:
    """No event from `edge` on, one more for every `slope` below it."""
    return lambda value: max(0, -(-(edge - value) // slope))


def test_a_start_that_qualifies_stays_and_gets_its_neighbours() -> None:
    observe, _ = engine(falling(1_000, 50))
    outcome = search(950, observe, least=1, most=3)
    assert outcome.point is not None and outcome.point.value == 950
    assert outcome.below is not None and (outcome.below.pressure or 0) > 3
    assert outcome.above is not None and outcome.above.pressure == 0


def test_a_flooded_start_backs_off_to_the_nearest_point_above() -> None:
    observe, _ = engine(falling(1_000, 50))
    outcome = search(600, observe, least=1, most=3)
    assert outcome.point is not None and outcome.point.value == 850
    assert outcome.below is not None and outcome.below.value == 849


def test_an_idle_start_comes_down_to_the_nearest_point_below() -> None:
    observe, _ = engine(falling(1_000, 50))
    outcome = search(1_700, observe, least=1, most=3)
    assert outcome.point is not None and outcome.point.value == 999
    assert outcome.above is not None and outcome.above.value == 1_000


def test_an_edge_without_any_point_is_said_and_not_invented() -> None:
    observe, _ = engine(lambda value: 0 if value >= 1_000 else 9)
    outcome = search(1_200, observe, least=1, most=3)
    assert outcome.point is None
    assert {999, 1_000} <= {seen.value for seen in outcome.observations}


def test_broken_outputs_never_qualify() -> None:
    broken = Observation(1, 2, 100, 99, 0, 1.0, "d")
    short = Observation(1, 2, 100, 100, 1, 1.0, "d")
    failed = Observation(1, 2, 100, 100, 0, None, None, error="effect-free pass")
    unknown = Observation(1, None, 100, 100, 0, 1.0, "d")
    assert {seen.fit(1, 3) for seen in (broken, short, failed, unknown)} == {Fit.TIGHT}


@given(st.integers(10, 5_000), st.integers(1, 200), st.integers(10, 6_000), st.integers(8, 40))
def test_what_is_found_was_observed_and_qualifies_within_the_budget(
    edge: int, slope: int, start: int, budget: int
) -> None:
    pressure = falling(edge, slope)
    observe, asked = engine(pressure)
    outcome = search(start, observe, least=1, most=3, budget=budget)
    assert len(asked) == len(set(asked)) <= budget + 1
    if outcome.point is not None:
        assert outcome.point.value in asked
        assert 1 <= pressure(outcome.point.value) <= 3


def test_a_nearer_point_that_halving_steps_over_is_seen() -> None:
    """From real builds: 1,600 blocks give 5 retractions, 1,617 give 3, 1,637 again 4, 1,640 give 3."""
    counts = {range(1_610): 5, range(1_610, 1_625): 3, range(1_625, 1_640): 4, range(1_640, 1_690): 3}
    observe, _ = engine(lambda value: next((count for span, count in counts.items() if value in span), 0))
    outcome = search(1_600, observe, least=1, most=3)
    assert outcome.point is not None and outcome.point.value == 1_610
