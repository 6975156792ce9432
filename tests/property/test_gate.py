"""What must hold of the gate's statistics for every set of ratios."""

from __future__ import annotations

from math import exp

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from aisimc_compiler.plan import schedule
from aisimc_compiler.splitmix import SplitMix64
from aisimc_runtime.gate.decision import Result, decide
from aisimc_runtime.gate.dependence import Series, autocorrelation, ranks, spearman
from aisimc_runtime.gate.effect import bootstrap
from aisimc_runtime.gate.order import bounds, median

LIMITS = {"lag1_autocorrelation": 0.30, "order_trend": 0.30}
RATIO = st.floats(0.2, 5.0)
RATIOS = st.lists(RATIO, min_size=60, max_size=60)
ORDER = {Result.PASS: 0, Result.INCONCLUSIVE: 1, Result.FAIL: 2}


def result(ratios: list[float], threshold: float = 1.05) -> Result:
    return decide(Series(ratios), threshold=threshold, thresholds=LIMITS).result


@given(RATIOS)
def test_the_median_lies_between_the_bounds(ratios: list[float]) -> None:
    found = bounds(ratios)
    assert found.lower <= median(ratios) <= found.upper


@given(RATIOS, st.randoms(use_true_random=False))
def test_bounds_know_no_order(ratios: list[float], shuffler: object) -> None:
    other = list(ratios)
    shuffler.shuffle(other)  # type: ignore[attr-defined]
    assert bounds(other) == bounds(ratios)


@given(RATIOS, st.integers(0, 59), RATIO)
def test_one_sample_moves_a_bound_by_one_rank_at_most(ratios: list[float], place: int, value: float) -> None:
    """Whatever one of 60 samples was, each bound stays between its neighbours in rank."""
    ordered = sorted(ratios)
    changed = [*ratios]
    changed[place] = value
    found = bounds(changed)
    assert ordered[22] <= found.lower <= ordered[24]
    assert ordered[35] <= found.upper <= ordered[37]


@given(RATIOS)
def test_swapping_the_arms_mirrors_the_bounds(ratios: list[float]) -> None:
    found, mirrored = bounds(ratios), bounds([1 / ratio for ratio in ratios])
    assert mirrored.lower == 1 / found.upper
    assert mirrored.upper == 1 / found.lower


@given(RATIOS, st.floats(1.0, 1.5))
def test_a_slower_candidate_never_gets_a_better_verdict(ratios: list[float], factor: float) -> None:
    """A common factor leaves ranks and correlations alone, so dependence cannot hide it either."""
    before = decide(Series(ratios), threshold=1.05, thresholds={})
    after = decide(Series([ratio * factor for ratio in ratios]), threshold=1.05, thresholds={})
    assert ORDER[after.result] >= ORDER[before.result]


@given(RATIOS, st.floats(0.9, 1.3), st.floats(0.0, 0.3))
def test_a_higher_threshold_never_gets_a_worse_verdict(ratios: list[float], low: float, more: float) -> None:
    assert ORDER[result(ratios, low + more)] <= ORDER[result(ratios, low)]


@given(RATIOS)
def test_pass_and_fail_mean_what_they_say(ratios: list[float]) -> None:
    found = result(ratios)
    if found is Result.PASS:
        assert sum(ratio <= 1.05 for ratio in ratios) >= 37
    if found is Result.FAIL:
        assert sum(ratio > 1.05 for ratio in ratios) >= 37


@given(st.lists(RATIO, min_size=3, max_size=80))
def test_ranks_sum_to_what_they_must(values: list[float]) -> None:
    assert sum(ranks(values)) == len(values) * (len(values) + 1) / 2


@given(st.lists(RATIO, min_size=3, max_size=60), st.lists(RATIO, min_size=60, max_size=60))
def test_correlations_are_correlations(xs: list[float], ys: list[float]) -> None:
    for value in (spearman(xs, ys[: len(xs)]), autocorrelation(xs, 1)):
        assert value is None or -1.0 <= value <= 1.0


@given(st.lists(RATIO, min_size=4, max_size=60, unique=True))
def test_rank_correlation_sees_ranks_only(values: list[float]) -> None:
    order = [float(place) for place in range(len(values))]
    stretched = [exp(3 * value) for value in values]
    assume(len(set(stretched)) == len(values))
    assert spearman(values, order) == spearman(stretched, order)


@settings(max_examples=25)
@given(RATIOS, st.integers(0, 2**64 - 1))
def test_resampled_means_stay_among_the_ratios(ratios: list[float], seed: int) -> None:
    found = bootstrap(ratios, seed, resamples=100)
    slack = 1 + 1e-9
    assert min(ratios) / slack <= found.lower <= found.upper <= max(ratios) * slack
    assert min(ratios) / slack <= found.geometric_mean <= max(ratios) * slack
    assert found == bootstrap(ratios, seed, resamples=100)


@settings(max_examples=25)
@given(RATIOS, st.integers(0, 2**64 - 1), st.floats(0.5, 2.0))
def test_the_bootstrap_scales_with_the_ratios(ratios: list[float], seed: int, factor: float) -> None:
    found = bootstrap(ratios, seed, resamples=60)
    scaled = bootstrap([ratio * factor for ratio in ratios], seed, resamples=60)
    for a, b in ((found.lower, scaled.lower), (found.upper, scaled.upper)):
        assert abs(b / (a * factor) - 1) < 1e-9


@given(st.integers(0, 2**70), st.text(min_size=1, max_size=20))
def test_every_schedule_is_balanced_and_complete(seed: int, row: str) -> None:
    steps = schedule.steps(seed, row)
    firsts = [step.arm for step in steps if step.kind == "sample" and step.position == "first"]
    assert firsts.count("baseline") == firsts.count("candidate") == 30
    for arm in schedule.ARMS:
        assert sum(step.arm == arm and step.kind == "sample" for step in steps) == 60
        assert sum(step.arm == arm and step.kind == "warmup" for step in steps) == 5


@given(st.integers(0, 2**64 - 1), st.integers(1, 2**64))
def test_bounded_draws_are_in_bounds(seed: int, bound: int) -> None:
    assert 0 <= SplitMix64(seed).below(bound) < bound
