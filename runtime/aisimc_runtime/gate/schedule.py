"""The gate's schedule in words, for `aisimc plan`: all of it, before anything runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from aisimc_compiler.plan.schedule import ARMS, PAIRS, WARMUPS_PER_ARM, first_arms

PER_LINE = 20


def describe(performance: Mapping[str, Any], rows: Sequence[str] | None = None) -> list[str]:
    """Lines that show the whole order of each gated row; `rows` limits them to some.

    `B` is a pair that starts with the baseline, `C` one that starts with the candidate.
    """
    shown = performance["rows"] if rows is None else [row for row in performance["rows"] if row in set(rows)]
    lines = [
        f"gate: {performance['metric']}, candidate/baseline, threshold {performance['threshold']:g}",
        f"  {2 * WARMUPS_PER_ARM} warm-ups a row, {' and '.join(ARMS)} in turn, then {PAIRS} pairs",
        f"  the order is fixed by seed {performance['seed']}, for each row its own",
        "  B: the baseline goes first in the pair; C: the candidate does",
    ]
    for row in shown:
        letters = [arm[0].upper() for arm in first_arms(performance["seed"], row)]
        lines.append(f"  {row}")
        lines.extend(
            f"    pairs {start + 1:2}-{start + PER_LINE}  {_grouped(letters[start : start + PER_LINE])}"
            for start in range(0, PAIRS, PER_LINE)
        )
    return lines


def _grouped(letters: Sequence[str]) -> str:
    return " ".join("".join(letters[at : at + 5]) for at in range(0, len(letters), 5))
