"""What begins like a number and is none."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from aisimc_compiler.syntax.literals import MAX_NUMBER_LENGTH
from aisimc_compiler.syntax.tree import Value

if TYPE_CHECKING:
    from aisimc_compiler.syntax.mending import Lexer

_NUMBER = r"-?\d[\d_]*(?:\.\d+)?"
_RANGE = re.compile(rf"({_NUMBER})[ \t]*(\.{{3,}}|\.\.[=<]|\.\.(?=-)|-)[ \t]*({_NUMBER})(?![\w.-])")
_OPEN_RANGE = re.compile(rf"(?:{_NUMBER}[ \t]*\.\.|\.\.[ \t]*{_NUMBER})(?![\w.-])")
_HASH = re.compile(r"(?=\d*[A-Fa-f])[0-9A-Fa-f]{7,}")
_DATE = re.compile(r"\d{4}-\d\d-\d\d\w*")
_VERSION = re.compile(r"v?\d+(?:\.\w+)*\.\w*[A-Za-z]\w*(?:[.+-]\w+)*|\d+(?:\.\w+){2,}(?:[+-]\w+)*")
_BASED = re.compile(r"[+-]?0([xob])([0-9A-Fa-f_]+)", re.IGNORECASE)
_SLOPPY = re.compile(r"([+-]?)([\d_]*)(?:\.([\d_]*))?(?:[eE]([+-]?\d+))?")
_UNIT = re.compile(r"(-?\d[\d_]*(?:\.\d+)?)([A-Za-z]+)")
_GROUPED = re.compile(r"0\d\d(?:,\d{3})*(?![\w.+-])")
_SPACED = re.compile(r"0\d\d(?: \d{3})*(?![\w.+-])")
_BASES = {"x": 16, "o": 8, "b": 2}


def number_fault(lexer: Lexer, at: int, word: str) -> int:
    """Report the fault at `at`, where `word` starts with a digit, a sign or a dot; the place to go on from."""
    text = lexer.text
    if word[0] in "+-." and not any(c.isalnum() for c in word):
        return _signs(lexer, at, word)
    ranged = _RANGE.match(text, at)
    if ranged and not _DATE.fullmatch(word) and ranged.end() >= at + len(word):
        return _range(lexer, at, ranged)
    if opened := _OPEN_RANGE.match(text, at):
        lexer.error(at, opened.end(), "a range has both ends", help="write the lowest and the highest: `1..3`")
        lexer.invalid(at, opened.end())
        return opened.end()
    end = at + len(word)
    if text[end : end + 1] == "%":
        lexer.error(at, end + 1, f"`{word}%` is not a number", help="write the fraction: `0.05`")
        lexer.invalid(at, end + 1)
        return end + 1
    if grouped := _GROUPED.match(text, at):
        number, comma = lexer.tokens[-2:] if len(lexer.tokens) > 1 else (None, None)
        if (
            number
            and comma
            and number[0] == lexer.kinds["INTEGER"]
            and (number[2], comma[2]) == (comma[1], lexer.base + at)
        ):
            return _grouped(lexer, number[1] - lexer.base, grouped.end())
    if (spaced := _SPACED.match(text, at)) and lexer.tokens:
        number = lexer.tokens[-1]
        if number[0] == lexer.kinds["INTEGER"] and text[number[2] - lexer.base : at] == " ":
            return _grouped(lexer, number[1] - lexer.base, spaced.end())
    if (
        word[0] == "."
        and lexer.tokens
        and lexer.tokens[-1][2] == lexer.base + at
        and lexer.tokens[-1][0] == lexer.kinds["NAME"]
    ):
        start = lexer.tokens[-1][1] - lexer.base
        advice = "names have letters, digits, `_` and `-`; text stands in quotes"
        lexer.error(start, end, f"`{text[start:end]}` is not a name", help=advice)
        lexer.values[lexer.base + start] = Value(
            "invalid", None, text[start:end], lexer.report.span(lexer.base + start, lexer.base + end)
        )
        return end
    if _HASH.fullmatch(word):
        return _text(lexer, at, word, "a hash is text")
    if _DATE.fullmatch(word):
        return _text(lexer, at, word, "a date is text")
    if _VERSION.fullmatch(word):
        return _text(lexer, at, word, "a version is text")
    if not _rewritten(lexer, at, word):
        _unknown(lexer, at, word)
    return end


def _grouped(lexer: Lexer, start: int, end: int) -> int:
    """`1,000` or `1 000`, of which the lexer has taken `1`, and the comma, already."""
    by = "," if "," in lexer.text[start:end] else " "
    mend = lexer.text[start:end].replace(by, "_")
    what = "commas" if by == "," else "blanks"
    lexer.error(start, end, f"digits are grouped with `_`, not with {what}", help=f"write `{mend}`", fix=mend)
    del lexer.tokens[-2 if by == "," else -1 :]
    lexer.invalid(start, end)
    return end


def _signs(lexer: Lexer, at: int, word: str) -> int:
    """Dashes, dots and pluses alone: list items of YAML, comments of SQL, ellipses."""
    end = at + len(word)
    if word.startswith("--") and lexer.text[end : end + 1] in (" ", "\t"):
        lexer.error(at, end, "a comment starts with `#`", fix="#")
        return lexer.line_end(at)
    if word == "-" and _begins_item(lexer, at):
        advice = "an `exclude` block holds bare pointers; other lists are `[a, b]`"
        lexer.error(at, end, "list items need no dash", help=advice, fix="")
        return end
    advice = "a range has two dots and both ends: `1..3`" if word[0] == "." else ""
    lexer.error(at, end, f"`{word}` means nothing here", help=advice)
    lexer.add("", at, end)
    return end


def _begins_item(lexer: Lexer, at: int) -> bool:
    if not lexer.text[lexer.line_start(at) : at].strip():
        return True
    return bool(lexer.tokens) and lexer.tokens[-1][0] in (
        lexer.kinds["LBRACE"],
        lexer.kinds["LSQB"],
        lexer.kinds["COMMA"],
    )


def _range(lexer: Lexer, at: int, match: re.Match[str]) -> int:
    mend = f"{match[1].strip('_')}..{match[3].strip('_')}"
    what = {"-": "a dash", "..": "a sign"}.get(match[2], f"`{match[2]}`")
    lexer.error(
        at,
        match.end(),
        f"a range is written with two dots, not with {what}",
        label="both ends are included",
        help=f"write `{mend}`",
        fix=mend,
    )
    lexer.invalid(at, match.end())
    return match.end()


def _text(lexer: Lexer, at: int, word: str, message: str) -> int:
    lexer.error(at, at + len(word), f"{message}, and text stands in quotes", help="put it in quotes", fix=f'"{word}"')
    span = lexer.report.span(lexer.base + at, lexer.base + at + len(word))
    lexer.add("STRING", at, at + len(word), Value("string", word, word, span))
    return at + len(word)


def _rewritten(lexer: Lexer, at: int, word: str) -> bool:
    """A number in another notation: report it with the same number as the language writes it."""
    if len(word) > MAX_NUMBER_LENGTH:
        return False
    if based := _BASED.fullmatch(word):
        try:
            mend = str(int(based[2].replace("_", ""), _BASES[based[1].lower()]))
        except ValueError:
            return False
        message = "numbers are decimal"
    elif (sloppy := _SLOPPY.fullmatch(word)) and (sloppy[2] or sloppy[3]):
        mend, message = _decimal(sloppy)
    else:
        return False
    end = at + len(word)
    lexer.error(at, end, message, help=f"write `{mend}`", fix=mend)
    lexer.invalid(at, end)
    return True


def _decimal(match: re.Match[str]) -> tuple[str, str]:
    sign, whole, fraction, exponent = match[1], match[2], match[3], match[4]
    digits = whole.replace("_", "")
    if sign == "+":
        message = "a number has no plus sign"
    elif fraction == "":
        message = "a decimal has a digit after its point"
    elif not whole:
        message = "a decimal has a digit before its point"
    elif len(digits) > 1 and digits[0] == "0":
        message = "a number has no leading zeros"
    else:
        message = "an underscore stands between two digits"
    grouped = re.sub("_+", "_", whole.strip("_"))
    mend = grouped if grouped[:1] != "0" else digits.lstrip("0")
    mend = ("-" if sign == "-" else "") + (mend or "0")
    if fraction:
        mend += "." + (fraction.replace("_", "") or "0")
    return mend + (f"e{exponent}" if exponent else ""), message


def _unknown(lexer: Lexer, at: int, word: str) -> None:
    end = at + len(word)
    before = lexer.tokens[-1] if lexer.tokens else None
    names_it = (
        before is not None
        and before[0] == lexer.kinds["NAME"]
        and "\n" not in lexer.text[max(before[2] - lexer.base, 0) : at]
    )
    if unit := _UNIT.fullmatch(word):
        if names_it:
            lexer.error(at, end, f"`{word}` starts with a digit, and a name with a letter")
            lexer.add("NAME", at, end)
            return
        lexer.error(
            at,
            end,
            f"`{unit[2]}` is not a unit",
            help="units are `ms`, `s`, `B`, `KiB`, `MiB` and `GB/s`; text stands in quotes",
        )
    elif names_it and word[0] not in "+.":
        lexer.error(at, end, f"`{word}` starts with `{word[0]}`, and a name with a letter")
        lexer.add("NAME", at, end)
        return
    else:
        shown = word if len(word) <= 40 else f"{word[:39]}…"
        lexer.error(at, end, f"`{shown}` is neither a number nor a name", help="text stands in quotes")
    lexer.invalid(at, end)
