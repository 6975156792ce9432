"""Finds the braces that are missing, by the indentation of what stands around them.

Only for texts in which something is wrong already: indentation means nothing to the parser.
"""

from __future__ import annotations

from aisimc_compiler.records import NamedTuple
from aisimc_compiler.syntax.driver import Token
from aisimc_compiler.syntax.faults import Report
from aisimc_compiler.syntax.keywords import TOP_LEVEL

_WHERE = {True: "this one closes the block around it", False: "and here the next one begins"}


def mend_braces(report: Report, tokens: list[Token], kinds: dict[str, int]) -> list[Token]:
    """The tokens with braces put in, or left out, where blocks were closed too late, with `]`, or too early."""
    missing = -surplus(tokens, kinds)
    if missing > 0:
        tokens = _drop_doubled(report, tokens, kinds, missing)
        tokens = _turn_brackets(report, tokens, kinds, -surplus(tokens, kinds))
        return _close_open_blocks(report, tokens, kinds)
    return _drop_early(report, tokens, kinds, -missing) if missing < 0 else tokens


def surplus(tokens: list[Token], kinds: dict[str, int]) -> int:
    """Closing braces without an opening one; negative where closing ones are missing."""
    found = [token[0] for token in tokens]
    return found.count(kinds["RBRACE"]) - found.count(kinds["LBRACE"])


def _drop_doubled(report: Report, tokens: list[Token], kinds: dict[str, int], missing: int) -> list[Token]:
    """`exclude { {`: the second brace opens nothing."""
    result: list[Token] = []
    for token in tokens:
        if missing and result and token[0] == result[-1][0] == kinds["LBRACE"]:
            missing -= 1
            report.error(token[1], token[2], "a block has one `{`", label="the second one", fix=(*token[1:], ""))
        else:
            result.append(token)
    return result


def _turn_brackets(report: Report, tokens: list[Token], kinds: dict[str, int], missing: int) -> list[Token]:
    """`workers = 4 ]`: a bracket that closes no list closes the block, where a brace is missing."""
    result, depth = list(tokens), 0
    for index, (kind, start, end) in enumerate(tokens):
        if kind == kinds["LSQB"]:
            depth += 1
        elif kind in (kinds["LBRACE"], kinds["RBRACE"]):
            depth = 0
        elif kind == kinds["RSQB"]:
            if depth == 0 and missing > 0:
                missing -= 1
                report.error(start, end, "a block ends with `}`", label="no list is open", fix=(start, end, "}"))
                result[index] = (kinds["RBRACE"], start, end)
            depth = max(0, depth - 1)
    return result


def _drop_early(report: Report, tokens: list[Token], kinds: dict[str, int], early: int) -> list[Token]:
    """The tokens without closing braces after which their block goes on, as the indentation shows."""
    lines, result, stack = _Lines(report, tokens), list[Token](), list[_Open]()
    for index, token in enumerate(tokens):
        first, indent, line = lines.first(index)
        if token[0] == kinds["LBRACE"]:
            stack.append(_opened(report, tokens, index, indent, line))
        elif token[0] == kinds["RBRACE"] and stack:
            opened = stack[-1]
            if early and opened.line != line and _goes_on(report, tokens, index, kinds, opened, first, indent):
                early -= 1
                where = (opened.token[1], opened.token[2], "the block that it would close")
                report.error(
                    token[1],
                    token[2],
                    "this `}` closes its block too early",
                    label="one too many",
                    help="remove it",
                    fix=(token[1], token[2], ""),
                    applicable=False,
                    secondary=(where,),
                )
                continue
            stack.pop()
        result.append(token)
    return result


def _goes_on(
    report: Report,
    tokens: list[Token],
    index: int,
    kinds: dict[str, int],
    opened: _Open,
    first: bool,
    indent: int,
) -> bool:
    """Whether a block goes on behind a brace: with an item indented deeper, or with a brace in its own column."""
    kind, start, _ = tokens[index + 1]
    line, column = report.source.position(start)
    if not kind or line == report.source.position(tokens[index][1])[0]:
        return False
    if kind == kinds["RBRACE"]:
        return column == opened.indent and (not first or indent != opened.indent)
    return column > opened.indent


