"""The performance section of the report: every gated row, the size rule, and the gate's own result."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from aisimc_runtime.gate.decision import Result, overall
from aisimc_runtime.gate.design import METRIC, SCOPE, Design
from aisimc_runtime.gate.result import build, not_measured
from aisimc_runtime.gate.samples import Event, history, read_events
from aisimc_runtime.gate.size import ALLOWED_PERCENT, SizeResult, judge_sizes
from aisimc_runtime.gate.stage import gate_folder

SCHEMA = "aisimc.performance/1"


def section(run_folder: Path) -> dict[str, Any] | None:
    """What the report holds about the gate, from the run's folder alone; None when the plan declares none.

    Recomputed from the samples, not copied from `gate.json`. Raises `OSError` or `ValueError` for a folder
    that is not a run's.
    """
    plan = json.loads((run_folder / "plan.json").read_bytes())
    design = Design.from_plan(plan)
    if design is None:
        return None
    size = judge_sizes(_json(run_folder / "artifacts.json"), design.size_explanation)
    rows = [row_gate(run_folder, design, row) for row in design.rows]
    result = overall((Result(row["result"]) for row in rows), size_failed=size.failed)
    return {
        "schema": SCHEMA,
        "result": result.value,
        "scope": SCOPE,
        "metric": METRIC,
        "threshold": design.threshold,
        "seed": design.seed,
        "exchangeability": design.exchangeability,
        "diagnostics": dict(design.diagnostics),
        "invalidate_on": list(design.invalidate_on),
        "size": _size(size),
        "rows": rows,
    }


def row_gate(run_folder: Path, design: Design, row: str) -> dict[str, Any]:
    """One row's gate, decided again from its record, with every attempted process in it."""
    folder = gate_folder(run_folder, row)
    kept = _json(folder / "gate.json")
    events = list(read_events(folder / "samples.jsonl"))
    if events and kept:
        return build(design, row, history(events)) | {"samples": _samples(events)}
    if events:
        gate = not_measured(design, row, "the gate was not finished; run the campaign again to continue it")
        return gate | {"samples": _samples(events)}
    reason = kept.get("reason", "the run ended before the gate")
    return not_measured(design, row, reason) | {"samples": []}


def disagreements(run_folder: Path) -> list[str]:
    """Rows whose `gate.json` is not what their samples and schedule give, in words, for `aisimc verify`."""
    design = Design.from_plan(json.loads((run_folder / "plan.json").read_bytes()))
    found: list[str] = []
    for row in design.rows if design else ():
        kept = _json(gate_folder(run_folder, row) / "gate.json")
        if not kept or design is None:
            continue
        made = row_gate(run_folder, design, row)
        made.pop("samples")
        differing = sorted(key for key in kept.keys() | made.keys() if not _same(kept.get(key), made.get(key)))
        if differing:
            found.append(f"{row}: gate.json does not follow from its samples ({', '.join(differing)})")
    return found


def _same(a: object, b: object) -> bool:
    """Equal, where logarithms of another C library may differ in the last bits."""
    if isinstance(a, float) and isinstance(b, float):
        return abs(a - b) <= 1e-9 * max(1.0, abs(a), abs(b))
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(_same(a[key], b[key]) for key in a)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(_same(x, y) for x, y in zip(a, b, strict=True))
    return a == b


def _size(size: SizeResult) -> dict[str, Any]:
    return {
        "result": "FAIL" if size.failed else "PASS" if size.comparable else "NOT_COMPARABLE",
        "allowed_percent": ALLOWED_PERCENT,
        "explanation": size.explanation,
        "growth": [asdict(growth) | {"ratio": growth.ratio, "exceeded": growth.exceeded} for growth in size.growths],
    }


def _samples(events: list[Event]) -> list[Event]:
    """Each attempted process as one object: its announcement and its end joined."""
    found: dict[int, Event] = {}
    for event in events:
        if event["event"] == "attempt":
            found[event["attempt"]] = {"status": "interrupted"} | event
        elif event["event"] in ("finished", "interrupted"):
            found[event["attempt"]] |= {"ended": event["at"]} | {
                key: value for key, value in event.items() if key not in ("at", "event")
            }
    return [{key: value for key, value in sample.items() if key != "event"} for sample in found.values()]


def _json(path: Path) -> Mapping[str, Any]:
    try:
        data: dict[str, Any] = json.loads(path.read_bytes())
    except FileNotFoundError:
        return {}
    return data
