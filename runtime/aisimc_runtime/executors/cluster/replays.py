"""A collected replay as the events that the runtime records, read back from the files that came with the row."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from aisimc_runtime.executors.base import ReplayFinished, ReplayStarted, RowEvent, RowFinished
from aisimc_runtime.run.job import Order, RowJob


def row_events(job: RowJob, node: str) -> Iterator[RowEvent]:
    """The events of a row whose whole result is in its folder. Raises `OSError` or `ValueError` when it is not."""
    for order in job.orders:
        folder = job.folder / "replays" / order.name
        process = _read(folder / "process.json")
        cpus = tuple(process.get("affinity_read_back") or process.get("cpus") or ())
        yield ReplayStarted(job.row, order.arm, order.repetition, cpus, node)
        yield _finished(job, order, process, folder)
    yield RowFinished(job.row, node)


def _finished(job: RowJob, order: Order, process: dict[str, Any], folder: Path) -> ReplayFinished:
    error = process.get("error")
    summary = str(error) if error is not None else str(_read(folder / "digests.json")["canonical_sha256"])[:12]
    return ReplayFinished(
        row=job.row,
        arm=order.arm,
        repetition=order.repetition,
        ok=error is None,
        summary=summary,
        wall_ms=float(process.get("wall_ms") or 0.0),
        cpu_ms=float(process.get("cpu_ms") or 0.0),
    )


def _read(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_bytes())
    return found
