"""`parse`: text in, tree and diagnostics out. It never raises."""

from __future__ import annotations

import gc

from aisimc_compiler.diagnostics.model import Diagnostic
from aisimc_compiler.hints import Any, NoReturn
from aisimc_compiler.source import Source
from aisimc_compiler.syntax.driver import Faulty, Stacks, Token, drive, split
from aisimc_compiler.syntax.literals import BadLiteral, scalar
from aisimc_compiler.syntax.tables import Tables, load
from aisimc_compiler.syntax.tree import File, Value


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
    except (Faulty, BadLiteral):
        from aisimc_compiler.syntax.recovery import parse_faulty

        return parse_faulty(source, tables)
    finally:
        if collecting:
            gc.enable()


BIDI = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\u061c"
"""Characters that change the direction of writing."""


def _parse_clean(source: Source, tables: Tables) -> File:
    kinds: Any = tuple(name.lower() for name in tables.terminals)
    text = source.text
    if _hides_something(text):
        raise Faulty

    def value_of(token: Token) -> Value:
        return scalar(source, text, token, kinds[token[0]])

    def refuse(_token: Token) -> NoReturn:
        raise Faulty

    return drive(source, text, split(text, tables), tables, value_of, refuse, Stacks([1], []))


def _hides_something(text: str) -> bool:
    """Whether the text has characters, perhaps in strings or comments, that make it look other than it is read."""
    if "\r" in text and text.count("\r") != text.count("\r\n"):
        return True
    return not text.isascii() and any(character in text for character in BIDI)
