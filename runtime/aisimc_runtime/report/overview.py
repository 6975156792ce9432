"""The rows of a report on a terminal, a line for each: a figure or digest is never cut or broken.

Where the terminal is too narrow, the least important column goes first, then what both arms say differently stands one
above the other, then the next column goes; where nothing of that helps, each row is a short list of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from aisimc_runtime.report import wording as say
from aisimc_runtime.report.lines import put, whole

_GAP = "  "


class _Column(NamedTuple):
    head: str
    of: Callable[[dict[str, Any]], str]
    right: bool = False


_COLUMNS = (
    _Column("row", lambda row: str(row["name"])),
    _Column("result", say.result),
    _Column("topology", lambda row: say.topology(row["topology"])),
    _Column("requests", say.requests, right=True),
    _Column("pressure", say.both_pressures, right=True),
    _Column("virtual ms", say.virtual_ms, right=True),
    _Column("canonical SHA-256", say.digest_cell),
)
_RESULT = 1

FORMS: tuple[tuple[tuple[str, ...], bool], ...] = (
    ((), False),
    (("topology",), False),
    (("topology",), True),
    (("topology", "requests"), False),
    (("topology", "requests"), True),
)
"""Columns left out, and whether two values of a cell stand one above the other; the first form that fits is taken."""

Cells = list[list[str]]


def overview(report: dict[str, Any], console: Console, styles: dict[str, str]) -> None:
    """Print every row of a report; `styles` by result. Says which columns were left out, and what an arrow means."""
    for dropped, stacked in FORMS:
        columns = [column for column in _COLUMNS if column.head not in dropped]
        table = [[_lines(column.of(row), stacked) for column in columns] for row in report["rows"]]
        widths = [_width(column, [row[index] for row in table]) for index, column in enumerate(columns)]
        if sum(widths) + len(_GAP) * (len(widths) - 1) <= console.width:
            _table(report, columns, table, widths, console, styles)
            break
    else:
        dropped, columns = (), list(_COLUMNS)
        _lists(report, console, styles)
    if any(say.ARROW.strip() in column.of(row) for column in columns for row in report["rows"]):
        put(console, Text(say.ARROWS, style="dim"))
    if dropped:
        put(console, Text(f"not shown at this width: {', '.join(dropped)}", style="dim"))


def _lines(cell: str, stacked: bool) -> list[str]:
    """A cell as its lines; what follows an arrow or `≠` begins a line where cells are stacked."""
    if not stacked:
        return [cell]
    for joint in (say.ARROW, say.DIFFERS):
        cell = cell.replace(joint, f"\n{joint.lstrip()}")
    return cell.split("\n")


def _width(column: _Column, cells: Sequence[list[str]]) -> int:
    return max(cell_len(line) for lines in (*cells, [column.head]) for line in lines)


def _table(
    report: dict[str, Any],
    columns: Sequence[_Column],
    table: Sequence[Cells],
    widths: Sequence[int],
    console: Console,
    styles: dict[str, str],
) -> None:
    head = (_padded(*one) for one in zip((column.head for column in columns), columns, widths, strict=True))
    whole(console, Text(_GAP.join(head), style="dim"))
    for row, cells in zip(report["rows"], table, strict=True):
        for number in range(max(map(len, cells))):
            line = Text()
            for index, lines in enumerate(cells):
                shown = lines[number] if number < len(lines) else ""
                style = styles[row["result"]] if index == _RESULT else ""
                line.append(_GAP if index else "")
                line.append(_padded(shown, columns[index], widths[index]), style=style)
            whole(console, line)


def _padded(text: str, column: _Column, width: int) -> str:
    space = " " * (width - cell_len(text))
    return space + text if column.right else text + space


def _lists(report: dict[str, Any], console: Console, styles: dict[str, str]) -> None:
    name, result, *figures = _COLUMNS
    width = max(len(column.head) for column in figures)
    for row in report["rows"]:
        put(console, Text.assemble(name.of(row), _GAP, (result.of(row), styles[row["result"]])))
        for column in figures:
            label = f"{_GAP}{column.head:<{width}}{_GAP}"
            room = console.width - len(label)
            lines = _lines(column.of(row), cell_len(column.of(row)) > room)
            if max(map(cell_len, lines)) > room:
                whole(console, label)
                label = _GAP * 2
            for index, line in enumerate(lines):
                whole(console, (label if index == 0 else " " * len(label)) + line)
