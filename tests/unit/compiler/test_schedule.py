"""The gate's order comes from a documented generator and is the same everywhere."""

from __future__ import annotations

import pytest

from aisimc_compiler.plan import schedule
from aisimc_compiler.splitmix import SplitMix64


def test_the_generator_gives_the_published_sequence() -> None:
    # The reference implementation's first values for seed 1234567.
    generator = SplitMix64(1234567)
    assert [generator.next() for _ in range(5)] == [
        6457827717110365317,
        3203168211198807973,
        9817491932198370423,
        4593380528125082431,
        16408922859458223821,
    ]


def test_bounded_draws_redraw_what_would_bias_them() -> None:
    class Fixed(SplitMix64):
        def __init__(self, values: list[int]) -> None:
            super().__init__(0)
            self.values = values

        def next(self) -> int:
            return self.values.pop(0)

    # 2**64 leaves remainder 1 for 3, so the last value may not be used.
    assert Fixed([2**64 - 1, 7]).below(3) == 1
    assert Fixed([2**64 - 2, 7]).below(3) == 2


def test_a_seed_and_a_row_fix_the_order() -> None:
    order = schedule.first_arms(20261129, "vllm-aggregated")
    letters = "".join(arm[0] for arm in order)
    assert letters == "bbbccbcbbcbcbccbbccbbccbbbbccbbcccccbcbcbccbccbcbbbcbccbccbb"


@pytest.mark.parametrize("seed", [0, 1, 20261129, 2**64 + 5])
def test_thirty_pairs_start_with_each_arm(seed: int) -> None:
    order = schedule.first_arms(seed, "row")
    assert order.count("baseline") == order.count("candidate") == 30


def test_rows_and_seeds_have_orders_of_their_own() -> None:
    orders = {schedule.first_arms(seed, row) for seed in range(20) for row in ("a", "b")}
    assert len(orders) == 40


def test_warm_ups_alternate_and_pairs_are_adjacent() -> None:
    steps = schedule.steps(7, "row")
    assert [step.order for step in steps] == list(range(1, 131))
    assert [step.arm for step in steps[:10]] == ["baseline", "candidate"] * 5
    for number, (first, second) in enumerate(zip(steps[10::2], steps[11::2], strict=True), start=1):
        assert (first.number, second.number) == (number, number)
        assert (first.position, second.position) == ("first", "second")
        assert {first.arm, second.arm} == {"baseline", "candidate"}


def test_ids_are_distinct_and_parameters_hold_the_order() -> None:
    steps = schedule.steps(7, "row")
    assert len({step.id for step in steps}) == 130
    assert steps[0].id == "warmup/row/baseline/1"
    assert steps[0].parameters() == {"arm": "baseline", "order": 1, "position": "first", "warmup": 1}
    assert steps[-1].id.startswith("sample/row/60/")
    assert steps[-1].parameters()["pair"] == 60


def test_first_arms_are_not_biased_by_place() -> None:
    """Over many seeds every place starts with the baseline about half the time (5 standard deviations)."""
    seeds = 2000
    counts = [0] * 60
    for seed in range(seeds):
        for place, arm in enumerate(schedule.first_arms(seed, "row")):
            counts[place] += arm == "baseline"
    assert all(abs(count - seeds / 2) < 5 * (seeds / 4) ** 0.5 for count in counts)
