"""What people read in a report: whole patterns, every cause, both arms where they differ, words that agree."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import orjson
import pytest
from rich.console import Console

from aisimc_runtime.compare.words import cell, clause
from aisimc_runtime.report import build, html, junit, markdown, terminal
from aisimc_runtime.report import wording as say
from aisimc_runtime.report.html.markup import facts, table
from aisimc_runtime.report.lines import columns, put
from tests.builders import outcomes, records, runs

Report = dict[str, Any]
LONG = "first_admission_reused_input_tokens"
PATTERN = f"/per_request/*/{LONG}"


def added(folder: Path, *, preemptions: int = 1, exceptions: dict[str, Any] | None = None) -> runs.RunBuilder:
    """A candidate whose records have one field more."""
    record = records.vllm_record(preemptions=preemptions)
    changed = records.changed(record)
    for entry in changed["per_request"]:
        entry[LONG] = 0
    made = runs.plan({outcomes.NAME: runs.plan_row(evidence=outcomes.EVIDENCE)}, exceptions=exceptions or {})
    return runs.RunBuilder(folder, made).row(outcomes.NAME, record, changed)


def slower(folder: Path) -> Path:
    """A candidate with other pressure and another virtual duration."""
    record, changed = records.vllm_record(preemptions=1), records.changed(records.vllm_record(preemptions=2))
    changed["summary"]["duration_ms"] += 2.5
    return (
        runs.RunBuilder(folder, runs.plan({outcomes.NAME: runs.plan_row()}))
        .row(outcomes.NAME, record, changed)
        .finish()
    )


WAYS: dict[str, Callable[[Path], Path]] = {
    **outcomes.OUTCOMES,
    "one-field-added": lambda folder: added(folder).finish(),
    "nothing-exercised": lambda folder: added(folder, preemptions=0).finish(),
    "slower": slower,
}


@pytest.fixture(params=list(WAYS))
def report(request: pytest.FixtureRequest, tmp_path: Path) -> Report:
    return build(WAYS[request.param](tmp_path / "run"))


def printed(report: Report, width: int, *, color: bool = False) -> str:
    stream = io.StringIO()
    console = Console(file=stream, width=width, color_system="standard" if color else None, highlight=False)
    terminal.summary(report, console)
    return stream.getvalue()


class Text(HTMLParser):
    """What a page says, without its style and script."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.parts: list[str] = []
        self._mute = 0
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._mute += tag in ("style", "script")

    def handle_endtag(self, tag: str) -> None:
        self._mute -= tag in ("style", "script")

    def handle_data(self, data: str) -> None:
        if not self._mute:
            self.parts.append(data)


def everywhere(report: Report) -> dict[str, str]:
    """Every form that people read, as text."""
    page = "".join(Text(html.render(report)).parts)
    return {
        "terminal": printed(report, 200), "markdown": markdown.render(report),
        "html": page, "junit": junit.render(report),
    }  # fmt: skip


@pytest.mark.parametrize("width", [30, 60, 80, 120])
def test_patterns_are_never_broken_and_no_line_ends_in_spaces(report: Report, width: int) -> None:
    text = printed(report, width)
    assert [line for line in text.splitlines() if line != line.rstrip()] == []
    differences = [
        found for row in report["rows"] for found in (row["difference"], *row["instability"].values()) if found
    ]
    for found in differences:
        for entry in found["classes"][:6]:
            assert any(line.endswith("  " + entry["pattern"]) for line in text.splitlines())


@pytest.mark.parametrize("width", [30, 80])
def test_colours_put_no_spaces_at_the_end_of_a_line_either(report: Report, width: int) -> None:
    plain = re.sub(r"\x1b\[[0-9;]*m", "", printed(report, width, color=True))
    assert plain == printed(report, width)


def test_markdown_lines_end_in_no_spaces_and_none_is_said_twice(report: Report) -> None:
    lines = markdown.render(report).splitlines()
    assert [line for line in lines if line != line.rstrip()] == []
    blocks = "\n".join(lines).split("\n\n")
    for block in blocks:
        items = [line for line in block.splitlines() if line.startswith("- ")]
        assert len(items) == len(set(items))


