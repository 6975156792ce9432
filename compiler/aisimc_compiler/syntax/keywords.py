"""The keywords that the parser needs to know to guess what was meant; the model has the whole vocabulary.

A test keeps them equal to the model's.
"""

from __future__ import annotations

STATEMENTS = frozenset({"import", "timing", "correction"})
"""Blocks that may stand without a body."""

TOP_LEVEL = frozenset(
    {
        "build",
        "campaign",
        "determinism",
        "exception",
        "exclude",
        "family",
        "fixture",
        "import",
        "input",
        "performance",
        "revision",
        "row",
        "unsupported",
    }
)
"""Blocks of a file."""

INNER = frozenset(
    {
        "capacity",
        "composition",
        "correction",
        "decode",
        "diagnostics",
        "evidence",
        "expect",
        "generator",
        "prefill",
        "regression_test",
        "slice",
        "timing",
        "topology",
        "transfer",
    }
)
"""Blocks within blocks."""

BLOCKS = TOP_LEVEL | INNER


def is_statement(word: str) -> bool:
    """Whether a word, or what it is one slip away from, may stand with a name and no body: `timming polynomial`."""
    if word in STATEMENTS or word in BLOCKS:
        return word in STATEMENTS
    from aisimc_compiler.model.nearest import distance

    return any(distance(word, known, 1) == 1 for known in STATEMENTS)
