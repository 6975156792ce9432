"""Lines for a terminal: words wrap at spaces alone, and no line ends in spaces.

What people copy out of a report (field patterns, commands, digests) is one word or stands last on its line, so it is
never broken: a word wider than the terminal goes beyond its edge, where the terminal folds it on the screen alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text


def put(console: Console, line: Text | str, *, first: str = "", rest: str | None = None) -> None:
    """Print one paragraph; `first` stands before its first line, `rest` (default: as many spaces) before the others."""
    rest = " " * len(first) if rest is None else rest
    text = Text(line) if isinstance(line, str) else line
    for index, piece in enumerate(text.divide(_breaks(text.plain, console.width - len(rest)))):
        _print(console, Text.assemble(first if index == 0 else rest, piece))


def whole(console: Console, line: Text | str) -> None:
    """Print one line as it is, however wide."""
    _print(console, Text(line) if isinstance(line, str) else line)


def columns(head: Sequence[str], rows: Iterable[Sequence[str]], *, right: frozenset[int] = frozenset()) -> list[str]:
    """A table as lines, its columns two spaces apart; the last column is neither padded nor broken."""
    table = [list(head), *(list(row) for row in rows)]
    widths = [max(len(row[index]) for row in table) for index in range(len(head) - 1)]
    return [
        "  ".join(
            [
                *(
                    cell.rjust(width) if index in right else cell.ljust(width)
                    for index, (cell, width) in enumerate(zip(row, widths, strict=False))
                ),
                row[-1],
            ]
        ).rstrip()
        for row in table
    ]


def _breaks(text: str, width: int) -> list[int]:
    """Where lines begin that hold as many words as fit; a word that is too wide has a line of its own."""
    found, used = [], 0
    for word in re.finditer(r"\S+\s*|\s+", text):
        size = cell_len(word.group().rstrip())
        if used and used + size > width:
            found.append(word.start())
            used = 0
        used += cell_len(word.group())
    return found


def _print(console: Console, line: Text) -> None:
    line.rstrip()
    console.print(line, soft_wrap=True)
