"""The summary at the end of a run, and of `aisimc report`, in a terminal."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.text import Text

from aisimc_compiler.rules.refusal import plural
from aisimc_runtime.report import judged
from aisimc_runtime.report import wording as say
from aisimc_runtime.report.lines import columns, put, whole
from aisimc_runtime.report.overview import overview
from aisimc_runtime.sizes import in_ms

_STYLES = {
    "PASS": "bold green",
    "PASS_WITH_SEMANTIC_EXCEPTIONS": "bold yellow",
    "FAIL": "bold red",
    "NOT_COVERED": "dim",
    "INCOMPLETE": "yellow",
    "BLOCKED": "bold red",
}
_CLASSES = 6
_FROM = "›"
"""Stands before events from the instant of the parting on."""
_CLASS_HEAD = ("change", "values", "requests", "size", "field")


def summary(report: dict[str, Any], console: Console) -> None:
    """Print a report: verdict, rows, where they part, what was not covered."""
    _verdict(report, console)
    overview(report, console, _STYLES)
    for row in report["rows"]:
        _trouble(row, console)
    _campaign(report, console)
    _left_out(report, console)
    if report["performance"] is not None:
        from aisimc_runtime.gate.terminal import lines

        for line in lines(report["performance"]):
            put(console, line.lstrip(), first=line[: len(line) - len(line.lstrip())])
    whole(console, Text(f"report digest {report['digest']}", style="dim"))


def _verdict(report: dict[str, Any], console: Console) -> None:
    headline = say.headline(report)
    line = Text(f"{headline}", style=_STYLES.get(headline, "bold"))
    line.append(f"  {report['campaign']['name']}", style="bold")
    if report["performance"] is not None:
        result = say.performance(report)
        line.append("  performance ")
        line.append(result, style=_STYLES.get(result, "yellow"))
    put(console, line)
    put(console, Text(say.corpus(report), style="dim"))
    put(console, say.explanation(report))
    blocked = report["verdict"]["blocked"]
    if blocked:
        put(console, f"blocked: {blocked['message']}")
        if blocked["help"]:
            put(console, Text(f"help: {blocked['help']}", style="dim"))
    else:
        for reason in report["verdict"]["reasons"]:
            put(console, reason, first="  • ")
    console.print()


def _trouble(row: dict[str, Any], console: Console) -> None:
    shown = judged.needs_attention(row)
    if not shown and row["difference"] is None and not row["instability"]:
        return
    console.print()
    put(console, Text(row["name"], style="bold"))
    findings = [finding for finding in row["findings"] if judged.excused(row, finding) or finding in shown]
    for finding, message in judged.messages(findings):
        _finding(finding, message, console, "  ", row)
    if row["difference"] is not None:
        difference(
            row["difference"], ("baseline", "candidate"), console,
            classes=_CLASSES, all_of_them=say.every_class(row["name"]),
        )  # fmt: skip
    for arm, found in row["instability"].items():
        names, command = (f"{arm} 1", f"{arm} 2"), say.every_class(row["name"], arm)
        difference(found, names, console, classes=_CLASSES, all_of_them=command)


def _finding(
    finding: dict[str, Any], message: str, console: Console, indent: str, row: dict[str, Any] | None = None
) -> None:
    excused = row is not None and judged.excused(row, finding)
    line = Text(finding["rule"], style="red" if finding["status"] == "failed" and not excused else "yellow")
    line.append(f" {judged.status(finding, row)}: {message}")
    put(console, line, first=indent, rest=indent * 2)


def difference(
    found: dict[str, Any],
    names: tuple[str, str],
    console: Console,
    *,
    classes: int,
    all_of_them: str,
    events: bool = False,
) -> None:
    """Print a focused difference: first parting, then classes. `all_of_them` is a command that lists every class."""
    _parting(found, names, console, events=events)
    if found.get("same_values"):
        return
    put(console, say.spread(found), first="  ")
    for key, name in (("only_a", names[0]), ("only_b", names[1])):
        named = found["requests"][key]
        if named:
            more = "" if len(named) <= 5 else f" and {len(named) - 5:,} more"
            put(console, f"on the {name} only: {', '.join(named[:5])}{more}", first="  ")
    if found["requests"]["order"] == "different":
        put(console, "the records stand in another order", first="  ")
    head, *table = columns(_CLASS_HEAD, map(_class, found["classes"][:classes]), right=frozenset({1, 2}))
    whole(console, Text(f"  {head}", style="dim"))
    for line in table:
        whole(console, f"  {line}")
    left = found["classes_in_all"] - min(classes, len(found["classes"]))
    if left > 0:
        put(
            console, Text(f"and {plural(left, 'more class', 'more classes')}; this lists all:", style="dim"), first="  "
        )
        whole(console, Text(f"    {all_of_them}", style="dim"))


def _class(entry: dict[str, Any]) -> tuple[str, ...]:
    counts = (f"{entry['count']:,}", f"{entry['requests']:,}")
    return (entry["change"], *counts, say.change_size(entry), entry["pattern"])


def _parting(found: dict[str, Any], names: tuple[str, str], console: Console, *, events: bool) -> None:
    parting = found["first_parting"]
    if parting is None:
        put(console, say.no_parting(found), first="  ")
        return
    line = Text("first parting ")
    line.append(f"{in_ms(parting['at_ms'])} ms", style="bold")
    line.append(f", {parting['request']} {parting['field'].lstrip('/')}")
    put(console, line, first="  ")
    width = max(len(name) for name in names)
    for name, value in zip(names, (parting["a"], parting["b"]), strict=True):
        whole(console, f"    {name:<{width}}  {'(not there)' if value is None else value}")
    if events:
        _events(parting, names, console)


def _events(parting: dict[str, Any], names: tuple[str, str], console: Console) -> None:
    for side, name in zip(("a", "b"), names, strict=True):
        around = parting["events"][side]
        put(console, Text(f"around it on the {name}", style="dim"), first="  ")
        for event in around["before"]:
            whole(
                console, Text(f"    {in_ms(event['at_ms']):>18}  {event['request']:<14} {event['what']}", style="dim")
            )
        for event in around["from"]:
            whole(console, f"  {_FROM} {in_ms(event['at_ms']):>18}  {event['request']:<14} {event['what']}")
    put(console, Text(f"{_FROM} from the instant on at which they part", style="dim"), first="  ")


def _campaign(report: dict[str, Any], console: Console) -> None:
    shown = [finding for finding in report["findings"] if finding["status"] in ("failed", "missing")]
    tests = [
        (finding, message, judged.last_words(entry, finding))
        for entry in report["exceptions"]
        for finding, message in judged.messages([f for f in entry["findings"] if f["status"] in ("failed", "missing")])
    ]
    if shown or tests:
        console.print()
    for finding, message in judged.messages(shown):
        _finding(finding, message, console, "")
    for finding, message, words in tests:
        _finding(finding, message, console, "")
        if words:
            put(console, Text(words, style="dim"), first="  ")


def _left_out(report: dict[str, Any], console: Console) -> None:
    found = say.uncovered_coverage(report)
    unseen = [f for f in report["findings"] if f["status"] == "not_observable"]
    console.print()
    for name, reason in found:
        put(console, Text(f"not covered: {name}: {reason}", style="dim"))
    for text in dict.fromkeys(finding["message"] for finding in unseen):
        put(console, Text(f"not observable: {text}", style="dim"))
