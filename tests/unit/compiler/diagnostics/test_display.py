"""Characters that terminals show in other widths, or not at all."""

from __future__ import annotations

import pytest

from aisimc_compiler.diagnostics.model import Diagnostic, Label
from aisimc_compiler.diagnostics.render import text as renderer
from aisimc_compiler.diagnostics.render.display import expand, one_line, width
from aisimc_compiler.source import Source, Span


@pytest.mark.parametrize(
    ("text", "shown", "columns"),
    [
        ("ab", "ab", [0, 1, 2]),
        ("\tx", "    x", [0, 4, 5]),
        ("ab\tx", "ab  x", [0, 1, 2, 4, 5]),
        ("漢x", "漢x", [0, 2, 3]),
        ("e\u0301x", "e\u0301x", [0, 1, 1, 2]),
        ("\x00x", "\u2400x", [0, 1, 2]),
        ("\x7f", "\u2421", [0, 1]),
        ("\u200bx", "<U+200B>x", [0, 8, 9]),
        ("\u202e", "<U+202E>", [0, 8]),
        ("\ud800", "<U+D800>", [0, 8]),
        ("\r", "\u240d", [0, 1]),
    ],
)
def test_expand(text: str, shown: str, columns: list[int]) -> None:
    assert expand(text) == (shown, columns)
    assert width(shown) == columns[-1]


def test_messages_stay_on_one_line_and_cannot_command_a_terminal() -> None:
    assert one_line("a\nb\x1b[31m\u202ec") == "a b\u241b[31m<U+202E>c"


def drawn(text: str, start: int, end: int, label: str = "here", secondary: tuple[Label, ...] = ()) -> list[str]:
    """The lines drawn for one diagnostic, from the arrow on."""
    source = Source("x", text)
    moved = tuple(Label(Span(source, one.span.start, one.span.end), one.message) for one in secondary)
    diagnostic = Diagnostic("syntax", Span(source, start, end), "wrong", label, secondary=moved)
    block = "".join(renderer.render([diagnostic], lambda rule: "AC0001"))
    assert block.endswith("\n\n")
    return block.rstrip("\n").split("\n")[1:]


@pytest.mark.parametrize(
    ("text", "start", "end", "row", "mark"),
    [
        ("ab cd", 3, 5, "1 | ab cd", "  |    ^^ here"),
        ("\tab", 1, 3, "1 |     ab", "  |     ^^ here"),
        ("漢 字", 2, 3, "1 | 漢 字", "  |    ^^ here"),
        ("e\u0301 x", 3, 4, "1 | e\u0301 x", "  |   ^ here"),
        ("ab", 2, 2, "1 | ab", "  |   ^ here"),
        ("ab\n", 2, 2, "1 | ab", "  |   ^ here"),
        ("ab\r\ncd", 0, 5, "1 | ab", "  | ^^ here"),
        ("ab\n", 3, 3, "2 |", "  | ^ here"),
        ("", 0, 0, "1 |", "  | ^ here"),
        ("a\nbc\nd", 2, 6, "2 | bc", "  | ^^ here"),
        ("x\ud800y", 1, 2, "1 | x<U+D800>y", "  |  ^^^^^^^^ here"),
    ],
)
def test_underline(text: str, start: int, end: int, row: str, mark: str) -> None:
    lines = drawn(text, start, end)
    assert lines[2:4] == [row, mark]


def test_line_numbers_of_two_widths_share_a_gutter() -> None:
    text = "\n".join(f"line{number}" for number in range(1, 13))
    source = Source("x", text)
    first = Label(Span(source, text.index("line9"), text.index("line9") + 4), "first")
    assert drawn(text, text.index("line11"), text.index("line11") + 6, "second", (first,))[1:] == [
        "   |",
        " 9 | line9",
        "   | ---- first",
        "10 | line10",
        "11 | line11",
        "   | ^^^^^^ second",
    ]


def test_lines_between_are_left_out() -> None:
    text = "a\nb\nc\nd\ne"
    first = Label(Span(Source("x", text), 0, 1), "first")
    assert drawn(text, 8, 9, "second", (first,))[2:] == ["1 | a", "  | - first", "...", "5 | e", "  | ^ second"]


def test_several_labels_on_one_line_hang_below_each_other() -> None:
    text = "one two three"
    source = Source("x", text)
    labels = (Label(Span(source, 0, 3), "first"), Label(Span(source, 4, 7), "second"))
    assert drawn(text, 8, 13, "third", labels)[2:] == [
        "1 | one two three",
        "  | --- --- ^^^^^ third",
        "  | |   second",
        "  | first",
    ]


@pytest.mark.parametrize("at", [0, 50_000, 99_995])
def test_a_window_around_a_token_in_an_endless_line(at: int) -> None:
    text = "x" * at + "TOKEN" + "y" * (100_000 - at)
    lines = drawn(text, at, at + 5)
    assert all(len(line) < 330 for line in lines)
    row, mark = lines[2], lines[3]
    assert row[mark.index("^") : mark.index("^") + 5] == "TOKEN"
    assert mark.count("^") == 5


def test_an_endless_token_is_cut() -> None:
    lines = drawn("x" * 100_000, 0, 100_000)
    assert all(len(line) < 330 for line in lines)


def test_labels_in_another_file() -> None:
    here, there = Source("a.campaign", "one\n"), Source("b.campaign", "zero\ntwo\n")
    diagnostic = Diagnostic("syntax", Span(here, 0, 3), "wrong", "this", secondary=(Label(Span(there, 5, 8), "that"),))
    assert "".join(renderer.render([diagnostic], lambda rule: "")).split("\n") == [
        "error syntax: wrong",
        " --> a.campaign:1:1",
        "  |",
        "1 | one",
        "  | ^^^ this",
        " ::: b.campaign:2:1",
        "  |",
        "2 | two",
        "  | --- that",
        "",
        "",
    ]


def test_colour_adds_nothing_but_styles() -> None:
    import re

    source = Source("x", "ab cd")
    diagnostic = Diagnostic("syntax", Span(source, 3, 5), "wrong", "here", ("why",), "do that")
    coloured = "".join(renderer.render([diagnostic], lambda rule: "AC0001", colour=True))
    assert "\x1b[" in coloured
    plain = "".join(renderer.render([diagnostic], lambda rule: "AC0001"))
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == plain


@pytest.mark.parametrize(("errors", "said"), [(0, ""), (1, "1 error in 1 file"), (1200, "1,200 errors in 1 file")])
def test_summary(errors: int, said: str) -> None:
    source = Source("x", "a")
    assert renderer.summary([Diagnostic("syntax", Span(source, 0, 1), "m")] * errors) == said
