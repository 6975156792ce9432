"""The record of every attempted process of one row: `samples.jsonl`, appended and synced, never rewritten.

    session      the harness started or resumed: which node, which CPUs, what was verified in place
    attempt      a process is about to start
    finished     it ended: status, timing, what the kernel and the node said
    interrupted  the harness was ended while it ran
    pair         a round of a pair is complete: `valid`, or `invalid` with every cause and its evidence
    note         the harness waited for the node to become quiet

An `attempt` without an end is a process that a kill took along. A torn last line is what a power cut
leaves; it is cut off and noted when the row is resumed.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from aisimc_runtime.gate.process import Finished
from aisimc_runtime.gate.telemetry import Reading

Event = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Attempt:
    """One attempted process, as far as it got."""

    attempt: int
    session: int
    kind: str
    arm: str
    number: int
    """Warm-up or pair number."""
    round: int
    """Which time the pair is run: 1, and one more after each invalidation or interruption."""
    position: str
    status: str
    """`ok`, `failed`, or `interrupted`."""
    error: str | None = None
    timing: Mapping[str, float] | None = None
    process: Finished | None = None
    before: Reading | None = None
    after: Reading | None = None
    at: str = ""
    """Time of day when it was announced."""


@dataclass(frozen=True, slots=True)
class Round:
    """One time a pair was run: both halves in run order, or one that was interrupted."""

    pair: int
    round: int
    halves: tuple[Attempt, ...]
    status: str
    """`valid`, `invalid`, `failed`, or `interrupted`."""
    causes: tuple[Event, ...] = ()


@dataclass(frozen=True, slots=True)
class History:
    """All that a row's record holds."""

    sessions: tuple[Event, ...]
    attempts: tuple[Attempt, ...]
    verdicts: Mapping[tuple[int, int], Event]
    """The `pair` event of each completed round."""
    notes: tuple[Event, ...] = ()

    @property
    def failed(self) -> Attempt | None:
        """The first product failure, warm-ups included; a row that has one is decided."""
        return next((attempt for attempt in self.attempts if attempt.status == "failed"), None)

    def rounds(self) -> list[Round]:
        """Every round of every pair in run order."""
        halves: dict[tuple[int, int], list[Attempt]] = {}
        for attempt in self.attempts:
            if attempt.kind == "sample":
                halves.setdefault((attempt.number, attempt.round), []).append(attempt)
        return [_round(key, found, self.verdicts.get(key)) for key, found in halves.items()]

    def valid(self) -> dict[int, Round]:
        """The valid round of each pair that has one."""
        return {found.pair: found for found in self.rounds() if found.status == "valid"}


class Recorder:
    """Appends events to the record, each one on disk before the next thing happens."""

    def __init__(self, path: Path) -> None:
        self._stream = path.open("ab")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stream.close()

    def write(self, event: str, **fields: Any) -> None:
        """Append one event with the time of day, and sync it."""
        line = {"at": datetime.now(UTC).isoformat(timespec="milliseconds"), "event": event, **fields}
        self._stream.write(json.dumps(line, separators=(",", ":")).encode() + b"\n")
        self._stream.flush()
        os.fsync(self._stream.fileno())


def cut_torn_line(path: Path) -> int:
    """Cut what follows the last newline, the mark of a write that a power cut split; its length in bytes."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return 0
    whole = data.rfind(b"\n") + 1
    if whole < len(data):
        os.truncate(path, whole)
    return len(data) - whole


def read_events(path: Path) -> Iterator[Event]:
    """The whole lines of a record in order; none where the file is not there. ValueError for a broken line."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return
    for line in data[: data.rfind(b"\n") + 1].splitlines():
        yield json.loads(line)


def history(events: Iterable[Event]) -> History:
    """Put the events of one row together."""
    sessions: list[Event] = []
    notes: list[Event] = []
    attempts: dict[int, Event] = {}
    verdicts: dict[tuple[int, int], Event] = {}
    for event in events:
        match event["event"]:
            case "session":
                sessions.append(event)
            case "attempt":
                opened = {"session": len(sessions), "status": "interrupted", "started": event["at"]}
                attempts[event["attempt"]] = event | opened
            case "finished" | "interrupted":
                attempts[event["attempt"]] |= event
            case "pair":
                verdicts[event["pair"], event["round"]] = event
            case _:
                notes.append(event)
    found = tuple(_attempt(event) for event in attempts.values())
    return History(tuple(sessions), found, verdicts, tuple(notes))


def _attempt(event: Event) -> Attempt:
    return Attempt(
        attempt=event["attempt"],
        session=event["session"],
        kind=event["kind"],
        arm=event["arm"],
        number=event["number"],
        round=event["round"],
        position=event["position"],
        status=event["status"],
        error=event.get("error"),
        timing=event.get("timing"),
        process=Finished.from_json(event["process"]) if "process" in event else None,
        before=Reading.from_json(event["before"]) if "before" in event else None,
        after=Reading.from_json(event["after"]) if "after" in event else None,
        at=event["started"],
    )


def _round(key: tuple[int, int], halves: list[Attempt], verdict: Event | None) -> Round:
    causes = tuple(verdict["causes"]) if verdict else ()
    if any(half.status == "failed" for half in halves):
        status = "failed"
    else:
        status = "interrupted" if verdict is None else verdict["status"]
    return Round(key[0], key[1], tuple(halves), status, causes)
