"""Read a run folder once, for the verdict and the report (the edge where files become values)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from aisimc_runtime.evidence.view import ARMS, Row, load_row, read_json
from aisimc_runtime.failures import Blocked
from aisimc_runtime.ports.named import why


@dataclass(frozen=True, slots=True)
class Collected:
    """Everything of a run folder that decides."""

    folder: Path
    plan: dict[str, Any]
    rows: tuple[Row, ...]
    artifacts: dict[str, Any]
    inputs: dict[str, Any]
    tests: dict[str, dict[str, dict[str, Any] | None]]
    """Exception record: arm: outcome of its regression test."""
    blocked: dict[str, str] | None
    performance: dict[str, Any] | None


def collect(folder: Path) -> Collected:
    """Read a run folder. Raises Blocked when it is none, or a file in it cannot be read."""
    try:
        plan = read_json(folder / "plan.json")
        if plan is None:
            raise Blocked(f"{folder} is not a run folder: it has no plan.json")
        return Collected(
            folder,
            plan,
            tuple(load_row(plan, name, folder / "rows" / name) for name in plan["rows"]),
            read_json(folder / "artifacts.json") or {},
            read_json(folder / "inputs.json") or {},
            {name: _tests(folder, name) for name in plan.get("exceptions") or {}},
            _blocked(folder / "journal.jsonl"),
            _performance(folder, plan),
        )
    except orjson.JSONDecodeError as error:
        raise Blocked(f"a file of {folder} is not JSON: {error}", help="`aisimc verify` says which one") from error
    except OSError as error:
        raise Blocked(f"cannot read {error.filename or folder}: {why(error)}") from error


def _tests(folder: Path, name: str) -> dict[str, dict[str, Any] | None]:
    return {arm: read_json(folder / "exceptions" / name / f"{arm}.json") for arm in ARMS}


def _performance(folder: Path, plan: dict[str, Any]) -> dict[str, Any] | None:
    if plan.get("performance") is None:
        return None
    from aisimc_runtime.gate.section import section

    try:
        return section(folder)
    except ValueError as error:
        raise Blocked(f"the samples of the gate in {folder} cannot be read: {error}") from error


def _blocked(journal: Path) -> dict[str, str] | None:
    """The last thing that blocked the campaign, unless it was taken up again since."""
    found: dict[str, str] | None = None
    for event in journal_events(journal):
        if event.get("event") == "blocked":
            found = {key: str(event.get(key) or "") for key in ("action", "message", "help")}
        elif event.get("event") in ("started", "resumed"):
            found = None
    return found


def journal_events(journal: Path) -> Iterator[dict[str, Any]]:
    """The whole lines of a journal; a torn last line was never acknowledged and is passed over."""
    try:
        data = journal.read_bytes()
    except FileNotFoundError:
        return
    for line in data.split(b"\n"):
        try:
            event = orjson.loads(line)
        except orjson.JSONDecodeError:
            continue
        if isinstance(event, dict):
            yield event
