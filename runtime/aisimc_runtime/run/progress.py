"""What a person sees while a campaign runs: a table on a terminal, one line per row in a pipe, or nothing."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager
from types import TracebackType
from typing import IO, TYPE_CHECKING, Any, Self

from aisimc_compiler.rules.refusal import plural
from aisimc_runtime.executors.base import Note, ReplayFinished, ReplayStarted, RowBlocked, RowEvent, RowFinished

if TYPE_CHECKING:
    from rich.console import Console, RenderableType


Key = tuple[str, str, int]
"""A replay: its row, arm and repetition."""


class Progress(AbstractContextManager["Progress"]):
    """Says nothing; the others refine it."""

    def stage(self, name: str, text: str) -> None:
        """A stage of the plan begins."""

    def say(self, text: str) -> None:
        """One line about something that takes time. May come from any thread."""

    def replaying(self, rows: Mapping[str, Any], waiting: Iterable[str], total: int, kept: Iterable[Key] = ()) -> None:
        """The replays of `waiting` rows begin, but for those `kept` from before; the other rows are there whole."""

    def event(self, event: RowEvent) -> None:
        """Something happened to a row."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        return None


class Tally:
    """Replays of each row by state; what both visible forms need."""

    def __init__(self) -> None:
        self.state: dict[str, dict[tuple[str, int], str]] = {}
        self.error: dict[str, str] = {}
        self.wall_ms: dict[str, float] = {}
        self.finished: set[str] = set()
        self.blocked: dict[str, str] = {}

    def plan(self, rows: Mapping[str, Any], waiting: Iterable[str], kept: Iterable[Key] = ()) -> None:
        """Every replay of the plan, as yet to come or there already."""
        waiting, kept = set(waiting), set(kept)
        for name, row in rows.items():
            done = name not in waiting
            self.state[name] = {
                (arm, repetition): "kept" if done or (name, arm, repetition) in kept else "waiting"
                for repetition in (1, 2)
                for arm, one in row["arms"].items()
                if repetition <= one["repetitions"]
            }
            if done:
                self.finished.add(name)

    def take(self, event: RowEvent) -> None:
        """Account for one event."""
        match event:
            case ReplayStarted():
                self.state.setdefault(event.row, {})[event.arm, event.repetition] = "running"
            case ReplayFinished():
                state = "lost" if event.lost else "done" if event.ok else "failed"
                self.state.setdefault(event.row, {})[event.arm, event.repetition] = state
                self.wall_ms[event.row] = self.wall_ms.get(event.row, 0.0) + event.wall_ms
                if not event.ok:
                    self.error[event.row] = event.summary
            case RowFinished():
                self.finished.add(event.row)
            case RowBlocked():
                self.blocked[event.row] = event.reason
            case Note():
                pass

    def continuing(self) -> str:
        """How many replays are there already; empty where none is."""
        states = [state for row in self.state.values() for state in row.values()]
        kept = states.count("kept")
        return f"continuing: {kept} of {plural(len(states), 'replay')} kept" if kept else ""

    def row_line(self, row: str) -> str:
        """One row that ended, in one line."""
        states = list(self.state.get(row, {}).values())
        kept = states.count("kept")
        made = len(states) - kept
        parts = [plural(made, "replay"), f"{self.wall_ms.get(row, 0.0) / 1000:.1f} s"] if made or not kept else []
        replayed = ", ".join([*parts, *([f"{kept} kept"] if kept else [])])
        if row in self.blocked:
            return f"{row}: blocked: {self.blocked[row]}"
        return f"{row}: {self.error[row]} ({replayed})" if row in self.error else f"{row}: replayed ({replayed})"


