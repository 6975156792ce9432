"""`parse`: text in, tree and diagnostics out. It never raises."""

from __future__ import annotations

import gc
from typing import Any, NoReturn

from aisimc_compiler.diagnostics.model import Diagnostic
from aisimc_compiler.source import Source
from aisimc_compiler.syntax.driver import FAULT, Token, TooDeep, drive, split
from aisimc_compiler.syntax.literals import BadLiteral, scalar
from aisimc_compiler.syntax.tables import Tables, load
from aisimc_compiler.syntax.tree import File, Value


class _Faulty(Exception):
    """The text has a mistake: it is read again, more slowly, by the part that can say which."""


def parse(source: Source) -> tuple[File, list[Diagnostic]]:
    """The tree of a text and every syntax error in it, in source order.

    After an error the parser goes on at the next attribute or block; what could not be read is missing from the
    tree, or, where an attribute's name is known, stands in it with a value of the kind `invalid`. Never raises.
    """
    tables = load()
    collecting = gc.isenabled()
    gc.disable()  # nothing here makes cycles, and a large tree makes the collector quadratic
    try:
        return _parse_clean(source, tables), []
    except (_Faulty, BadLiteral, TooDeep):
        from aisimc_compiler.syntax.recovery import parse_faulty

        return parse_faulty(source, tables)
    finally:
        if collecting:
            gc.enable()


def _parse_clean(source: Source, tables: Tables) -> File:
    kinds: Any = tuple(name.lower() for name in tables.terminals)

    def value_of(token: Token) -> Value:
        return scalar(source, token, kinds[token[0]])

    def refuse(token: Token, states: list[int], values: list[Any]) -> NoReturn:
        raise _Faulty

    def tokens() -> Any:
        for token in split(source.text, tables):
            if token[0] == FAULT:
                raise _Faulty
            yield token

    return drive(source, tokens(), tables, value_of, refuse)
