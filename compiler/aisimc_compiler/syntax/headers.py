"""Mends what stands before a block's brace, before anything is parsed: its keyword and its name."""

from __future__ import annotations

from aisimc_compiler.syntax.braces import starts_top_level
from aisimc_compiler.syntax.driver import Token
from aisimc_compiler.syntax.faults import Report
from aisimc_compiler.syntax.keywords import BLOCKS, TOP_LEVEL


def drop_equals(report: Report, tokens: list[Token], kinds: dict[str, int]) -> list[Token]:
    """The tokens without an `=` between a block's keyword and its name: `row = x {`."""
    text, result = report.source.text, list[Token]()
    wanted = [kinds["NAME"], kinds["EQUAL"], kinds["NAME"], kinds["LBRACE"]]
    for index, token in enumerate(tokens):
        if token[0] == kinds["EQUAL"] and [part[0] for part in tokens[max(index - 1, 0) : index + 3]] == wanted:
            keyword, _, label, brace = tokens[index - 1 : index + 3]
            word = text[keyword[1] : keyword[2]]
            if word in BLOCKS and "\n" not in text[keyword[2] : brace[1]]:
                report.error(
                    token[1],
                    token[2],
                    "a block has no `=` before its name",
                    help=f"write `{word} {text[label[1] : label[2]]} {{ … }}`",
                    fix=(keyword[2], label[1], " "),
                )
                continue
        result.append(token)
    return result


def drop_lone_keywords(report: Report, tokens: list[Token], kinds: dict[str, int]) -> list[Token]:
    """The tokens without keywords that have neither name nor body, and so would take the next line's for a name."""
    text, result = report.source.text, list[Token]()
    for index, token in enumerate(tokens):
        if _takes_next_keyword(text, tokens, index, kinds):
            keyword = text[token[1] : token[2]]
            advice = 'write `import "…"`' if keyword == "import" else f"a block is `{keyword} {{ … }}`"
            report.error(token[1], token[2], f"`{keyword}` stands alone", label="nothing follows it", help=advice)
        else:
            result.append(token)
    return result


def _takes_next_keyword(text: str, tokens: list[Token], index: int, kinds: dict[str, int]) -> bool:
    """`row`, and on the next line `fixture x {`."""
    token, name = tokens[index], kinds["NAME"]
    if token[0] != name or text[token[1] : token[2]] not in TOP_LEVEL or tokens[index + 1][0] != name:
        return False
    header = [part[0] for part in tokens[index + 2 : index + 4]]
    named = len(header) > 1 and header[0] in (name, kinds["STRING"]) and header[1] == kinds["LBRACE"]
    on_next_line = "\n" in text[token[2] : tokens[index + 1][1]]
    return named and on_next_line and starts_top_level(text, tokens, index + 1, kinds)