def test_patterns_in_markdown_text_are_code(report: Report) -> None:
    for line in markdown.render(report).splitlines():
        assert re.sub(r"`[^`]*`", "", line).count("/*/") == 0, line


def test_numbers_and_nouns_agree(report: Report) -> None:
    nouns = "requests|rows|values|classes|inputs|replays|checks|events|records|bytes|processes|preemptions|retractions"
    for form, text in everywhere(report).items():
        assert re.findall(rf"(?<![\d,.])1 (?:more )?(?:{nouns}|pressure events)\b", text) == [], form


def test_every_rule_that_fails_is_among_the_reasons_at_the_top(tmp_path: Path) -> None:
    report = build(added(tmp_path / "run", preemptions=0).finish())
    parity, pressure = report["verdict"]["reasons"]
    assert f"only one field was added: {PATTERN} (8 of 8 requests)" in parity
    assert pressure == (
        "row vllm-aggregated: run.pressure: no preemptions on both arms: the edge of capacity was not exercised; "
        "`aisimc requalify SPEC vllm-aggregated` looks for one that fits"
    )
    for form in ("terminal", "markdown", "html"):
        text = everywhere(report)[form].replace("`", "")
        assert parity in text
        assert pressure.replace("`", "") in text
    assert f"only {LONG} was added; 0 preemptions" in "".join(Text(html.render(report)).parts)


def test_both_arms_are_told_where_they_differ(tmp_path: Path) -> None:
    report = build(slower(tmp_path / "run"))
    (row,) = report["rows"]
    evidence = [row["arms"][arm]["evidence"] for arm in ("baseline", "candidate")]
    duration = say.virtual_ms(row)
    assert say.both_pressures(row) == "1 → 2"
    assert duration == " → ".join(f"{one['virtual_duration_ms']:,.3f}" for one in evidence)
    assert evidence[0]["virtual_duration_ms"] != evidence[1]["virtual_duration_ms"]
    for form in ("terminal", "markdown", "html"):
        text = everywhere(report)[form]
        assert duration in text
        assert "1 → 2" in text
        assert "leads from the baseline to the candidate" in text
    narrow = printed(report, 80)
    for one in evidence:
        assert f"{one['virtual_duration_ms']:,.3f}" in narrow


def test_arms_that_agree_are_told_once(tmp_path: Path) -> None:
    report = build(outcomes.passing(tmp_path / "run"))
    assert say.arrows(report) == ""
    assert all("→" not in text for form, text in everywhere(report).items() if form in ("terminal", "markdown"))


RECORD = {"more-counters": runs.exception(outcomes.NAME, [PATTERN])}


def test_what_records_cover_is_nowhere_called_failed(tmp_path: Path) -> None:
    report = build(
        added(tmp_path / "run", exceptions=RECORD).ended("more-counters", baseline=False, candidate=True).finish()
    )
    assert report["verdict"]["semantic"] == "PASS_WITH_SEMANTIC_EXCEPTIONS"
    (parity,) = [f for f in report["rows"][0]["findings"] if f["rule"] == "run.parity"]
    assert parity["status"] == "failed"  # what programs read is the finding itself
    for form, text in everywhere(report).items():
        assert not re.search(r"run\.parity\W*failed", text), form
        assert form == "junit" or "differs, covered by more-counters" in text, form


def test_a_record_whose_test_does_not_hold_excuses_no_row(tmp_path: Path) -> None:
    report = build(
        added(tmp_path / "run", exceptions=RECORD).ended("more-counters", baseline=True, candidate=True).finish()
    )
    (row,) = report["rows"]
    assert report["verdict"]["semantic"] == row["result"] == "FAIL"
    assert row["reasons"] == report["verdict"]["reasons"]
    assert "exception.test: the regression test of more-counters passes on the baseline" in row["reasons"][0]
    for form, text in everywhere(report).items():
        assert not re.search("pass with exceptions", text, re.IGNORECASE), form


