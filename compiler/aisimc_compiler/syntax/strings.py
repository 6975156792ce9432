"""Strings that end too late, in the wrong quotes, or with what is no escape."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from aisimc_compiler.syntax import lookalikes
from aisimc_compiler.syntax.tree import Value

if TYPE_CHECKING:
    from aisimc_compiler.syntax.mending import Lexer

_ESCAPE = re.compile(r'\\(?:["\\/bfnrt]|u[0-9A-Fa-f]{4}|(?P<bad>u[0-9A-Fa-f]{0,3}|.?))')
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


def string_fault(lexer: Lexer, at: int) -> int:
    """A string with a bad escape, a control character, or no end."""
    text, end = lexer.text, lexer.line_end(at)
    if text.startswith('"""', at):
        close = text.find('"""', at + 3)
        stop = end if close == -1 else close + 3
        advice = 'use "…" and `\\n` for line ends'
        lexer.error(at, at + 3, "a string stands between two quotes, not six", help=advice)
        lexer.invalid(at, stop)
        return stop
    place = at + 1
    while place < end and text[place] != '"':
        if text[place] == "\\":
            place = _escape(lexer, place)
        elif text[place] < " " or text[place] == "\x7f":
            escape = "\\t" if text[place] == "\t" else f"\\u{ord(text[place]):04x}"
            what = "a tab" if text[place] == "\t" else f"the control character U+{ord(text[place]):04X}"
            lexer.error(place, place + 1, f"{what} stands in a string", help="escape it", fix=escape)
            place += 1
        else:
            place += 1
    if place >= end:
        return _unterminated(lexer, at, end)
    lexer.invalid(at, place + 1)
    return place + 1


def _escape(lexer: Lexer, slash: int) -> int:
    match = _ESCAPE.match(lexer.text, slash)
    if match is None:  # a backslash ends the text
        return slash + 1
    if match["bad"]:
        if match["bad"][:1] == "u":
            advice = "four hex digits follow `\\u`: `\\u00e9`"
        else:
            advice = r"""the escapes are `\"` `\\` `\/` `\b` `\f` `\n` `\r` `\t` and `\uXXXX`; a backslash is `\\`"""
        lexer.error(slash, match.end(), f"`{match[0]}` is not an escape", help=advice)
    return match.end()


def _unterminated(lexer: Lexer, at: int, end: int) -> int:
    text = lexer.text
    stop = at + len(text[at:end].rstrip())
    smart = next((i for i in range(at + 1, stop) if text[i] in lookalikes.DOUBLE_QUOTES and text[i] not in "‘’′"), -1)
    if smart != -1:
        lexer.error(
            smart,
            smart + 1,
            f"`{text[smart]}` does not close a string",
            label=lookalikes.name(text[smart]),
            help='strings end with a straight quote: `"`',
            fix='"',
        )
        lexer.invalid(at, smart + 1)
        return smart + 1
    if rest := _REST.match(text, stop):
        return _broken(lexer, at, stop, rest)
    line = text[lexer.line_start(at) : at]
    # A block on one line: the brace at the end of the line closes it rather than belonging to the string.
    if text[stop - 1] == "}" and line.count("{") > line.count("}"):
        stop = at + len(text[at : stop - 1].rstrip())
    lexer.report.error(
        lexer.base + at,
        lexer.base + max(stop, at + 1),
        "this string is not closed",
        label='no `"` follows on this line',
        help="a string ends on its line; write `\\n` for a line end in it",
        fix=(lexer.base + stop, lexer.base + stop, '"'),
        applicable=False,
    )
    lexer.invalid(at, stop)
    return stop


_REST = re.compile(
    r"[ \t]*(?:\r?\n[ \t]*(?:#[^\n]*)?)+"  # blank lines and comments
    r'(?P<rest>[^"=#{}\[\]\n]*")'
    r"(?=[ \t]*(?:[,}#\r\n]|\Z)|[ \t]+[A-Za-z])"
)


def _broken(lexer: Lexer, at: int, stop: int, rest: re.Match[str]) -> int:
    """Report a string that was broken into two lines, at its first part; returns where it ends."""
    lexer.report.error(
        lexer.base + at,
        lexer.base + stop,
        "a string ends on its line",
        label="goes on in the next line",
        help="write `\\n` for a line end in it, or put it on one line",
        fix=(lexer.base + stop, lexer.base + rest.start("rest"), " "),
        applicable=False,
    )
    lexer.invalid(at, rest.end())
    return rest.end()


def single_quoted(lexer: Lexer, at: int) -> int:
    end = lexer.line_end(at)
    close = lexer.text.find("'", at + 1, end)
    inside = lexer.text[at + 1 : close] if close != -1 else ""
    if close == -1:
        lexer.error(at, at + 1, "strings stand between double quotes", help='write "…"')
        lexer.invalid(at, at + 1)
        return at + 1
    fix = f'"{inside}"' if '"' not in inside and "\\" not in inside and not _CONTROL.search(inside) else None
    lexer.error(at, close + 1, "strings stand between double quotes", help='write "…"', fix=fix)
    span = lexer.report.span(lexer.base + at, lexer.base + close + 1)
    lexer.add("STRING", at, close + 1, Value("string", inside, lexer.text[at : close + 1], span))
    return close + 1
