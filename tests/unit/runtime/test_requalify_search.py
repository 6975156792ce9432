"""The capacity search, on made-up engines whose pressure is known at every capacity."""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import given
from hypothesis import strategies as st

from aisimc_runtime.requalify.dimension import place_of
from aisimc_runtime.requalify.search import Fit, Observation, Outcome, plateaus, search
from aisimc_runtime.requalify.telling import Asked, line, margins, told


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


JUMPING = {range(4_200): 6, range(4_200, 4_260): 3, range(4_260, 5_040): 6, range(5_040, 5_400): 2}


def jumping(value: int) -> int:
    """As on a real build: a few values qualify by themselves, and a plateau far above them does too."""
    return next((count for span, count in JUMPING.items() if value in span), 0)


def asked(start: int, place: str = "the row's capacity") -> Asked:
    return Asked("num_gpu_blocks", start, (1, 3), place)


REAL = {4_000: 6, 4_231: 6, 4_232: 3, 4_375: 6, 5_045: 4, 5_046: 2, 5_062: 2, 5_125: 1, 5_375: 2, 5_875: 0}
"""Values and their preemptions, as a real build gave them."""


def test_the_answer_lists_what_else_qualifies_and_where_a_plateau_is() -> None:
    seen = {value: Observation(value, count, 100, 100, 0, 1.0, "d") for value, count in REAL.items()}
    outcome = Outcome(seen[4_232], seen[4_231], seen[4_375], tuple(seen.values()))
    assert plateaus(outcome, 1, 3) == [(4_232,), (5_046, 5_062, 5_125, 5_375)]
    text = "\n".join(told(outcome, True, "row-1", asked(4_000)))
    assert "the nearest to 4_000 is chosen; also qualifying, as observed: 5_046, 5_062, 5_125, 5_375" in text
    assert "from 5_046 to 5_375 qualifies" in text
    assert "a value inside a plateau, such as 5_125, outlives" in text
    inside = Outcome(seen[5_062], seen[5_045], seen[5_875], tuple(seen.values()))
    text = "\n".join(told(inside, True, "row-1", asked(5_062)))
    assert "plateau" not in text and "warning" not in text
    assert "17 below, 5_045 does not qualify (4 pressure events)" in text
    assert "813 above, 5_875 does not qualify (0 pressure events)" in text


def test_a_point_at_the_edge_of_its_own_plateau_is_warned_of() -> None:
    """From a real build: everything from 1,692 to 1,694 qualifies, and 1,695 exercises nothing."""
    seen = {value: Observation(value, count, 100, 100, 0, 1.0, "d")
            for value, count in {1_690: 4, 1_692: 2, 1_693: 2, 1_694: 1, 1_695: 0}.items()}  # fmt: skip
    outcome = Outcome(seen[1_694], seen[1_690], seen[1_695], tuple(seen.values()))
    assert margins(outcome) == {"below": 4, "above": 1}
    text = "\n".join(told(outcome, True, "row-1", asked(12_500)))
    assert "4 below, 1_690 does not qualify (4 pressure events); 1 above, 1_695 does not qualify (0 pres" in text
    assert "warning: this is the very edge: the next value above does not qualify" in text
    assert "from 1_692 to 1_694 qualifies: a value inside a plateau, such as 1_693, outlives" in text


def test_what_a_neighbour_lacks_is_said() -> None:
    point = Observation(10, 2, 100, 100, 0, 1.0, "d")
    lacks = {
        "an error": Observation(9, None, 0, 0, 0, None, None, error="gave up"),
        "99 of 100 requests completed": Observation(9, 2, 100, 99, 0, 1.0, "d"),
        "1 cut short": Observation(9, 2, 100, 100, 1, 1.0, "d"),
        "no pressure count": Observation(9, None, 100, 100, 0, 1.0, "d"),
    }
    for why, below in lacks.items():
        lines = list(told(Outcome(point, below, None, (below, point)), True, "row-1", asked(10)))
        assert lines[1] == f"  1 below, 9 does not qualify ({why})"


def test_the_search_says_what_it_goes_on_for_once_it_has_a_point() -> None:
    said: list[tuple[int, str]] = []
    observe, seen = engine(jumping)
    outcome = search(4_100, observe, least=1, most=3, say=lambda purpose: said.append((len(seen), purpose)))
    first = next(number for number, value in enumerate(seen, 1) if 1 <= jumping(value) <= 3)
    assert outcome.point is not None
    assert said[0][0] == first < len(seen)
    assert said[0][1].endswith("?")


def test_the_advice_names_the_place_in_the_campaign() -> None:
    aggregated = {"topology": {"kind": "aggregated"}}
    pools = {"topology": {"kind": "disaggregated"}}
    places = [
        place_of(aggregated, "num_gpu_blocks"),
        place_of(pools, "num_gpu_blocks"),
        place_of(pools, "decode.num_gpu_blocks"),
    ]
    assert places == [
        "the row's capacity", "the capacity of both pools, prefill and decode", "the capacity of the decode pool",
    ]  # fmt: skip
    observe, _ = engine(falling(1_000, 50))
    outcome = search(600, observe, least=1, most=3)
    for place in places:
        assert list(told(outcome, True, "row-1", asked(600, place)))[-1] == (
            f"  write num_gpu_blocks = 850 in {place}: both arms run with it"
        )
    assert "unstable" in list(told(outcome, False, "row-1", asked(600)))[-1]
    same = search(950, observe, least=1, most=3)
    assert list(told(same, True, "row-1", asked(950)))[-1] == "  the declared capacity qualifies as it is"


def test_one_event_of_one_request_is_told_in_the_singular() -> None:
    text = line(Observation(7, 1, 1, 1, 0, 1.0, "d"), "max_num_seqs", False, "qualifies")
    assert text == "max_num_seqs = 7: 1 pressure event, 1 of 1 request completed, 0 cut short (qualifies)"