@pytest.mark.parametrize("outcome", [(True, True), (False, False), (True, False), None])
def test_a_record_whose_test_does_not_hold_is_nowhere_said_to_cover(
    tmp_path: Path, outcome: tuple[bool, bool] | None
) -> None:
    builder = added(tmp_path / "run", exceptions=RECORD)
    if outcome is not None:
        builder.ended("more-counters", baseline=outcome[0], candidate=outcome[1])
    report = build(builder.finish())
    would = "more-counters would cover it, but its regression test does not hold"
    assert report["verdict"]["semantic"] == "FAIL"
    for form, text in everywhere(report).items():
        assert "covered by" not in text, form
        assert would in text, form
        assert form == "junit" or f"run.parity differs; {would}" in text.replace("**", ""), form


def test_the_last_words_of_a_test_that_does_not_hold_are_shown_and_outside_the_digest(tmp_path: Path) -> None:
    builder = added(tmp_path / "run", exceptions=RECORD).ended("more-counters", baseline=False, candidate=False)
    folder = builder.finish()
    quiet = build(folder)
    kept = folder / "exceptions" / "more-counters" / "candidate.json"
    outcome = orjson.loads(kept.read_bytes())
    said = "\x1b[31mE  AssertionError: " + "x" * 300 + "\x1b[0m"
    kept.write_bytes(orjson.dumps(outcome | {"stderr": f"Traceback\n{said}\n \n"}))
    report = build(folder)
    for form in ("terminal", "markdown", "html"):
        text = everywhere(report)[form]
        (words,) = re.findall(r"its standard error ends: (E AssertionError: x+…)", " ".join(text.split()))
        assert len(words) == 200, form
        assert "its standard output ends: 1 failed" in everywhere(quiet)[form], form
    assert report["digest"] == quiet["digest"]


def test_a_list_that_is_cut_names_the_command_that_lists_all(tmp_path: Path) -> None:
    record = records.vllm_record()
    changed = records.changed(record)
    for number in range(20):
        changed["summary"][f"more_{number}"] = 1
    made = runs.plan({outcomes.NAME: runs.plan_row()})
    report = build(runs.RunBuilder(tmp_path / "run", made).row(outcomes.NAME, record, changed).finish())
    for form in ("terminal", "markdown", "html"):
        text = everywhere(report)[form]
        assert "aisimc diff RUN --row vllm-aggregated --limit 0" in text
        assert re.search(r"[Aa]nd \d+ more classes", text), form


def test_wide_tables_say_that_they_scroll(report: Report) -> None:
    page = html.render(report)
    assert page.count('class="scroll"') == page.count('class="more"') > 0
    assert table("caption", ["a"], [["1"]]).endswith("scroll →</p>")


@pytest.mark.parametrize("count", range(1, 20))
def test_no_figure_stands_alone_on_a_second_line(count: int) -> None:
    found = re.search(r"--most:(\d+)", facts([("name", "value")] * count))
    assert found is not None
    most = int(found.group(1))
    assert most <= 10
    assert count <= most or count % most != 1


def test_words_wrap_at_spaces_and_wide_words_stay_whole() -> None:
    stream = io.StringIO()
    put(Console(file=stream, width=20, color_system=None), f"one two three {PATTERN} four", first="  • ")
    assert stream.getvalue().splitlines() == ["  • one two three", f"    {PATTERN}", "    four"]


def test_columns_leave_the_last_one_as_it_is() -> None:
    lines = columns(("n", "size", "field"), [("10", "", PATTERN), ("7", "up", "/a")], right=frozenset({0}))
    assert lines == [" n  size  field", f"10        {PATTERN}", " 7  up    /a"]


@pytest.mark.parametrize("change", ["added", "removed", "value", "last bits only", "order", "type", "text"])
def test_a_difference_of_one_field_is_told_whole(change: str) -> None:
    entry = {"pattern": PATTERN, "change": change, "requests": 3}
    found = {"first_parting": None, "classes": [entry], "classes_in_all": 1, "requests": {"compared": 8}}
    assert clause(found).startswith("only one field ")
    assert clause(found).endswith(f": {PATTERN} (3 of 8 requests)")
    assert LONG in cell(found, "")
    more = found | {"classes": [entry, entry | {"pattern": "/x"}], "classes_in_all": 2}
    assert PATTERN in clause(more)
    assert "1 more class" in clause(more)
    assert "spelling" in clause({"same_values": True})
