"""The layout of `aisimc fmt`, case by case."""

from __future__ import annotations

import pytest

from aisimc_compiler.source import Source
from aisimc_compiler.syntax.format import format_source


def formatted(text: str) -> str:
    """The formatted text, which formats to itself."""
    once = format_source(Source("x", text)).text
    assert once is not None
    assert format_source(Source("x", once)).text == once
    return once


@pytest.mark.parametrize(
    ("text", "tidy"),
    [
        ("", ""),
        ("\n\n", ""),
        ("# only this", "# only this\n"),
        ("row x{a=1}", "row x { a = 1 }\n"),
        ("row x { }", "row x { }\n"),
        ("row x {\n}", "row x { }\n"),
        ("row x\n{\na=1\n}", "row x {\n  a = 1\n}\n"),
        ("row x {\n\n\na = 1\n\n\nb = 2\n\n}\n\n\n\nrow y { }", "row x {\n  a = 1\n\n  b = 2\n}\n\nrow y { }\n"),
        ("row x { a = 1\nb = 2 }", "row x {\n  a = 1\n  b = 2\n}\n"),
        ("row x { a = 1, b = 2, }", "row x { a = 1, b = 2 }\n"),
        ("row x {\na = 1,\nb = 2,\n}", "row x {\n  a = 1\n  b = 2\n}\n"),
        ("row x {\nshort = 1\nlonger = 2\n}", "row x {\n  short  = 1\n  longer = 2\n}\n"),
        ("row x {\nshort = 1\n\nlonger = 2\n}", "row x {\n  short = 1\n\n  longer = 2\n}\n"),
        (
            "row x {\nengine = 1\ninput = 2\narrival_speedup_ratio = 3\n}",
            "row x {\n  engine = 1\n  input  = 2\n  arrival_speedup_ratio = 3\n}\n",
        ),
        ("row x {\nab = 1\n# c\na = 2\n}", "row x {\n  ab = 1\n  # c\n  a  = 2\n}\n"),
        ("row x {\nab = 1 c = 2\na = 2\n}", "row x {\n  ab = 1 c = 2\n  a = 2\n}\n"),
        (
            "x {\nprefill { w = 1 }\ndecode { w = 2 }\ntransfer { l = 1 ms }\n}",
            "x {\n  prefill { w = 1 }\n  decode  { w = 2 }\n  transfer { l = 1 ms }\n}\n",
        ),
        ("a=100GB/s\nb=1 .. 3\nc=[ 1,2 ,]\nd=[]", "a = 100 GB/s\nb = 1..3\nc = [1, 2]\nd = []\n"),
        ("x {\na = [1,\n2]\n}", "x {\n  a = [\n    1,\n    2,\n  ]\n}\n"),
        (
            "x {\na = [ # why\n1, # one\n# two\n2 ]\n}",
            "x {\n  a = [\n    # why\n    1,  # one\n    # two\n    2,\n  ]\n}\n",
        ),
        ("exclude { /a\n/b }", "exclude {\n  /a\n  /b\n}\n"),
        ("exclude { /a /b }", "exclude { /a /b }\n"),
        ("import\n'x'".replace("'", '"'), 'import "x"\n'),
        ("x { # why\na = 1 # b\n} # end", "x {  # why\n  a = 1  # b\n}  # end\n"),
        ("x {\na = 1 # one\nbcd = 2 # two\n}", "x {\n  a   = 1  # one\n  bcd = 2  # two\n}\n"),
        ("x {\na = 1            # far\n}", "x {\n  a = 1          # far\n}\n"),
        ("x {\na = # odd\n1\n}", "x {\n  # odd\n  a = 1\n}\n"),
        ("x {\n# a\n\n# b\na = 1\n# c\n}", "x {\n  # a\n\n  # b\n  a = 1\n  # c\n}\n"),
        ("a = 1\r\nb = 2\r\n", "a = 1\nb = 2\n"),
        ("x { timing polynomial evidence { a = 1 } }", "x { timing polynomial evidence { a = 1 } }\n"),
        ("x { a = 1 # b\n}", "x {\n  a = 1  # b\n}\n"),
        ("x {\na = 1 # b\n, # c\nd = 2 }", "x {\n  a = 1  # b\n  # c\n  d = 2\n}\n"),
    ],
)
def test_layout(text: str, tidy: str) -> None:
    assert formatted(text) == tidy


def test_a_block_that_is_too_long_for_a_line_is_broken() -> None:
    parts = " ".join(f"attribute_{number} = {number}" for number in range(12))
    assert formatted(f"row x {{ {parts} }}").count("\n") == 14


def test_lists_that_are_too_long_for_a_line_are_broken() -> None:
    words = ", ".join(f'"value {number}"' for number in range(20))
    assert formatted(f"a = [{words}]").count("\n") == 22


@pytest.mark.parametrize("text", ["timing " + "x" * 300, "exclude { /" + "x" * 300 + " }", 'a = "' + "x" * 300 + '"'])
def test_what_cannot_be_broken_stays_whole(text: str) -> None:
    assert "x" * 300 in formatted(text)


def test_a_file_with_syntax_errors_is_left_alone() -> None:
    result = format_source(Source("x", "row x { a: 1 }"))
    assert result.text is None
    assert len(result.diagnostics) == 1


def test_fragments_are_recognised() -> None:
    assert format_source(Source("x", "exclude { /a }")).fragment
    assert not format_source(Source("x", 'campaign "c" { }')).fragment
