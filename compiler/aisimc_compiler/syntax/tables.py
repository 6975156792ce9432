"""Loads the parser tables: those made with the package, or, where they are missing or stale, fresh ones in memory."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple


class Tables(NamedTuple):
    """An LALR(1) automaton as `generate.generate` describes it, ready for the driver."""

    terminals: tuple[str, ...]
    match: re.Pattern[str]
    shift: tuple[tuple[int, ...], ...]
    goto: list[dict[int, int]]
    rules: tuple[tuple[int, int, int, int], ...]
    symbols: tuple[str, ...]


@cache
def load() -> Tables:
    """The tables of grammar.lark; made once for a process."""
    return _tables(_data(grammar_path().read_text(encoding="utf-8")))


def grammar_path() -> Path:
    """Where the grammar stands: beside this module, in a checkout and in a wheel alike."""
    return Path(__file__).with_name("grammar.lark")


def _data(grammar: str) -> dict[str, Any]:
    try:
        # Made when the package was built, hence not there for the type checker.
        from aisimc_compiler.syntax import _tables as made  # type: ignore[attr-defined,unused-ignore]
    except ImportError:
        made = None
    if made is not None and made.GRAMMAR == grammar:
        return vars(made)
    from aisimc_compiler.syntax.generate import generate

    return generate(grammar)


def _tables(data: dict[str, Any]) -> Tables:
    return Tables(
        terminals=data["TERMINALS"],
        match=re.compile(data["PATTERN"]),
        shift=data["SHIFT"],
        goto=data["GOTO"],
        rules=data["RULES"],
        symbols=data["SYMBOLS"],
    )