class Lines(Progress):
    """One line per stage and row, for pipes and logs."""

    def __init__(self, stream: IO[str]) -> None:
        self.stream: IO[str] | None = stream
        self.tally = Tally()
        self.count = 0
        self.total = 0

    def _put(self, text: str) -> None:
        """Write a line. Whoever reads progress may leave, or a log's disk fill up: the campaign goes on."""
        if self.stream is None:
            return
        try:
            self.stream.write(text + "\n")
            self.stream.flush()
        except OSError:
            self.stream = None

    def stage(self, name: str, text: str) -> None:
        self._put(f"{name}: {text}" if text else name)

    def say(self, text: str) -> None:
        self._put(f"  {text}")

    def replaying(self, rows: Mapping[str, Any], waiting: Iterable[str], total: int, kept: Iterable[Key] = ()) -> None:
        waiting = set(waiting)
        self.tally.plan(rows, waiting, kept)
        self.total = total
        self.count = total - len(waiting)
        there = f", {self.count} there already" if self.count else ""
        self._put(f"replay: {plural(total, 'row')}{there}")
        if self.tally.continuing():
            self._put(f"  {self.tally.continuing()}")

    def event(self, event: RowEvent) -> None:
        self.tally.take(event)
        if isinstance(event, (RowFinished, RowBlocked)):
            self.count += 1
            self._put(f"[{self.count}/{self.total}] {self.tally.row_line(event.row)}")
        elif isinstance(event, Note):
            self._put(f"  {event.text}")


_MARKS = {
    "waiting": ("·", "dim"),
    "running": ("▸", "bold cyan"),
    "done": ("✓", "green"),
    "kept": ("✓", "dim green"),
    "failed": ("✗", "bold red"),
    "lost": ("!", "bold yellow"),
}
SHOWN_ROWS = 24


class Table(Progress):
    """A table of rows × replays that is drawn over itself while it changes."""

    def __init__(self, console: Console) -> None:
        from rich.live import Live

        self.console = console
        self.tally = Tally()
        self.current = ""
        self.started = time.monotonic()
        self.live = Live(get_renderable=self.render, console=console, refresh_per_second=5, transient=True)

    def __enter__(self) -> Self:
        self.live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.live.stop()

    def stage(self, name: str, text: str) -> None:
        self.current = f"{name}: {text}" if text else name

    def say(self, text: str) -> None:
        self.current = text

    def replaying(self, rows: Mapping[str, Any], waiting: Iterable[str], total: int, kept: Iterable[Key] = ()) -> None:
        self.tally.plan(rows, waiting, kept)
        self.current = "replay"
        if self.tally.continuing():
            self.console.print(self.tally.continuing(), highlight=False)

    def event(self, event: RowEvent) -> None:
        self.tally.take(event)
        if isinstance(event, Note):
            self.current = event.text
        elif isinstance(event, ReplayStarted):
            self.current = "replay"

    def render(self) -> RenderableType:
        """The table as it is now."""
        from rich.console import Group
        from rich.table import Table as RichTable
        from rich.text import Text

        states = [state for row in self.tally.state.values() for state in row.values()]
        ended = sum(state in ("done", "kept", "failed", "lost") for state in states)
        elapsed = int(time.monotonic() - self.started)
        head = f"{elapsed // 60}:{elapsed % 60:02d}  {self.current}"
        head += f"  {ended}/{len(states)} replays" if states else ""
        table = RichTable(box=None, pad_edge=False, show_header=bool(states), header_style="dim")
        table.add_column("row", no_wrap=True)
        table.add_column("baseline", no_wrap=True)
        table.add_column("candidate", no_wrap=True)
        table.add_column("", overflow="ellipsis", no_wrap=True)
        for row in self._shown():
            cells = [self._marks(row, arm) for arm in ("baseline", "candidate")]
            table.add_row(row, *cells, Text(self.tally.blocked.get(row) or self.tally.error.get(row, "")))
        return Group(Text(head, no_wrap=True, overflow="ellipsis"), table)

    def _shown(self) -> list[str]:
        """Rows that fit: those at work first, then those to come, then the last ones that ended."""
        rows = list(self.tally.state)
        if len(rows) <= SHOWN_ROWS:
            return rows
        order = {row: index for index, row in enumerate(rows)}

        def rank(row: str) -> int:
            states = self.tally.state[row].values()
            return 0 if "running" in states else 2 if row in self.tally.finished else 1

        return sorted(sorted(rows, key=rank)[:SHOWN_ROWS], key=order.__getitem__)

    def _marks(self, row: str, arm: str) -> Any:
        from rich.text import Text

        cell = Text()
        for (of, _), state in sorted(self.tally.state[row].items()):
            if of == arm:
                cell.append(_MARKS[state][0] + " ", style=_MARKS[state][1])
        return cell
