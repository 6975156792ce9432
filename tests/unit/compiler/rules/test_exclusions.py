"""exclude.closed: the closed list, exactly."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.builders.campaigns import ON_WHEELS, assert_refused, changed, check, said

WALL = "  /summary/wall_time_ms\n"
LIST = (
    "  /summary/wall_time_ms\n  /summary/processed_tokens_per_s\n"
    "  /summary/processed_output_tokens_per_s\n  /planner/html_report_path\n"
)

REFUSED = [
    (WALL, WALL + "  «/summary/mean_ttft_ms»\n"),
    (WALL, WALL + "  «/summary»\n"),
    (WALL, WALL + "  «/»\n"),
    (WALL, WALL + "  «/per_request/*/ttft_ms»\n"),
    (WALL, WALL + WALL.replace("/summary/wall_time_ms", "«/summary/wall_time_ms»")),
    (WALL, WALL + "  «/summary/wall_time_ms/»\n"),
    (WALL, "  «/summary/wall_time»\n"),
    (WALL, "  «/Summary/wall_time_ms»\n"),
    (WALL, "  «/summary/wall_time_ms/»\n"),
    (WALL, "  «/summary/wall-time-ms»\n"),
    (WALL, "  «/summary/wall_time_m~0s»\n"),
    (WALL, "  «/summary/wаll_time_ms»\n"),
    (WALL, "  «/summary/*»\n"),
    (WALL, "  «//summary/wall_time_ms»\n"),
    (WALL, ""),
    (LIST, ""),
    (LIST, "  «/summary/*»\n  /planner/html_report_path\n"),
    (LIST, "  «/summary»\n  /planner/html_report_path\n"),
    (LIST, "  «/*»\n"),
    (LIST, "  «fields» = [/summary/wall_time_ms]\n"),
    (WALL, WALL + '  «reason» = "noisy"\n'),
]


@pytest.mark.parametrize(("old", "new"), REFUSED)
def test_refused(old: str, new: str, tmp_path: Path) -> None:
    source, span = changed(ON_WHEELS, (old, new))
    assert_refused(check(source, tmp_path), "exclude.closed", span)


def test_a_misspelt_pointer_is_mended(tmp_path: Path) -> None:
    source, span = changed(ON_WHEELS, (WALL, "  «/summary/wall_time»\n"))
    found = assert_refused(check(source, tmp_path), "exclude.closed", span)
    assert found.replacement is not None
    assert found.replacement.text == "/summary/wall_time_ms"


def test_a_look_alike_is_named(tmp_path: Path) -> None:
    source, span = changed(ON_WHEELS, (WALL, "  «/summary/wаll_time_ms»\n"))
    found = assert_refused(check(source, tmp_path), "exclude.closed", span)
    assert any("U+0430" in note and "`a`" in note for note in found.notes)


@pytest.mark.parametrize("text", ['"/summary/wall_time_ms"', "wall_time_ms"])
def test_pointers_stand_without_quotes(text: str, tmp_path: Path) -> None:
    source, span = changed(ON_WHEELS, (WALL, f"  «{text}»\n"))
    found = check(source, tmp_path).diagnostics
    assert found, "nothing refused"
    assert (found[0].span.start, found[0].span.end) == span


@pytest.mark.parametrize(
    "new",
    [
        "".join(reversed(LIST.splitlines(keepends=True))),
        LIST.replace("\n", " ").replace("/summary/wall_time_ms", "/summary/wall_time_ms,") + "\n",
        LIST.replace(WALL, WALL.replace("\n", "  # the clock\n")),
    ],
)
def test_valid_neighbours(new: str, tmp_path: Path) -> None:
    result = check(changed(ON_WHEELS, (LIST, new))[0], tmp_path)
    assert result.ok, said(result.diagnostics)
