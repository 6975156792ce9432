"""Texts that are nested deeper than anybody writes, cut off before they are read."""

from __future__ import annotations

from aisimc_compiler.syntax.driver import END, Token
from aisimc_compiler.syntax.faults import Report

MAX_NESTING = 30
"""Blocks and lists within one another; the language needs four."""


def shallow(report: Report, tokens: list[Token], kinds: dict[str, int]) -> tuple[list[Token], bool]:
    """The tokens before the first that is nested too deeply, and whether there is one."""
    opening = {kinds["LBRACE"], kinds["LSQB"]}
    closing = {kinds["RBRACE"], kinds["RSQB"]}
    depth = 0
    for index, token in enumerate(tokens):
        if token[0] in opening:
            depth += 1
            if depth > MAX_NESTING:
                message = "this is nested too deeply to be read"
                advice = f"{MAX_NESTING} levels are read, and the language needs four"
                report.error(token[1], token[2], message, help=advice)
                return [*tokens[:index], (END, token[1], token[1])], True
        elif token[0] in closing and depth:
            depth -= 1
    return tokens, False
