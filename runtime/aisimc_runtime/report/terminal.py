"""The summary at the end of a run, and of `aisimc report`, in a terminal."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from aisimc_runtime.report import wording as say

_STYLES = {
    "PASS": "bold green",
    "PASS_WITH_SEMANTIC_EXCEPTIONS": "bold yellow",
    "FAIL": "bold red",
    "NOT_COVERED": "dim",
    "INCOMPLETE": "yellow",
    "BLOCKED": "bold red",
}
_SHORT = {
    "PASS_WITH_SEMANTIC_EXCEPTIONS": "PASS with exceptions",
    "NOT_COVERED": "not covered",
    "INCOMPLETE": "not finished",
}
_CLASSES = 6


def summary(report: dict[str, Any], console: Console) -> None:
    """Print a report: verdict, rows, where they part, what was not covered."""
    _verdict(report, console)
    console.print(_rows(report, narrow=console.width < 100))
    for row in report["rows"]:
        _trouble(row, console)
    _campaign(report, console)
    _left_out(report, console)
    if report["performance"] is not None:
        from aisimc_runtime.gate.terminal import lines

        console.print(Text("\n".join(lines(report["performance"]))))
    console.print(Text(f"report digest {report['digest']}", style="dim"))


def _verdict(report: dict[str, Any], console: Console) -> None:
    headline = say.headline(report)
    line = Text(f"{headline}", style=_STYLES.get(headline, "bold"))
    line.append(f"  {report['campaign']['name']}", style="bold")
    if report["performance"] is not None:
        result = say.performance(report)
        line.append("  performance ")
        line.append(result, style=_STYLES.get(result, "yellow"))
    console.print(line)
    console.print(Text(say.corpus(report), style="dim"))
    console.print(Text(say.explanation(report)))
    blocked = report["verdict"]["blocked"]
    if blocked:
        console.print(Text(f"blocked: {blocked['message']}"))
        if blocked["help"]:
            console.print(Text(f"help: {blocked['help']}", style="dim"))
    else:
        for reason in report["verdict"]["reasons"]:
            console.print(Padding(Text(f"• {reason}"), (0, 0, 0, 2)))
    console.print()


def _rows(report: dict[str, Any], *, narrow: bool) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("row", no_wrap=True)
    table.add_column("result", no_wrap=True)
    if not narrow:
        table.add_column("topology", no_wrap=True)
        table.add_column("requests", justify="right")
    table.add_column("pressure", justify="right")
    table.add_column("virtual ms", justify="right")
    table.add_column("canonical SHA-256")
    for row in report["rows"]:
        evidence = row["arms"]["baseline"]["evidence"] or row["arms"]["candidate"]["evidence"]
        result = Text(_SHORT.get(row["result"], row["result"]), style=_STYLES[row["result"]])
        wide = [] if narrow else [say.topology(row["topology"]), f"{evidence['requests']:,}" if evidence else "–"]
        duration = say.milliseconds(evidence["virtual_duration_ms"]) if evidence else "–"
        table.add_row(row["name"], result, *wide, say.both_pressures(row), duration, say.digest_cell(row))
    return table


def _trouble(row: dict[str, Any], console: Console) -> None:
    attention = say.needs_attention(row)
    if not attention and row["difference"] is None and not row["instability"]:
        return
    console.print()
    console.print(Text(row["name"], style="bold"))
    for finding in attention:
        line = Text("  ")
        line.append(finding["rule"], style="red" if finding["status"] == "failed" else "yellow")
        line.append(f" {finding['status']}: {finding['message']}")
        console.print(line)
    if row["difference"] is not None:
        difference(row["difference"], ("baseline", "candidate"), console, classes=_CLASSES)
    for arm, found in row["instability"].items():
        difference(found, (f"{arm} 1", f"{arm} 2"), console, classes=_CLASSES)


def difference(
    found: dict[str, Any], names: tuple[str, str], console: Console, *, classes: int, events: bool = False
) -> None:
    """Print a focused difference: first parting, then classes."""
    _parting(found, names, console, events=events)
    if found.get("same_values"):
        return
    counts = found["requests"]
    console.print(
        Text(
            f"  {counts['differing']:,} of {counts['compared']:,} requests differ, "
            f"{found['values']:,} values in {_counted(found['classes_in_all'], 'class', 'classes')}"
        )
    )
    for key, name in (("only_a", names[0]), ("only_b", names[1])):
        if counts[key]:
            more = "" if len(counts[key]) <= 5 else f" and {len(counts[key]) - 5:,} more"
            console.print(Text(f"  on the {name} only: {', '.join(counts[key][:5])}{more}"))
    if counts["order"] == "different":
        console.print(Text("  the records stand in another order"))
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("field", overflow="fold")
    table.add_column("change")
    table.add_column("values", justify="right")
    table.add_column("requests", justify="right")
    table.add_column("size")
    for entry in found["classes"][:classes]:
        cells = (entry["pattern"], entry["change"], f"{entry['count']:,}", f"{entry['requests']:,}")
        table.add_row(*(Text(cell) for cell in cells), Text(say.change_size(entry)))
    console.print(Padding(table, (0, 0, 0, 2)))
    left = found["classes_in_all"] - min(classes, len(found["classes"]))
    if left > 0:
        console.print(Text(f"  and {_counted(left, 'more class', 'more classes')}", style="dim"))


def _counted(count: int, one: str, more: str) -> str:
    return f"{count} {one if count == 1 else more}"


def _parting(found: dict[str, Any], names: tuple[str, str], console: Console, *, events: bool) -> None:
    parting = found["first_parting"]
    if found.get("same_values"):
        console.print(Text("  the values are the same: only key order, white space or spelling differ"))
        return
    if parting is None:
        console.print(Text("  no parting in time: no point in virtual time differs"))
        return
    line = Text("  first parting ")
    line.append(f"{parting['at_ms']!r} ms", style="bold")
    line.append(f", {parting['request']} {parting['field'].lstrip('/')}")
    console.print(line)
    width = max(len(name) for name in names)
    for name, value in zip(names, (parting["a"], parting["b"]), strict=True):
        console.print(Text(f"    {name:<{width}}  {'(not there)' if value is None else value}"))
    if events:
        _events(parting, names, console)


def _events(parting: dict[str, Any], names: tuple[str, str], console: Console) -> None:
    for side, name in zip(("a", "b"), names, strict=True):
        around = parting["events"][side]
        console.print(Text(f"  around it on the {name}", style="dim"))
        for event in around["before"]:
            console.print(Text(f"    {event['at_ms']:>18.6f}  {event['request']:<14} {event['what']}", style="dim"))
        for event in around["from"]:
            console.print(Text(f"  › {event['at_ms']:>18.6f}  {event['request']:<14} {event['what']}"))


def _campaign(report: dict[str, Any], console: Console) -> None:
    shown = [finding for finding in report["findings"] if finding["status"] in ("failed", "missing")]
    shown += [f for entry in report["exceptions"] for f in entry["findings"] if f["status"] in ("failed", "missing")]
    if shown:
        console.print()
    for finding in shown:
        line = Text(finding["rule"], style="red" if finding["status"] == "failed" else "yellow")
        line.append(f" {finding['status']}: {finding['message']}")
        console.print(line)


def _left_out(report: dict[str, Any], console: Console) -> None:
    found = say.uncovered_coverage(report)
    unseen = [f for f in report["findings"] if f["status"] == "not_observable"]
    console.print()
    for name, reason in found:
        console.print(Text(f"not covered: {name}: {reason}", style="dim"))
    for text in dict.fromkeys(finding["message"] for finding in unseen):
        console.print(Text(f"not observable: {text}", style="dim"))
