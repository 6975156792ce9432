"""The report object: its schema, what its digest covers, and its renderings."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import orjson
import pytest

from aisimc_runtime.report import build, html, junit, markdown, statement
from aisimc_runtime.report.digest import report_digest
from tests.builders import outcomes, records, runs, schemas

Report = dict[str, Any]


@pytest.fixture(params=list(outcomes.OUTCOMES))
def report(request: pytest.FixtureRequest, tmp_path: Path) -> Report:
    """The report of each way a campaign can end."""
    return build(outcomes.OUTCOMES[request.param](tmp_path / outcomes.FOLDER))


def test_reports_hold_to_their_schema(report: Report) -> None:
    assert schemas.problems("report", report) == []
    assert schemas.problems("report", report | {"extra": 1})


def test_the_report_is_the_same_wherever_the_folder_lies(tmp_path: Path) -> None:
    one = build(outcomes.passing(tmp_path / "one"))
    two = build(outcomes.passing(tmp_path / "somewhere" / "else"))
    assert one == two


def edit(folder: Path, pattern: str, change: Callable[[Any], None]) -> None:
    for path in folder.glob(pattern):
        document = orjson.loads(path.read_bytes())
        change(document)
        path.write_bytes(orjson.dumps(document))


def digest_after(tmp_path: Path, pattern: str, change: Callable[[Any], None]) -> tuple[str, str]:
    folder = outcomes.passing(tmp_path / "run")
    before = build(folder)["digest"]
    edit(folder, pattern, change)
    return before, build(folder)["digest"]


@pytest.mark.parametrize(
    ("pattern", "change"),
    [
        ("rows/*/replays/*/process.json", lambda d: d.update(wall_ms=1.0, cpu_ms=2.0, max_rss_bytes=3)),
        ("rows/*/replays/*/process.json", lambda d: d["node"].update(hostname="other", load_before=[9.0, 9.0, 9.0])),
        ("rows/*/replays/*/process.json", lambda d: d.update(error="another wording: requires round_robin placement")),
        ("rows/*/replays/*/qualification.jsonl", lambda d: d.update(measured_process_ms=1.0)),
        ("rows/*/replays/*/qualification.jsonl", lambda d: d.update(reported_wall_time_ms=1.0)),
        ("artifacts.json", lambda d: d["candidate"].update(size_bytes=1, text_size_bytes=2)),
    ],
)
def test_machines_and_times_are_outside_the_digest(tmp_path: Path, pattern: str, change: Callable[[Any], None]) -> None:
    before, after = digest_after(tmp_path, pattern, change)
    assert before == after


@pytest.mark.parametrize(
    ("pattern", "change"),
    [
        ("plan.json", lambda d: d["campaign"].update(purpose="another")),
        ("plan.json", lambda d: d["revisions"]["candidate"].update(sha256="e" * 64)),
        ("rows/*/replays/*/digests.json", lambda d: d.update(canonical_sha256="e" * 64)),
        ("rows/*/replays/*/qualification.jsonl", lambda d: d.update(prefix_cache_reused_ratio=0.25)),
        ("artifacts.json", lambda d: d["candidate"].update(exclusions=[])),
        ("inputs.json", lambda d: d["window"].update(unchanged=False)),
    ],
)
def test_what_decides_is_inside_the_digest(tmp_path: Path, pattern: str, change: Callable[[Any], None]) -> None:
    before, after = digest_after(tmp_path, pattern, change)
    assert before != after


def test_the_digest_follows_from_the_report(report: Report) -> None:
    assert report_digest(report) == report["digest"]
    changed = copy.deepcopy(report)
    changed["verdict"]["semantic"] = "OTHER"
    assert report_digest(changed) != report["digest"]


def test_markdown_begins_with_the_verdict_and_says_what_was_left_out(report: Report) -> None:
    text = markdown.render(report)
    first = text.splitlines()[0]
    assert first == f"# {report['verdict']['semantic'] or report['verdict']['state'].upper()}: hand-made"
    order = [text.index(heading) for heading in ("## Rows", "## Not covered", "## Pins")]
    assert order == sorted(order)
    assert "sglang-aggregated" in text
    assert report["digest"] in text
    for reason in report["verdict"]["reasons"]:
        assert reason.replace("<", "&lt;") in text.replace("`", "")


def test_markdown_cannot_be_broken_by_what_it_quotes(tmp_path: Path) -> None:
    row = runs.plan_row()
    plan = runs.plan({"row-1": row})
    plan["campaign"]["purpose"] = "a | b\n\n# FAKE <script>"
    record = records.vllm_record()
    text = markdown.render(build(runs.RunBuilder(tmp_path, plan).row("row-1", record, "bad | <b>\n# X").finish()))
    assert "<script>" not in text
    assert "\n# FAKE" not in text
    assert "\n# X" not in text


class Page(HTMLParser):
    """What a page is made of: tags in order, references to elsewhere, and whether tags are balanced."""

    VOID = frozenset({"meta", "br", "wbr"})

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.outside: list[str] = []
        self.headings: list[int] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        if tag not in self.VOID:
            self.open.append(tag)
        if re.fullmatch(r"h[1-6]", tag):
            self.headings.append(int(tag[1]))
        for name, value in attrs:
            if name in ("src", "srcset", "action") or (name == "href" and not (value or "").startswith("#")):
                self.outside.append(f"{tag} {name}={value}")
            if name == "href":
                self.links.append((value or "").removeprefix("#"))
            if name == "id":
                self.ids.append(value or "")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in self.VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.open, f"</{tag}> closes nothing"
        assert self.open.pop() == tag


def test_the_page_is_whole_and_needs_nothing_from_elsewhere(report: Report) -> None:
    text = html.render(report)
    page = Page(text)
    assert page.open == []
    assert page.outside == []
    assert not re.search(r"url\(|@import|https?://(?!www\.w3\.org)", text)
    assert len(page.ids) == len(set(page.ids))
    assert set(page.links) <= set(page.ids)


def test_the_page_can_be_read_without_seeing_it(report: Report) -> None:
    text = html.render(report)
    page = Page(text)
    assert page.headings[0] == 1
    assert page.headings.count(1) == 1
    assert all(later - earlier <= 1 for earlier, later in zip(page.headings, page.headings[1:], strict=False))
    assert text.count("<table>") == text.count("<caption>")
    assert text.count("<svg ") == text.count('role="img"')
    assert '<html lang="en">' in text


def test_the_page_quotes_what_engines_say(tmp_path: Path) -> None:
    plan = runs.plan({"row-1": runs.plan_row()})
    record = records.vllm_record()
    evil = '</article><script>alert("x")</script>'
    text = html.render(build(runs.RunBuilder(tmp_path, plan).row("row-1", record, evil).finish()))
    assert evil not in text
    assert text.count("<script>") == 1


def _luminance(colour: str) -> float:
    channels = [int(colour[index : index + 2], 16) / 255 for index in (0, 2, 4)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _palettes() -> list[dict[str, str]]:
    from aisimc_runtime.report.html.style import STYLE

    blocks = re.findall(r":root\{([^}]*)\}", STYLE)
    return [dict(re.findall(r"--([a-z-]+):#([0-9a-f]{3,6})\b", block)) for block in blocks]


@pytest.mark.parametrize("palette", [0, 1], ids=["light", "dark"])
@pytest.mark.parametrize(
    ("ink", "ground"),
    [
        ("ink", "bg"),
        ("ink", "card"),
        ("soft", "bg"),
        ("soft", "card"),
        ("good", "good-bg"),
        ("bad", "bad-bg"),
        ("warn", "warn-bg"),
        ("mute", "mute-bg"),
        ("ink", "bad-bg"),
        ("soft", "bad-bg"),
        ("soft", "warn-bg"),
        ("ink", "code"),
        ("bad", "card"),
        ("mark", "card"),
    ],
)
def test_words_stand_out_from_their_ground(palette: int, ink: str, ground: str) -> None:
    colours = {
        name: value if len(value) == 6 else "".join(c * 2 for c in value)
        for name, value in _palettes()[palette].items()
    }
    high, low = sorted((_luminance(colours[ink]), _luminance(colours[ground])), reverse=True)
    assert (high + 0.05) / (low + 0.05) >= 4.5  # WCAG 2 level AA


def test_junit_counts_what_does_not_hold(report: Report) -> None:
    root = ElementTree.fromstring(junit.render(report))
    bad = sum(int(suite.get(kind, "0")) for suite in root for kind in ("failures", "errors"))
    assert (bad > 0) == (report["verdict"]["semantic"] in ("FAIL", None))
    for suite in root:
        cases = suite.findall("testcase")
        assert int(suite.get("tests", "0")) == len(cases)
        for kind, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
            assert int(suite.get(kind, "0")) == sum(case.find(tag) is not None for case in cases)
        assert len({case.get("name") for case in cases}) == len(cases)


def test_junit_holds_control_characters_out(tmp_path: Path) -> None:
    plan = runs.plan({"row-1": runs.plan_row()})
    made = build(runs.RunBuilder(tmp_path, plan).row("row-1", records.vllm_record(), "bell \x07 and \x1b[31m").finish())
    text = ElementTree.tostring(ElementTree.fromstring(junit.render(made)), encoding="unicode")
    assert "bell" in text
    assert not re.search("[\x00-\x08\x0b-\x1f]", text)


def test_the_statement_names_subjects_by_digest(report: Report) -> None:
    made = statement.statement(report)
    assert made["_type"] == "https://in-toto.io/Statement/v1"
    assert all(re.fullmatch(r"[0-9a-f]{64}", entry["digest"]["sha256"]) for entry in made["subject"])
    expected = {"PASS": "PASSED", "PASS_WITH_SEMANTIC_EXCEPTIONS": "WARNED"}
    assert made["predicate"]["result"] == expected.get(report["verdict"]["semantic"], "FAILED")
    named = made["predicate"]["passedTests"] + made["predicate"]["warnedTests"] + made["predicate"]["failedTests"]
    finished = [row["name"] for row in report["rows"] if row["result"] not in ("INCOMPLETE", "NOT_COVERED")]
    assert sorted(named) == sorted(finished)
    assert None not in [entry["digest"].get("sha256") for entry in made["predicate"]["configuration"]]


def test_a_patched_candidate_is_told_from_its_baseline_everywhere(tmp_path: Path) -> None:
    core: dict[str, Any] = {"source": "embedded", "core": "reference-core", "sha256": "5" * 64, "patch": None}
    patch = {"file": "patches/order.patch", "sha256": "6" * 64}
    record = records.vllm_record()
    builder = runs.RunBuilder(tmp_path, runs.plan({outcomes.NAME: runs.plan_row()}))
    builder.plan["revisions"] = {"baseline": core, "candidate": core | {"patch": patch}}
    report = build(builder.row(outcomes.NAME, record, record).finish())
    made = statement.statement(report)
    subjects = {entry["name"]: entry["digest"]["sha256"] for entry in made["subject"]}
    assert subjects["candidate: embedded reference-core, before patch patches/order.patch"] == "5" * 64
    assert subjects["candidate: patch patches/order.patch"] == "6" * 64
    names = {entry["name"] for entry in made["predicate"]["configuration"]}
    assert "baseline: embedded reference-core" in names
    assert not names & set(subjects)
    pins = markdown.render(report).partition("## Pins")[2].partition("<details>")[0]
    assert f"| candidate patch patches/order.patch | `{'6' * 64}` |" in pins
    assert re.findall(r"\b[0-9a-f]{6,63}\b", pins) == []


GATE = {
    "metric": "replay_execution_ms",
    "rows": [outcomes.NAME],
    "warmups": 5,
    "pairs": 60,
    "seed": 7,
    "threshold": 1.05,
    "exchangeability": "fresh pinned processes on an idle node",
    "diagnostics": {"lag1_autocorrelation": 0.3, "order_trend": 0.3},
    "invalidate_on": ["competing_load"],
    "size_explanation": None,
}


def test_a_gate_that_was_not_measured_stands_beside_the_verdict(tmp_path: Path) -> None:
    record = records.vllm_record()
    plan = runs.plan({outcomes.NAME: runs.plan_row()}, performance=GATE)
    report = build(runs.RunBuilder(tmp_path, plan).row(outcomes.NAME, record, record).finish())
    assert report["verdict"]["semantic"] == "PASS"
    assert report["verdict"]["performance"] == "NOT_MEASURED"
    assert "performance not measured</span></h1>" in html.render(report)
    assert report["verdict"]["exit_status"] == 4
    assert "Performance: not measured." in markdown.render(report)
    assert ">not measured</span>" in html.render(report)
    assert statement.statement(report)["predicate"]["aisimc"]["performance"] == "NOT_MEASURED"


def test_a_campaign_without_a_gate_says_so(tmp_path: Path) -> None:
    report = build(outcomes.passing(tmp_path))
    assert report["verdict"]["performance"] is None
    assert "not measured (the campaign declares no gate)" in markdown.render(report)
