"""Texts that a slip of the hand, a word processor or another language's habit makes of a campaign."""

from __future__ import annotations

import random

FRAGMENTS = (
    *("{", "}", "[", "]", "=", ",", '"', "'", "/", "..", "...", "-", "1", "007", "1_", "5", "ms", "GB/s", "#", "//"),
    *("/*", "*/", "\\", "\\u12", "“", "”", "\u00a0", "о", "５", "~", "1e999", "é", "漢", "→", ":", ";", "_x"),
    *("1-3", "1,000", "@", "\u202e", "\t", "9" * 500, " " * 50, "::", ":=", "=>", "&", "|", "\u200b", "…", "²", "½"),
    *("\0", "\r", "\ufeff", "\n", "\r\n", "row", "row x", "a = ", "${", "(", ")", "<<EOF\n", "EOF\n", "\ud800"),
    *("true", "import", 'import "', "timing", "family", "frozen = ", "golden = ", "slice {", "exclude {"),
    *("/summary/wall_time_ms", '"""', "-- x", "..=", "%"),
)


def mutated(text: str, randoms: random.Random, times: int) -> str:
    """The text after some insertions, deletions, moves and replacements."""
    for _ in range(times):
        at = randoms.randrange(len(text) + 1)
        kind = randoms.randrange(4)
        if kind == 0:
            text = text[:at] + randoms.choice(FRAGMENTS) + text[at:]
        elif kind == 1:
            text = text[:at] + text[at + randoms.choice((1, 1, 2, 5, 20, 200)) :]
        elif kind == 2:
            other = randoms.randrange(len(text) + 1)
            text = text[:at] + text[other : other + randoms.choice((1, 5, 30, 300))] + text[at:]
        else:
            text = text[:at] + randoms.choice(FRAGMENTS) + text[at + 1 :]
    return text


def noise(randoms: random.Random, length: int) -> str:
    """Fragments in any order."""
    return "".join(randoms.choice((*FRAGMENTS, " ", " ", "a")) for _ in range(length))
