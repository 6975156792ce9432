"""Loads the parser tables: those made with the package, or, where they are missing or stale, fresh ones in memory."""

from __future__ import annotations

import contextlib
import os
import re
from functools import cache

from aisimc_compiler.hints import Any
from aisimc_compiler.records import NamedTuple


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
    with open(grammar_path(), encoding="utf-8") as file:  # noqa: PTH123 - pathlib costs start-up time
        return _prepared(_data(file.read()))


def grammar_path() -> str:
    """Where the grammar stands: beside this module, in a checkout and in a wheel alike."""
    return os.path.join(os.path.dirname(__file__), "grammar.lark")  # noqa: PTH118, PTH120


def _data(grammar: str) -> dict[str, Any]:
    with contextlib.suppress(ImportError):
        # Made when the package was built, hence perhaps not there for the type checker.
        from aisimc_compiler.syntax import _tables  # type: ignore[attr-defined,unused-ignore]

        if grammar == _tables.GRAMMAR:
            return vars(_tables)
    from aisimc_compiler.syntax.generate import generate

    return generate(grammar)


def _prepared(data: dict[str, Any]) -> Tables:
    return Tables(
        terminals=data["TERMINALS"],
        match=re.compile(data["PATTERN"]),
        shift=data["SHIFT"],
        goto=data["GOTO"],
        rules=data["RULES"],
        symbols=data["SYMBOLS"],
    )
