"""How the page and its siblings show code, fields, figures and axes."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from aisimc_runtime.compare.words import clause
from aisimc_runtime.report import build, html, markdown
from aisimc_runtime.report import wording as say
from aisimc_runtime.report.html import charts
from aisimc_runtime.report.html.markup import prose
from aisimc_runtime.report.html.style import STYLE
from aisimc_runtime.sizes import in_ms, signed
from tests.builders import outcomes, records, runs
from tests.unit.runtime.report.test_reading import RECORD, WAYS, added, printed

Report = dict[str, Any]


class Shown(HTMLParser):
    """The text of a page outside of code, listings, styles and scripts."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.inside: list[str] = []
        self.parts: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: object) -> None:
        if tag in ("code", "pre", "style", "script"):
            self.inside.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if self.inside and self.inside[-1] == tag:
            self.inside.pop()

    def handle_data(self, data: str) -> None:
        if not self.inside:
            self.parts.append(data)


@pytest.mark.parametrize("way", list(WAYS))
def test_no_backtick_is_shown_raw_and_no_field_pattern_can_break(way: str, tmp_path: Path) -> None:
    page = html.render(build(WAYS[way](tmp_path / "run")))
    assert "`" not in "".join(Shown(page).parts)
    assert "/<wbr>" not in page
    for pattern in re.findall(r"/per_request/[\w*/]+", "".join(Shown(page).parts)):
        raise AssertionError(f"{pattern} is not code")


@pytest.mark.parametrize(
    ("words", "markup"),
    [
        ("`aisimc pin <x>` mends it", "<code>aisimc pin &lt;x&gt;</code> mends it"),
        ("a ` alone", "a ` alone"),
        ("only /a/*/b_ms, here", 'only <code class="path">/a/*/b_ms</code>, here'),
        ("request_1 admission_history/0/at_ms", 'request_1 <code class="path">admission_history/0/at_ms</code>'),
        ("and/or /tmp/some/file.json", "and/or /tmp/some/file.json"),
        ("<b>", "&lt;b&gt;"),
    ],
)
def test_sentences_on_the_page(words: str, markup: str) -> None:
    assert prose(words) == markup


def long_parting(folder: Path) -> Report:
    """A report of records that part late, by much."""
    report: Report = build(outcomes.differing(folder))
    (row,) = report["rows"]
    parting = row["difference"]["first_parting"]
    parting["at_ms"] = 1599087.63680932
    for side in parting["events"].values():
        for event in (*side["before"], *side["from"]):
            event["at_ms"] = 450086.0874919204
    row["difference"]["classes"][0]["largest_delta"] = -3175.0041
    return report


def test_times_have_one_style_in_every_form(tmp_path: Path) -> None:
    report = long_parting(tmp_path / "run")
    page = " ".join(Shown(html.render(report)).parts)
    for text in (printed(report, 100), markdown.render(report), page):
        figures = re.findall(r"[+-]?[\d.,]*\d(?= ms\b)", text)
        assert "1,599,087.637" in figures
        assert "-3,175.004" in figures
        assert [one for one in figures if not re.fullmatch(r"[+-]?\d{1,3}(,\d{3})*(\.\d{1,3})?", one)] == []
    assert "they first part at 1,599,087.637 ms" in clause(report["rows"][0]["difference"])


@pytest.mark.parametrize(
    ("value", "shown"), [(-3175.0, "-3,175"), (0.25, "+0.25"), (1e-9, "+1e-09"), (-34.0104, "-34.01"), (0.0, "+0")]
)
def test_changes_have_a_sign_and_at_most_three_decimals(value: float, shown: str) -> None:
    assert signed(value) == shown


def test_milliseconds() -> None:
    assert in_ms(1599087.63680932) == "1,599,087.637"


@pytest.mark.parametrize("until_ms", [90.0, 166_954.0, 1_366_849.5])
def test_every_tick_of_time_has_its_unit(until_ms: float) -> None:
    curves = {"baseline": {"completions": {"until_ms": until_ms, "done": [1, 2, 4]}, "pressure": []}}
    picture = charts.timeline_chart(curves, None, requests=4)
    ticks = re.findall(rf'y="{charts.HEIGHT - 10}"[^>]*>([^<]*)<', picture)
    assert len(ticks) >= 3
    assert all(tick == "0" or re.fullmatch(r"[\d.,]+ (ms|s|min)", tick) for tick in ticks)


def test_titles_of_pictures_grow_with_their_axes() -> None:
    """The picture is scaled to its column; its title is set in shares of the same width."""
    assert re.search(r"figure\{[^}]*container-type:inline-size", STYLE)
    assert re.search(rf"figcaption\{{[^}}]*font-size:{13 / charts.WIDTH * 100:.1f}cqw", STYLE)


def test_what_a_record_covers_stands_in_the_wide_column(tmp_path: Path) -> None:
    builder = added(tmp_path / "run", exceptions=RECORD).ended("more-counters", baseline=False, candidate=True)
    page = html.render(build(builder.finish()))
    assert '<span class="rule">run.parity</span> <span><b class="state">differs, covered by more-counters:</b> ' in page
    assert set(re.findall(r'<span class="rule">([^<]*)</span>', page)) == set(
        re.findall(r'<span class="rule">([a-z]+\.[a-z-]+)</span>', page)
    )


def ending(changes: dict[int, float]) -> Any:
    """Records of which one field of every request differs, and where told, also their end."""
    record = records.vllm_record()
    changed = records.changed(record)
    for number, entry in enumerate(changed["per_request"]):
        entry["first_admit_ms"] += 0.5
        if number in changes:
            entry["terminal_time_ms"] += changes[number]
    return record, changed


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({}, "8 of 8 requests differ (none ends at another time), "),
        ({2: 1.0}, "8 of 8 requests differ (1 ends at another time), "),
        ({2: 1.0, 3: -1.0, 4: 0.25}, "8 of 8 requests differ (3 end at another time), "),
    ],
)
def test_how_many_requests_end_at_another_time_is_said(changes: dict[int, float], words: str, tmp_path: Path) -> None:
    plan = runs.plan({outcomes.NAME: runs.plan_row()})
    report = build(runs.RunBuilder(tmp_path / "run", plan).row(outcomes.NAME, *ending(changes)).finish())
    (row,) = report["rows"]
    assert say.spread(row["difference"]).startswith(words)
    cut = row["difference"] | {"classes": []}
    assert say.spread(cut).startswith("8 of 8 requests differ, ")


def test_cpus_are_listed_in_words(tmp_path: Path) -> None:
    text = markdown.render(build(outcomes.passing(tmp_path / "run")))
    assert re.search(r"CPUs 0, NUMA 0, canonical", text)
    assert "[0]" not in text
