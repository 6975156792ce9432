"""One allocation per row, and finding it again.

Each try has a name of its own. It is recorded before the scheduler is asked and the job's number after, so a harness
that is killed in between, or whose `sbatch` got no answer, looks for the name before it submits anything again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from aisimc_runtime.executors.cluster.port import (
    Contradictory,
    Known,
    Request,
    Scheduler,
    SubmitAnswer,
    SubmitLater,
    SubmitRefused,
    Submitted,
    SubmitUnclear,
    Unknown,
)
from aisimc_runtime.executors.cluster.script import Surroundings, batch_script
from aisimc_runtime.executors.cluster.shared import Campaign, RowPlace
from aisimc_runtime.ports.files import write_atomic


@dataclass(frozen=True, slots=True)
class Try:
    """One submission of a row, as far as the records know."""

    number: int
    name: str
    job: str | None
    """None while it is unclear whether the scheduler took it."""
    identity: str = ""
    """What the job was made from (`staging.identity`)."""
    over: str | None = None
    """Why this try has no future; None while it may have one."""


def tries(place: RowPlace) -> list[Try]:
    """The row's submissions so far, oldest first."""
    found: dict[str, Try] = {}
    for entry in place.records():
        name = str(entry.get("name", ""))
        event = entry.get("event")
        if event == "submitting":
            found[name] = Try(int(entry["number"]), name, None, str(entry.get("identity", "")))
        elif name in found and event == "submitted":
            found[name] = replace(found[name], job=str(entry["job"]))
        elif name in found and event == "over":
            found[name] = replace(found[name], over=str(entry["reason"]))
    return list(found.values())


def request_for(campaign: Campaign, place: RowPlace, number: int, cpus: int) -> Request:
    """The allocation that try `number` of the row asks for."""
    name = campaign.job_name(place.name, number)
    comment = f"aisimc run={campaign.run_folder.name} row={place.name} try={number}"
    return Request(name, comment, place.shared / "row.sh", place.shared / "log.txt", place.shared, cpus)


def write_script(campaign: Campaign, place: RowPlace, around: Surroundings) -> None:
    """Put the row's batch script where the scheduler finds it. Raises `Blocked`."""
    script = batch_script(place.shared, campaign.token, around)
    write_atomic(place.shared / "row.sh", script.encode(), mode=0o755)


def submit(scheduler: Scheduler, place: RowPlace, request: Request, one: Try, at: str) -> SubmitAnswer:
    """Ask once, recorded before and after. A refusal ends the try; an unclear answer leaves it open."""
    entry = {"event": "submitting", "at": at, "number": one.number, "name": one.name, "identity": one.identity}
    place.record(entry)
    answer = scheduler.submit(request)
    settle(place, one.name, answer, at)
    return answer


def settle(place: RowPlace, name: str, answer: SubmitAnswer, at: str) -> None:
    """Record what became of a submission."""
    entry: dict[str, Any] = {"at": at, "name": name}
    if isinstance(answer, Submitted):
        place.record({**entry, "event": "submitted", "job": answer.job})
    elif isinstance(answer, (SubmitRefused, SubmitLater)):
        place.record({**entry, "event": "over", "reason": answer.reason})


def end_try(place: RowPlace, name: str, reason: str, at: str) -> None:
    """Record that a try has no future, so that a harness that comes back does not wait for it."""
    place.record({"event": "over", "at": at, "name": name, "reason": reason})


def recover(scheduler: Scheduler, places: Sequence[tuple[RowPlace, Try]]) -> dict[str, SubmitAnswer]:
    """By row, what became of submissions that were begun and have no number: found, surely not taken, or unclear.

    A job that started and is gone from the queue has left an attempt in the shared folder; without one, a queue
    that answers and does not know the name never had it.
    """
    answer = scheduler.find([known.name for _, known in places]) if places else Known(())
    found: dict[str, SubmitAnswer] = {}
    for place, known in places:
        if isinstance(answer, (Unknown, Contradictory)):
            found[place.name] = SubmitUnclear(answer.reason)
            continue
        jobs = [view.job for view in answer.value if view.name == known.name] or _started(place.shared, known.name)
        found[place.name] = Submitted(jobs[0]) if jobs else SubmitRefused("the scheduler never had it")
    return found


def _started(folder: Path, name: str) -> list[str]:
    """Job numbers of attempts that were started under this name."""
    attempts = folder / "attempts"
    if not attempts.is_dir():
        return []
    return [path.name.split(".")[0] for path in sorted(attempts.iterdir()) if _name(path) == name]


def _name(attempt: Path) -> str:
    try:
        return (attempt / "name").read_text(encoding="utf-8").strip()
    except OSError:
        return ""
