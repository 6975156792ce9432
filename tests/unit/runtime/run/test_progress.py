"""What a person sees: one line per row in a pipe, a table on a terminal."""

from __future__ import annotations

import contextlib
import io
import os
from typing import Any

from rich.console import Console

from aisimc_runtime.executors.base import Note, ReplayFinished, ReplayStarted, RowBlocked, RowFinished
from aisimc_runtime.run.progress import Lines, Progress, Table

ARMS = {"baseline": {"repetitions": 2}, "candidate": {"repetitions": 2}}
ROWS: dict[str, Any] = {name: {"arms": ARMS} for name in ("a", "b", "c")}


def play(progress: Progress) -> None:
    """Row a was there, row b goes well, row c fails in one replay, then its node is lost."""
    progress.stage("acquire", "2 revisions, 1 inputs")
    progress.say("fetching aisimulate==1.0")
    progress.replaying(ROWS, ["b", "c"], 3)
    progress.event(Note("preflight: at most 1 runnable thread per replay"))
    for arm in ("baseline", "candidate"):
        for repetition in (1, 2):
            progress.event(ReplayStarted("b", arm, repetition, (0,)))
            progress.event(ReplayFinished("b", arm, repetition, True, "1234", None, 1500.0, 1400.0))
    progress.event(RowFinished("b", "node"))
    progress.event(ReplayStarted("c", "baseline", 1, (0,)))
    progress.event(ReplayFinished("c", "baseline", 1, False, "engine error: no", None, 20.0, 20.0))
    progress.event(ReplayStarted("c", "candidate", 1, (1,)))


def test_one_line_per_row_in_a_pipe() -> None:
    stream = io.StringIO()
    lines = Lines(stream)
    play(lines)
    lines.event(RowBlocked("c", "the node went away"))
    assert stream.getvalue().splitlines() == [
        "acquire: 2 revisions, 1 inputs",
        "  fetching aisimulate==1.0",
        "replay: 3 rows, 1 there already",
        "  continuing: 4 of 12 replays kept",
        "  preflight: at most 1 runnable thread per replay",
        "[2/3] b: replayed (4 replays, 6.0 s)",
        "[3/3] c: blocked: the node went away",
    ]


def test_a_table_on_a_terminal() -> None:
    console = Console(file=io.StringIO(), width=100, force_terminal=True, color_system=None)
    table = Table(console)
    play(table)
    console.file = io.StringIO()
    console.print(table.render())
    text = console.file.getvalue()
    assert "9/12 replays" in text
    rows = {line.split()[0]: line.split()[1:] for line in text.splitlines() if line[:1] in ("a", "b", "c")}
    assert rows["a"] == ["✓", "✓", "✓", "✓"]
    assert rows["b"] == ["✓", "✓", "✓", "✓"]
    assert rows["c"] == ["✗", "·", "▸", "·", "engine", "error:", "no"]


def test_what_an_interrupted_run_left_is_counted_and_ticked_from_the_start() -> None:
    kept = [("b", "baseline", 1), ("b", "candidate", 1), ("c", "baseline", 1), ("c", "candidate", 1)]
    rows = {name: ROWS[name] for name in ("b", "c")}
    console = Console(file=io.StringIO(), width=100, force_terminal=True, color_system=None)
    table, lines = Table(console), Lines(io.StringIO())
    for progress in (table, lines):
        progress.replaying(rows, ["b", "c"], 2, kept)
    assert isinstance(console.file, io.StringIO)
    assert "continuing: 4 of 8 replays kept" in console.file.getvalue()
    console.file = io.StringIO()
    console.print(table.render())
    text = console.file.getvalue()
    assert "4/8 replays" in text
    assert [line.split() for line in text.splitlines() if line[:1] in ("b", "c")] == [
        ["b", "✓", "·", "✓", "·"],
        ["c", "✓", "·", "✓", "·"],
    ]
    for arm in ("baseline", "candidate"):
        lines.event(ReplayStarted("b", arm, 2, (0,)))
        lines.event(ReplayFinished("b", arm, 2, True, "1234", None, 1500.0, 1400.0))
    lines.event(RowFinished("b", "node"))
    assert isinstance(lines.stream, io.StringIO)
    assert lines.stream.getvalue().splitlines() == [
        "replay: 2 rows",
        "  continuing: 4 of 8 replays kept",
        "[1/2] b: replayed (2 replays, 3.0 s, 2 kept)",
    ]


def test_a_row_whose_replays_were_all_kept_names_no_others() -> None:
    lines = Lines(io.StringIO())
    kept = [("a", arm, repetition) for arm in ARMS for repetition in (1, 2)]
    lines.replaying({"a": ROWS["a"]}, ["a"], 1, kept)
    lines.event(RowFinished("a", "node"))
    assert isinstance(lines.stream, io.StringIO)
    assert lines.stream.getvalue().splitlines()[-1] == "[1/1] a: replayed (4 kept)"


def test_many_rows_show_the_ones_at_work() -> None:
    console = Console(file=io.StringIO(), width=100, force_terminal=True, color_system=None)
    table = Table(console)
    names = [f"row{number:03}" for number in range(200)]
    table.replaying({name: {"arms": ARMS} for name in names}, names, 200)
    table.event(ReplayStarted("row150", "baseline", 1, (0,)))
    console.file = io.StringIO()
    console.print(table.render())
    assert "row150" in console.file.getvalue()
    assert len(console.file.getvalue().splitlines()) < 40


def test_a_reader_who_leaves_ends_no_campaign() -> None:
    reader, writer = os.pipe()
    stream = os.fdopen(writer, "w", encoding="utf-8")
    lines = Lines(stream)
    lines.stage("acquire", "2 revisions")
    os.close(reader)
    for _ in range(2):
        lines.say("nobody reads this")
    assert lines.stream is None
    with contextlib.suppress(BrokenPipeError):
        stream.close()
