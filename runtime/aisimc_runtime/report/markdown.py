"""The report as Markdown, to be pasted into a pull request: verdict, rows, what was not covered, exceptions, pins."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from aisimc_compiler.rules.refusal import plural
from aisimc_runtime.report import judged
from aisimc_runtime.report import wording as say
from aisimc_runtime.sizes import in_ms, in_units

_MARKS = {"PASS": "✅", "PASS_WITH_SEMANTIC_EXCEPTIONS": "☑️", "FAIL": "❌", "NOT_COVERED": "–", "INCOMPLETE": "…"}
_PATTERN = re.compile(r"(?<!\S)/[\w*~]+(?:/[\w*~]+)+(?=[\s,;:)]|$)")
_REASONS = 12
_CLASSES = 10


def render(report: dict[str, Any]) -> str:
    """Markdown of a report object."""
    parts = (_head, _rows, _troubles, _not_covered, _exceptions, _campaign_findings, _performance, _pins, _details)
    return "\n".join(line for part in parts for line in part(report)).rstrip() + "\n"


def _head(report: dict[str, Any]) -> Iterator[str]:
    verdict, campaign = report["verdict"], report["campaign"]
    yield f"# {say.headline(report)}: {_text(campaign['name'])}"
    yield ""
    yield f"{say.explanation(report)}"
    yield ""
    if verdict["blocked"]:
        yield f"**Blocked:** {_text(verdict['blocked']['message'])}"
        if verdict["blocked"]["help"]:
            yield f"({_text(verdict['blocked']['help'])})"
        yield ""
    elif verdict["reasons"]:
        yield from (f"- {_text(reason)}" for reason in verdict["reasons"][:_REASONS])
        left = len(verdict["reasons"]) - _REASONS
        if left > 0:
            yield f"- and {left} more, see below"
        yield ""
    yield f"*{_text(campaign['purpose'])}* {_sentence(say.corpus(report))}"
    yield f"Baseline `{say.revision(report['revisions']['baseline']['pinned'])}`,"
    yield f"candidate `{say.revision(report['revisions']['candidate']['pinned'])}`: {_text(say.relation(report))}."
    yield f"Performance: {say.performance(report)}."
    yield ""


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:] + "."


def _rows(report: dict[str, Any]) -> Iterator[str]:
    yield "## Rows"
    yield ""
    yield "| row | result | engine | topology | requests | pressure | virtual ms | canonical SHA-256 | first parting |"
    yield "| --- | --- | --- | --- | ---: | ---: | ---: | --- | --- |"
    for row in report["rows"]:
        cells = [
            f"{row['name']}{' (fixture)' if row['kind'] == 'fixture' else ''}",
            f"{_MARKS[row['result']]} {say.result(row)}",
            say.ENGINES[row["engine"]],
            say.topology(row["topology"]),
            say.requests(row),
            say.both_pressures(row),
            say.virtual_ms(row),
            say.digest_cell(row),
            say.parting(row["difference"]),
        ]
        yield _line(cells)
    yield ""
    if say.arrows(report):
        yield _sentence(say.arrows(report))
        yield ""


def _troubles(report: dict[str, Any]) -> Iterator[str]:
    for row in report["rows"]:
        attention = judged.needs_attention(row)
        if not attention and row["difference"] is None and not row["instability"]:
            continue
        yield f"### {row['name']}"
        yield ""
        for finding, message in judged.messages(attention):
            yield f"- **{finding['rule']}** {_text(judged.status(finding, row))}: {_text(message)}"
        excused = [finding for finding in row["findings"] if judged.excused(row, finding)]
        yield from (f"- **{one['rule']}** {judged.status(one, row)}: {_text(one['message'])}" for one in excused)
        if attention or excused:
            yield ""
        if row["difference"] is not None:
            yield from _difference(row["difference"], ("baseline", "candidate"), say.every_class(row["name"]))
        for arm, difference in row["instability"].items():
            yield f"The {arm} differs from itself:"
            yield ""
            names, command = (f"{arm} 1", f"{arm} 2"), say.every_class(row["name"], arm)
            yield from _difference(difference, names, command)


def _difference(difference: dict[str, Any], names: tuple[str, str], all_of_them: str) -> Iterator[str]:
    found = difference["first_parting"]
    if found is not None:
        yield f"They first part at **{in_ms(found['at_ms'])} ms** of virtual time: {found['request']}"
        yield f"`{found['field']}` is `{_value(found['a'])}` on the {names[0]}"
        yield f"and `{_value(found['b'])}` on the {names[1]}."
    else:
        yield _sentence(say.no_parting(difference))
    if difference.get("same_values"):
        yield ""
        return
    yield from map(_sentence, (say.spread(difference), *say.only_on(difference, names)))
    yield ""
    yield "| field | change | values | requests | size |"
    yield "| --- | --- | ---: | ---: | --- |"
    for entry in difference["classes"][:_CLASSES]:
        cells = [f"`{entry['pattern']}`", entry["change"], f"{entry['count']:,}", f"{entry['requests']:,}"]
        yield _line([*cells, say.change_size(entry)])
    left = difference["classes_in_all"] - min(len(difference["classes"]), _CLASSES)
    yield ""
    if left > 0:
        yield f"And {plural(left, 'more class', 'more classes')}: `{all_of_them}` lists all."
        yield ""


def _not_covered(report: dict[str, Any]) -> Iterator[str]:
    yield "## Not covered"
    yield ""
    found = say.uncovered_coverage(report)
    if report["campaign"]["corpus"] != "long":
        yield "- The corpus is a preflight: nothing here stands for a long one."
    if not found:
        yield "- Nothing of the engine-only matrix is left out."
    yield from (f"- **{name}**: {_text(reason)}" for name, reason in found)
    yield "- Placement is round-robin and nothing scales; no planner, router or KVBM ran."
    yield ""


def _exceptions(report: dict[str, Any]) -> Iterator[str]:
    if not report["exceptions"]:
        return
    yield "## Exceptions"
    yield ""
    for entry in report["exceptions"]:
        record = entry["record"]
        yield f"### {entry['name']} (row {record['row']})"
        yield ""
        requests = record["requests"] if record["requests"] == "all" else ", ".join(record["requests"])
        yield f"- differs: {', '.join(f'`{pattern}`' for pattern in record['differs'])}; requests: {_text(requests)}"
        for key in ("baseline", "candidate", "source", "cause", "impact", "disposition"):
            yield f"- {key}: {_text(record[key])}"
        yield f"- regression test: `{' '.join(record['regression_test']['command'])}`"
        for one, message in judged.messages(entry["findings"]):
            yield f"- {judged.status(one)}: {_text(message)}"
            words = judged.last_words(entry, one)
            yield from ([f"  ({_text(words)})"] if words else [])
        yield ""


def _campaign_findings(report: dict[str, Any]) -> Iterator[str]:
    shown = [finding for finding in report["findings"] if finding["status"] != "satisfied"]
    if not shown:
        return
    yield "## Checks of the whole campaign"
    yield ""
    yield from (
        f"- **{finding['rule']}** {judged.status(finding)}: {_text(message)}"
        for finding, message in judged.messages(shown)
    )
    yield ""


def _performance(report: dict[str, Any]) -> Iterator[str]:
    if report["performance"] is None:
        return
    from aisimc_runtime.gate.terminal import lines

    yield "## Performance"
    yield ""
    yield "```"
    yield from lines(report["performance"])
    yield "```"
    yield ""


def _pins(report: dict[str, Any]) -> Iterator[str]:
    yield "## Pins"
    yield ""
    yield "| what | pinned |"
    yield "| --- | --- |"
    for arm, entry in report["revisions"].items():
        pinned, artifact = entry["pinned"], entry["artifact"]
        yield f"| {arm} | `{say.revision_name(pinned)}` |"
        if pinned.get("sha256"):
            yield f"| {arm} {'wheel' if pinned['source'] == 'wheel' else 'source'} SHA-256 | `{pinned['sha256']}` |"
        if pinned.get("patch"):
            yield f"| {arm} patch {_text(pinned['patch']['file'])} | `{pinned['patch']['sha256']}` |"
        if artifact is not None:
            yield f"| {arm} artifact | {_artifact(artifact)} |"
            if artifact["runner_source_sha256"]:
                yield f"| {arm} runner source | `{artifact['runner_source_sha256']}` |"
        for correction in entry["correction"]:
            yield f"| {arm} correction | {correction['name']} `{correction['sha256']}` |"
    for name, entry in report["inputs"].items():
        window = entry["slice"]
        yield f"| input {name} | `{entry['sha256']}`, {plural(entry['rows'], 'row')} |"
        last = window["start"] + window["rows"] - 1
        yield f"| slice of {name} | `{window['sha256']}`, rows {window['start']:,} to {last:,} |"
    if report["build"]:
        build = report["build"]
        yield f"| build | {build['toolchain']}, {build['profile']}, features {build['features'] or 'none'} |"
    yield f"| exclusions | {', '.join(f'`{pointer}`' for pointer in report['exclusions'])} |"
    yield f"| plan digest | `{report['plan_digest']}` |"
    yield f"| report digest | `{report['digest']}` |"
    yield ""


def _artifact(artifact: dict[str, Any]) -> str:
    text = f"`{artifact['sha256']}`"
    if artifact["size_bytes"] is not None:
        text += f", {in_units(artifact['size_bytes'])}"
    if artifact["text_size_bytes"] is not None:
        text += f" (.text {in_units(artifact['text_size_bytes'])})"
    return text + f", features {', '.join(artifact['features'] or []) or 'none'}"


def _details(report: dict[str, Any]) -> Iterator[str]:
    yield "<details><summary>What was checked, row by row</summary>"
    yield ""
    for row in report["rows"]:
        yield f"**{row['name']}**: configuration `{row['configuration_sha256']}`"
        yield ""
        for finding, message in judged.messages(row["findings"]):
            derived = " (derived)" if finding["derived"] else ""
            yield f"- {finding['rule']} {judged.status(finding, row)}: {_text(message)}{derived}"
        yield from _placements(row)
        yield ""
    yield "</details>"


def _placements(row: dict[str, Any]) -> Iterator[str]:
    for arm, entry in row["arms"].items():
        for replay in entry["replays"]:
            node = replay["node"] or {}
            if not replay["ran"]:
                continue
            yield (
                f"- {arm} {replay['repetition']}: node {node.get('hostname', '?')}, CPUs {_list(replay['cpus'])}, "
                f"NUMA {_list(replay['numa'])}, canonical `{(replay['canonical_sha256'] or 'none')[:12]}`"
            )


def _list(numbers: Iterable[int] | None) -> str:
    return ", ".join(map(str, numbers or ())) or "–"


def _line(cells: Iterable[object]) -> str:
    return "| " + " | ".join(map(_cell, cells)) + " |"


def _value(literal: str | None) -> str:
    return "(not there)" if literal is None else literal


def _cell(text: object) -> str:
    return str(text).replace("|", "\\|").replace("\n", " ")


def _text(text: object) -> str:
    """Free text on one line that starts no Markdown construct of its own; field patterns stand as they are."""
    plain = " ".join(str(text).split()).replace("<", "&lt;")
    return plain if "`" in plain else _PATTERN.sub(r"`\g<0>`", plain)
