"""The blocks of what is declared about rows: not covered, intended differences, the performance gate."""

from __future__ import annotations

from aisimc_compiler.model import closed
from aisimc_compiler.model.vocabulary.terms import (
    DECIMAL,
    INTEGER,
    LIST,
    OPTIONAL,
    RULED,
    STRING,
    WORD,
    WORD_OR_LIST,
    Attribute,
    Block,
)

BLOCKS: dict[str, Block] = {
    "unsupported": Block(
        "unsupported",
        "a row of the matrix that is not covered, and why",
        {
            "on": Attribute(WORD, "the arm that cannot run it", words=("baseline", "candidate", "both")),
            "reason": Attribute(STRING, "why"),
        },
        label="name",
        repeated=True,
    ),
    "exception": Block(
        "exception",
        "the record of an intended difference",
        {
            "row": Attribute(WORD, "the row that differs", RULED),
            "differs": Attribute(
                LIST, "the fields that differ; `*` stands for one whole segment", RULED, item="pointer"
            ),
            "requests": Attribute(
                WORD_OR_LIST, "`all`, or the names of the sessions that differ", RULED, words=("all",), item=STRING
            ),
            "baseline": Attribute(STRING, "what the baseline does, and why it is less faithful", RULED),
            "candidate": Attribute(STRING, "what the candidate does", RULED),
            "source": Attribute(STRING, "the source of truth for it", RULED),
            "cause": Attribute(STRING, "why the intended change causes it, and not leaked entropy", RULED),
            "impact": Attribute(STRING, "what changes downstream", RULED),
            "disposition": Attribute(STRING, "what the reviewers decided", RULED),
        },
        {"regression_test": "regression_test"},
        label="name",
        repeated=True,
    ),
    "regression_test": Block(
        "regression_test",
        "a test that tells the two behaviours apart; run on both arms",
        {
            "command": Attribute(LIST, "the command, one string for each argument", RULED, item=STRING),
            "fails_on": Attribute(WORD, "`baseline`", RULED, words=closed.ARMS, ruled=True),
            "passes_on": Attribute(WORD, "`candidate`", RULED, words=closed.ARMS, ruled=True),
        },
        presence=RULED,
    ),
    "performance": Block(
        "performance",
        "the paired performance gate, predeclared",
        {
            "metric": Attribute(WORD, "`replay_execution_ms`", words=(closed.METRIC,), ruled=True),
            "rows": Attribute(WORD_OR_LIST, "`all`, or the names of the rows", words=("all",), item=WORD),
            "warmups": Attribute(INTEGER, "for each arm: 5"),
            "pairs": Attribute(INTEGER, "60"),
            "seed": Attribute(INTEGER, "of the order of the arms", RULED),
            "threshold": Attribute(DECIMAL, "of the median ratio candidate / baseline: 1.05"),
            "exchangeability": Attribute(STRING, "why the ratios may be taken as exchangeable", RULED),
            "invalidate_on": Attribute(
                LIST, "the conditions that invalidate a pair", RULED, words=closed.INVALIDATING, item=WORD
            ),
            "size_explanation": Attribute(STRING, "why an artifact grew by more than 5 %", OPTIONAL),
        },
        {"diagnostics": "diagnostics"},
        stray={
            "timer": "perf.boundary",
            "wall_time_ms": "perf.boundary",
            "samples": "perf.design",
            "max_pairs": "perf.design",
            "min_pairs": "perf.design",
            "adaptive": "perf.design",
            "repetitions": "perf.design",
            "iterations": "perf.fresh",
            "outliers": "perf.retain",
            "drop_outliers": "perf.retain",
            "remove_outliers": "perf.retain",
            "trim_outliers": "perf.retain",
            "exclude_outliers": "perf.retain",
            "discard_outliers": "perf.retain",
            "outlier_threshold": "perf.retain",
            "trim": "perf.retain",
            "discard": "perf.retain",
            "retry": "perf.retain",
            "retries": "perf.retain",
        },
    ),
    "diagnostics": Block(
        "diagnostics",
        "bounds of the dependence diagnostics, on absolute values",
        {
            "lag1_autocorrelation": Attribute(DECIMAL, "Pearson's r of the log ratios, one apart in run order", RULED),
            "order_trend": Attribute(DECIMAL, "Spearman's rho of ratio and run order", RULED),
            "temperature_trend": Attribute(DECIMAL, "Spearman's rho of ratio and temperature", OPTIONAL),
        },
        presence=RULED,
    ),
}