class _Open(NamedTuple):
    token: Token
    indent: int
    line: int
    indented: bool
    """What it holds stands on its own line, or deeper than it: so what stands no deeper is not in it."""


def _opened(report: Report, tokens: list[Token], index: int, indent: int, line: int) -> _Open:
    at, column = report.source.position(tokens[index + 1][1])
    return _Open(tokens[index], indent, line, at == line or column > indent)


class _Lines:
    """Where tokens stand on their lines."""

    def __init__(self, report: Report, tokens: list[Token]) -> None:
        self._report, self._tokens = report, tokens
        self._line, self._column, self._at = 1, 1, -1

    def first(self, index: int) -> tuple[bool, int, int]:
        """Whether a token is the first on its line; the column of the line's first token; the line."""
        line, column = self._report.source.position(self._tokens[index][1])
        first = line != self._line or self._at == -1 or index == self._at
        if first:
            self._line, self._column, self._at = line, column, index
        return first, self._column, line


def _close_open_blocks(report: Report, tokens: list[Token], kinds: dict[str, int]) -> list[Token]:
    """The tokens with a closing brace put in wherever a block was left open; each is reported at its opening brace.

    Unchanged where there are as many closing braces as opening ones, or more.
    """
    opening, closing = kinds["LBRACE"], kinds["RBRACE"]
    missing = -surplus(tokens, kinds)
    if missing <= 0:
        return tokens
    lines, result, stack = _Lines(report, tokens), list[Token](), list[_Open]()
    for index, token in enumerate(tokens):
        first, indent, line = lines.first(index)
        if first and stack and missing > 0:
            keep = _still_open(report, tokens, index, kinds, stack, indent)
            while len(stack) > keep and missing > 0:
                _report(report, stack.pop(), token, closing, result)
                missing -= 1
        if token[0] == opening:
            stack.append(_opened(report, tokens, index, indent, line))
        elif token[0] == closing and stack:
            stack.pop()
        if token[0] == 0:
            while stack:
                _report(report, stack.pop(), token, closing, result)
        result.append(token)
    return result


def _still_open(
    report: Report, tokens: list[Token], index: int, kinds: dict[str, int], stack: list[_Open], indent: int
) -> int:
    """How many of the open blocks can still be open at a token that is the first on its line."""
    token = tokens[index]
    if token[0] == kinds["RBRACE"]:
        # A brace closes the block whose line is indented like its own; deeper ones inside were left open.
        for depth in range(len(stack) - 1, -1, -1):
            if stack[depth].indent == indent:
                return depth + 1
        return len(stack)
    if token[0] == kinds["NAME"] and tokens[index + 1][0] in (kinds["EQUAL"], kinds["LBRACE"], kinds["NAME"]):
        keep = len(stack)
        while keep and stack[keep - 1].indented and indent <= stack[keep - 1].indent:
            keep -= 1
        if keep < len(stack):
            return keep
    if token[0] == kinds["NAME"] and starts_top_level(report.source.text, tokens, index, kinds):
        for depth, opened in enumerate(stack):
            if indent <= opened.indent:
                return depth
    return len(stack)


def starts_top_level(text: str, tokens: list[Token], index: int, kinds: dict[str, int]) -> bool:
    """Whether a block of a file, or an import, begins at a token."""
    _, start, end = tokens[index]
    if text[start:end] not in TOP_LEVEL or index + 1 >= len(tokens):
        return False
    following = tokens[index + 1][0]
    if following == kinds["LBRACE"]:
        return True
    if following not in (kinds["NAME"], kinds["STRING"]):
        return False
    return text[start:end] == "import" or tokens[index + 2][0] == kinds["LBRACE"]


def _report(report: Report, opened: _Open, before: Token, closing: int, result: list[Token]) -> None:
    after = result[-1][2]
    start, end = opened.token[1], opened.token[2]
    where = (before[1], before[2], _WHERE.get(before[0] == closing, ""))
    if not before[0]:
        where = (before[1], before[1], "the file ends here")
    report.error(
        start,
        end,
        "this block is not closed",
        label="its `}` is missing",
        help="put `}` where the block ends",
        fix=(after, after, "\n" + " " * (opened.indent - 1) + "}"),
        applicable=False,
        secondary=(where,),
    )
    result.append((closing, after, after))
