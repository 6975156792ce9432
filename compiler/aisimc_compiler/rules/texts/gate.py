"""Rules of the performance gate. Codes AC07xx."""

from __future__ import annotations

from aisimc_compiler.rules.texts.language import METHOD, Entry

_GATE = f"{METHOD}, stage 7, performance follow-up; docs/performance-gate.md"

RULES: tuple[Entry, ...] = (
    (
        "AC0701",
        "perf.boundary",
        "the metric is `replay_execution_ms`",
        "`wall_time_ms` and outer timers also time the set-up and the report, which the loop has nothing to do with",
        _GATE,
        "metric = wall_time_ms",
        "metric = replay_execution_ms",
        "compile, run",
    ),
    (
        "AC0702",
        "perf.design",
        "5 warm-ups for each arm, 60 pairs from a fixed seed, threshold 1.05",
        (
            "the 24th and 37th of 60 ratios are exact 95 % bounds; with other numbers they are not, and a design "
            "chosen afterwards decides nothing"
        ),
        _GATE,
        "pairs = 30",
        "pairs = 60",
        "compile",
    ),
    (
        "AC0703",
        "perf.predeclared",
        "seed, diagnostic thresholds, exchangeability and invalidating conditions are in the spec",
        "what is chosen after the samples were seen can be chosen to fit them",
        _GATE,
        "performance { … }   # no diagnostics",
        "diagnostics { lag1_autocorrelation = 0.30 order_trend = 0.30 }",
        "compile",
    ),
    (
        "AC0704",
        "perf.fresh",
        "one iteration in each process, and no report written",
        "state and serialisation in the process would be timed as well",
        _GATE,
        "iterations = 10",
        "# nothing: one iteration in a fresh process",
        "run",
    ),
    (
        "AC0705",
        "perf.retain",
        "every attempted sample is kept; only a predeclared condition invalidates a pair",
        "dropping the samples that look wrong gives the result that looks right",
        _GATE,
        "drop_outliers = true",
        "invalidate_on = [competing_load]",
        "run",
    ),
    (
        "AC0706",
        "perf.gate",
        "pass: upper bound ≤ 1.05; fail: lower bound > 1.05; otherwise inconclusive",
        "the bounds are order statistics of the ratios and assume no distribution",
        _GATE,
        "upper bound 1.07, lower bound 1.01",
        "INCONCLUSIVE, and never more samples",
        "run",
    ),
    (
        "AC0707",
        "perf.dependence",
        "autocorrelation and trends stay within the declared thresholds",
        "the bounds hold for exchangeable samples only",
        _GATE,
        "lag-1 autocorrelation 0.45, declared 0.30",
        "INCONCLUSIVE, without the order statistics",
        "run",
    ),
    (
        "AC0708",
        "perf.failure",
        "a replay error or a malformed timing fails or blocks the row",
        "a sample that failed is a product failure and no outlier",
        _GATE,
        "sample 17 exits with 1",
        "the row fails, with the sample's evidence",
        "run",
    ),
    (
        "AC0709",
        "perf.size",
        "an artifact that grew by more than 5 % fails until explained",
        "growth is a cost that every user pays",
        _GATE,
        "the artifact grew by 8 %",
        'size_explanation = "a second engine is linked in"',
        "run",
    ),
)
