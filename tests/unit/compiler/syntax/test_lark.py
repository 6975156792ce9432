"""The driver and its single-expression lexer read what Lark's own parser reads from the same grammar."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lark import Lark, Token, Tree, UnexpectedInput

from aisimc_compiler.source import Source, Span
from aisimc_compiler.syntax import tree
from aisimc_compiler.syntax.driver import Faulty, Stacks, drive, split
from aisimc_compiler.syntax.keywords import is_statement
from aisimc_compiler.syntax.literals import BadLiteral, scalar
from aisimc_compiler.syntax.tables import grammar_path, load
from tests.builders.texts import EVERY_CONSTRUCT, SPECS, written


@cache
def lark() -> Lark:
    grammar = Path(grammar_path()).read_text(encoding="utf-8")
    return Lark(grammar, parser="lalr", lexer="contextual", start="file", propagate_positions=True)


class Build:
    """Lark's tree as a tree of ours."""

    def __init__(self, text: str) -> None:
        self.source = Source("test", text)

    def node(self, part: Any) -> Any:
        if isinstance(part, Token):
            start, end = part.start_pos, part.end_pos
            assert start is not None and end is not None
            return scalar(self.source, self.source.text, (0, start, end), part.type.lower())
        assert isinstance(part, Tree)
        return getattr(self, part.data)(part)

    def span(self, part: Tree[Any]) -> Span:
        return Span(self.source, part.meta.start_pos, part.meta.end_pos)

    def name(self, token: Token) -> tree.Name:
        assert token.start_pos is not None and token.end_pos is not None
        return tree.Name(str(token), Span(self.source, token.start_pos, token.end_pos))

    def file(self, part: Tree[Any]) -> tree.File:
        return tree.File(self.source, tuple(self.node(child) for child in part.children))

    def attribute(self, part: Tree[Any]) -> tree.Attribute:
        name, value = part.children
        return tree.Attribute(self.name(name), self.node(value))

    def list(self, part: Tree[Any]) -> tree.Value:
        span = self.span(part)
        raw = self.source.text[span.start : span.end]
        return tree.Value("list", tuple(self.node(child) for child in part.children), raw, span)

    def block(self, part: Tree[Any]) -> tree.Block:
        keyword, *rest = part.children
        labels = ()
        # A label is a token that follows the keyword before the brace; a pointer is a token of the body.
        if rest and isinstance(rest[0], Token) and rest[0].type in ("NAME", "STRING"):
            labels = (self.label(rest.pop(0)),)
        return tree.Block(self.name(keyword), labels, tuple(map(self.node, rest)), True, self.span(part))

    def statement(self, part: Tree[Any]) -> tree.Block:
        keyword, label = part.children
        if not is_statement(str(keyword)):
            raise Faulty
        return tree.Block(self.name(keyword), (self.label(label),), (), False, self.span(part))

    def label(self, token: Token) -> tree.Name | tree.Value:
        if token.type == "NAME":
            return self.name(token)
        value: tree.Value = self.node(token)
        return value


def by_lark(text: str) -> object:
    """What Lark makes of a text, or None where it refuses it."""
    try:
        return written(Build(text).file(lark().parse(text)))
    except (UnexpectedInput, Faulty, BadLiteral):
        return None


def by_driver(text: str) -> object:
    """What the driver makes of a text, or None where it refuses it."""
    source, tables = Source("test", text), load()

    def refuse(_: object) -> None:
        raise Faulty

    def value_of(token: tuple[int, int, int]) -> tree.Value:
        return scalar(source, text, token, tables.terminals[token[0]].lower())

    try:
        return written(drive(source, text, split(text, tables), tables, value_of, refuse, Stacks([1], [])))
    except (Faulty, BadLiteral):
        return None


@pytest.mark.parametrize("path", SPECS, ids=lambda path: path.stem)
def test_specs(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    result = by_driver(text)
    assert result is not None
    assert result == by_lark(text)


def test_every_construct() -> None:
    result = by_driver(EVERY_CONSTRUCT)
    assert result is not None
    assert result == by_lark(EVERY_CONSTRUCT)


PIECES = (
    "row x { a = 1 }",
    *[
        "{",
        "}",
        "[",
        "]",
        "=",
        ",",
        "#",
        "\n",
        "\t",
        "row",
        "timing",
        "import",
        "true",
        "ms",
        "s",
        "B",
        "GB/s",
        "KB",
        "1",
        "-1",
        "1..3",
        "1.5",
        "1e3",
        "5_000",
        "5",
        "ms",
        "5ms",
        "007",
        "1_",
        ".5",
        "..",
        "/",
        "/a/b",
        "/~",
        "/*",
        "//",
        "x",
    ],
    '"s"',
    '"\\n"',
    '"',
    " ",
)


@settings(max_examples=600, deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=14).flatmap(lambda p: st.sampled_from([" ".join(p), "".join(p)])))
def test_any_sequence_of_pieces(text: str) -> None:
    assert by_driver(text) == by_lark(text)


@settings(max_examples=300, deadline=None)
@given(st.integers(0, len(EVERY_CONSTRUCT)), st.integers(0, 40), st.sampled_from(PIECES))
def test_damaged_text(start: int, length: int, piece: str) -> None:
    text = EVERY_CONSTRUCT[:start] + piece + EVERY_CONSTRUCT[start + length :]
    assert by_driver(text) == by_lark(text)
