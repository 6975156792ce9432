"""Small pieces of HTML; everything that comes from outside goes through `text`."""

from __future__ import annotations

import re
from html import escape
from typing import Any

ONE_LINE = 6
"""So many figures stand beside each other on a wide page."""


LONG_WORD = 20
"""A word of so many letters may break on a phone."""

_FIELD = re.compile(r"(?:/[\w*~-]+){2,}|\w+_\w+(?:/[\w*~-]+)+|\w+(?:/[\w*~-]+)*/\w+_\w+")
"""A field pattern as records name it, or a field of one request (`admission_history/0/at_ms`)."""


def text(value: Any) -> str:
    """Any value as text that cannot become markup."""
    return escape(str(value), quote=True)


def chip(result: str) -> str:
    """A result as a coloured word; the word itself carries the meaning."""
    words = {
        "PASS": "pass",
        "PASS_WITH_SEMANTIC_EXCEPTIONS": "pass with exceptions",
        "FAIL": "fail",
        "NOT_COVERED": "not covered",
        "INCOMPLETE": "not finished",
    }
    return f'<span class="chip {tone(result)}">{text(words.get(result, result.lower()))}</span>'


def tone(result: str) -> str:
    """CSS class of a result."""
    return {
        "PASS": "good",
        "PASS_WITH_SEMANTIC_EXCEPTIONS": "warn",
        "FAIL": "bad",
        "BLOCKED": "bad",
        "INCOMPLETE": "warn",
        "satisfied": "good",
        "failed": "bad",
        "missing": "bad",
        "not_observable": "mute",
    }.get(result, "mute")


def copy(value: str, shown: str | None = None) -> str:
    """A digest or the like in fixed-width letters, with a button that copies the whole of it."""
    return (
        f'<span class="copy"><code title="{text(value)}">{text(shown or value)}</code>'
        f'<button type="button" data-copy="{text(value)}" aria-label="Copy {text(value[:24])}">copy</button></span>'
    )


def path(pattern: str) -> str:
    """A field or field pattern: never broken over lines, so that it can be copied; it scrolls where it is too wide."""
    return f'<code class="path">{text(pattern)}</code>'


def prose(words: object) -> str:
    """Sentences: what stands in backticks is code, fields are whole, other long words may break on a phone."""
    pieces = str(words).split("`")
    if len(pieces) % 2 == 0:  # a backtick without its pair stands for itself
        pieces[-2:] = ["`".join(pieces[-2:])]
    return "".join(_plain(piece) if index % 2 == 0 else _code(piece) for index, piece in enumerate(pieces))


def _code(piece: str) -> str:
    return path(piece) if _FIELD.fullmatch(piece) else f"<code>{text(piece)}</code>"


def _plain(piece: str) -> str:
    """Words without backticks; nothing is put in that would be copied."""
    shown = []
    for word in piece.split(" "):
        field = _FIELD.match(word)
        if field and not word[field.end() :].strip(",;:.()"):
            shown.append(path(field[0]) + text(word[field.end() :]))
        else:
            shown.append(text(word) if len(word) < LONG_WORD else text(word).replace("_", "_<wbr>"))
    return " ".join(shown)


def table(caption: str, head: list[str], rows: list[list[str]], *, numeric: frozenset[int] = frozenset()) -> str:
    """A table in a region that scrolls by itself; cells are markup, the first one of each row is its header."""
    columns = "".join(
        f'<th scope="col"{_numeric(index, numeric)}>{text(title)}</th>' for index, title in enumerate(head)
    )
    body = "".join(_row(cells, numeric) for cells in rows)
    hint = '<p class="more" aria-hidden="true">more columns: scroll →</p>'
    return (
        f'<div class="scroll" role="region" tabindex="0" aria-label="{text(caption)}"><table>'
        f"<caption>{text(caption)}</caption><thead><tr>{columns}</tr></thead><tbody>{body}</tbody></table></div>{hint}"
    )


def _row(cells: list[str], numeric: frozenset[int]) -> str:
    first, *others = cells
    rest = "".join(f"<td{_numeric(index, numeric)}>{cell}</td>" for index, cell in enumerate(others, 1))
    return f'<tr><th scope="row">{first}</th>{rest}</tr>'


def _numeric(index: int, numeric: frozenset[int]) -> str:
    return ' class="num"' if index in numeric else ""


def facts(pairs: list[tuple[str, str]]) -> str:
    """A list of figures with their names; values are markup. More than fit on one line stand on two even ones."""
    widest = len(pairs) if len(pairs) <= ONE_LINE else -(-len(pairs) // 2)
    items = "".join(f"<div><dt>{text(k)}</dt><dd>{v}</dd></div>" for k, v in pairs)
    return f'<dl class="facts" style="--most:{widest}">{items}</dl>'


def anchor(name: str) -> str:
    """The id of a row's section."""
    return "row-" + "".join(char if char.isalnum() or char == "-" else "-" for char in name)
