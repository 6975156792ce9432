"""`check --fix`: safe mends, together, until nothing is left to mend."""

from __future__ import annotations

from pathlib import Path

import pytest

from aisimc_compiler.api import check_text
from aisimc_compiler.diagnostics.model import Diagnostic, Replacement
from aisimc_compiler.fixing import applicable, apply, fix_checked, fix_file
from aisimc_compiler.source import Source, Span


def fixed(text: str) -> tuple[str, int]:
    result = fix_checked(check_text(text, "x.campaign"), "")
    return result.text, result.mends


@pytest.mark.parametrize(
    ("text", "mended", "mends"),
    [
        ("campaign 'c' { language: 1; purpose = 'i' }\n", 'campaign "c" { language = 1 purpose = "i" }\n', 4),
        ("// note\nrow x { }\n", "# note\nrow x { }\n", 1),
        ("row x { purpose = “hello” }\r\n", 'row x { purpose = "hello" }\r\n', 1),
        ("row x { a = [1 2 3] }\n", "row x { a = [1, 2, 3] }\n", 2),
        ("row x { }\n", "row x { }\n", 0),
        ("row x { a = \n", "row x { a = \n", 0),
    ],
)
def test_mends(text: str, mended: str, mends: int) -> None:
    assert fixed(text) == (mended, mends)


def test_a_second_round_mends_what_the_first_uncovered() -> None:
    text, mends = fixed("row x { a\u00a0:\u00a05 }\n")
    assert text == "row x { a = 5 }\n"
    assert mends >= 2


def test_of_two_overlapping_mends_the_first_is_taken() -> None:
    source = Source("x", "abcdef")

    def mend(start: int, end: int, text: str, safe: bool = True) -> Diagnostic:
        span = Span(source, start, end)
        return Diagnostic("syntax", span, "m", replacement=Replacement(span, text, safe))

    found = (
        mend(4, 5, "E"),
        mend(0, 3, "1"),
        mend(2, 4, "2"),
        mend(5, 6, "unsafe", safe=False),
        mend(5, 5, "+"),
        mend(5, 5, "+"),
    )
    assert apply(source.text, applicable(found, source)) == "1dE+f"


def test_mends_in_imports_are_left_to_their_own_check(tmp_path: Path) -> None:
    (tmp_path / "part.campaign").write_text("family f { engine: vllm }\n")
    (tmp_path / "one.campaign").write_text('import "part.campaign"\nrow x { engine: vllm }\n')
    result = fix_file(str(tmp_path / "one.campaign"))
    assert result is not None
    assert result.text == 'import "part.campaign"\nrow x { engine = vllm }\n'
    assert (tmp_path / "part.campaign").read_text() == "family f { engine: vllm }\n"


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    assert fix_file(str(tmp_path / "none.campaign")) is None
