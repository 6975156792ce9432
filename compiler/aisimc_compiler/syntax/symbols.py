"""Characters that no token has: signs from other languages, here-documents, variables, calls."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from aisimc_compiler.syntax import lookalikes

if TYPE_CHECKING:
    from aisimc_compiler.syntax.mending import Lexer

_SYMBOLS = re.compile(r"[^\s\w\"'#=,{}\[\]/]+")
_HERE_DOCUMENT = re.compile(r"<<-?[ \t]*([A-Za-z]\w*)")


def symbols_fault(lexer: Lexer, at: int) -> int:
    """Characters that no token has."""
    text = lexer.text
    match = _SYMBOLS.match(text, at)
    run = match[0] if match else text[at]
    end = at + len(run)
    if run[0] == ":":
        end = at + 1 + (text.startswith(":=", at) or text.startswith("::", at))
        before = " " if text[at - 1 : at].strip() else ""
        lexer.error(at, end, f"an attribute is set with `=`, not `{text[at:end]}`", fix=f"{before}=")
        lexer.add("EQUAL", at, end)
        return end
    if set(run) == {";"}:
        lexer.error(
            at, end, "attributes need no `;` between them", help="a line end, a blank or a comma will do", fix=""
        )
        return end
    if run[0] == ">" and lexer.tokens and text[at - 1 : at] == "=":
        lexer.error(at - 1, at + 1, "an attribute is set with `=`, not `=>`", fix="=")
        return at + 1
    if run[0] < " " or run[0] == "\x7f":
        end = at + len(run) - len(run.lstrip(run[0]))
        name = "a NUL character" if run[0] == "\0" else f"the control character U+{ord(run[0]):04X}"
        lexer.error(at, end, f"{name} stands in the text", fix="")
        return end
    end = _foreign_end(lexer, at, end)
    lexer.error(
        at,
        end,
        f"`{run}` means nothing here" if run.isprintable() else "this character means nothing here",
        label=lookalikes.name(run[0]) if run[0] > "\x7f" else "",
        help=_habit(run, text, end),
    )
    lexer.add("", at, end)
    return end


def _foreign_end(lexer: Lexer, at: int, end: int) -> int:
    """Where a foreign construct ends that starts here: `${…}`, `(…)`, `<<EOF … EOF`."""
    text = lexer.text
    if text[end - 1] in "$%" and text.startswith("{", end):
        return text.find("}", end, lexer.line_end(end)) + 1 or end
    if text[at] == "(":
        return text.find(")", at, lexer.line_end(at)) + 1 or end
    if (document := _HERE_DOCUMENT.match(text, at)) and not lexer.base:
        close = text.find(f"\n{document[1]}\n", document.end())
        return document.end() if close == -1 else close + 1 + len(document[1])
    return end


def _habit(run: str, text: str, end: int) -> str:
    """What whoever writes this is used to from elsewhere."""
    if run[0] == "$" or (text.startswith("{", end) and run[-1] in "$%"):
        return "there are no variables: a spec means the same everywhere"
    if run.startswith("<<"):
        return "there are no here-documents: a string stands on one line, with `\\n` for line ends"
    if run[0] in "()":
        return "there are no functions and no expressions; lists stand between `[` and `]`"
    if run[0] == "*":
        return "a wildcard is a whole segment of a pointer: `/per_request/*/at_ms`"
    if run[0] == "…":
        return "a range has two dots: `1..3`"
    if run[0] == "`":
        return 'strings stand between double quotes: "…"'
    return ""
