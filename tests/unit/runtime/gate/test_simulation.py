"""Thousands of synthetic gates: how often each verdict is given when the truth is known.

Seeds are fixed, so nothing here can turn red by chance. Timings are log-normal with a heavy tail now and
then, as on real nodes, and the second process of a pair is slower, as it may be.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator
from math import exp, sqrt

from aisimc_compiler.plan.schedule import first_arms
from aisimc_runtime.gate.decision import Result, decide
from aisimc_runtime.gate.dependence import Series

LIMITS = {"lag1_autocorrelation": 0.30, "order_trend": 0.30}
GATES = 3000


def noise(generator: random.Random) -> float:
    """Log-noise of one process: 2 %, and in one of twenty cases 15 % that only ever slows it down."""
    value = generator.gauss(0.0, 0.02)
    return value + abs(generator.gauss(0.0, 0.15)) if generator.random() < 0.05 else value


def gates(ratios: Callable[[random.Random, int], list[float]], count: int = GATES) -> Iterator[Result]:
    """Results of `count` gates whose ratios come from `ratios(generator, number)`."""
    generator = random.Random(20261129)
    for number in range(count):
        series = Series(ratios(generator, number))
        yield decide(series, threshold=1.05, thresholds=LIMITS).result


def independent(effect: float, second_slower: float = 0.01) -> Callable[[random.Random, int], list[float]]:
    """Pairs whose median ratio is `effect`, the second process of each slower by `second_slower` (a log)."""

    def ratios(generator: random.Random, number: int) -> list[float]:
        out = []
        for first in first_arms(number, "simulated"):
            order = second_slower if first == "baseline" else -second_slower
            out.append(effect * exp(noise(generator) - noise(generator) + order))
        return out

    return ratios


def correlated(effect: float, phi: float) -> Callable[[random.Random, int], list[float]]:
    """Log ratios that follow an autoregression of order 1 with coefficient `phi`, deviation 3 %."""

    def ratios(generator: random.Random, _number: int) -> list[float]:
        state = generator.gauss(0.0, 1.0)
        out = []
        for _ in range(60):
            state = phi * state + sqrt(1 - phi * phi) * generator.gauss(0.0, 1.0)
            out.append(effect * exp(0.03 * state))
        return out

    return ratios


def shares(results: Iterator[Result]) -> dict[Result, float]:
    counted = Counter(results)
    total = sum(counted.values())
    return {result: counted[result] / total for result in Result}


def test_without_a_change_it_practically_never_fails_and_nearly_always_passes() -> None:
    found = shares(gates(independent(1.0)))
    assert found[Result.FAIL] <= 0.05  # the contract's bound
    assert found[Result.FAIL] == 0.0
    assert found[Result.PASS] >= 0.94  # what is left is dependence seen by chance


def test_at_the_threshold_itself_it_is_wrong_in_either_direction_at_most_as_computed() -> None:
    """The least favourable truth: the median ratio is exactly 1.05, and 4.6 % is the exact risk of each side."""
    found = shares(gates(independent(1.05)))
    allowance = 0.0463 + 3 * sqrt(0.0463 * 0.9537 / GATES)
    assert found[Result.FAIL] <= allowance
    assert found[Result.PASS] <= allowance
    assert found[Result.INCONCLUSIVE] >= 0.85


def test_independent_ratios_at_the_threshold_meet_the_exact_risk() -> None:
    """Without the order effect (which makes pairs of a balanced design slightly conservative)."""
    found = shares(gates(independent(1.05, second_slower=0.0)))
    # Dependence takes about 4 % of the gates out beforehand, whatever their ratios.
    assert abs(found[Result.FAIL] - 0.0462 * 0.96) < 3 * sqrt(0.0463 * 0.9537 / GATES)


def test_a_tenth_slower_nearly_always_fails() -> None:
    found = shares(gates(independent(1.10)))
    assert found[Result.FAIL] >= 0.94
    assert found[Result.PASS] == 0.0


def test_a_tenth_faster_passes() -> None:
    assert shares(gates(independent(0.90)))[Result.PASS] >= 0.94


def test_serial_correlation_is_inconclusive_whatever_the_effect() -> None:
    for effect in (1.0, 1.10):
        found = shares(gates(correlated(effect, 0.8), count=800))
        assert found[Result.INCONCLUSIVE] >= 0.97
    assert shares(gates(correlated(1.0, 0.6), count=800))[Result.INCONCLUSIVE] >= 0.85


def test_chance_alone_looks_dependent_in_about_one_gate_of_twenty_five() -> None:
    """|r1| or |rho| beyond 0.30 for 60 independent ratios: the price of the thresholds, stated in the docs."""
    found = shares(gates(independent(0.95)))
    assert 0.02 <= found[Result.INCONCLUSIVE] <= 0.06


def test_correlation_too_weak_to_be_seen_costs_little() -> None:
    """Between none and what the threshold sees, the risk of a wrong verdict rises from 4.6 % to about 6 %."""
    for phi in (0.1, 0.2, 0.3):
        found = shares(gates(correlated(1.05, phi), count=1500))
        assert max(found[Result.PASS], found[Result.FAIL]) <= 0.075
