"""Observing a row's baseline at one capacity after another, each kept as soon as it is known."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from aisimc_runtime.executors.base import RowBlocked
from aisimc_runtime.executors.registry import executor_for
from aisimc_runtime.failures import Blocked, Refused
from aisimc_runtime.ports.files import explain
from aisimc_runtime.requalify.dimension import with_value
from aisimc_runtime.requalify.search import Observation
from aisimc_runtime.run.campaign import Campaign
from aisimc_runtime.run.plan import Plan
from aisimc_runtime.run.staging import stage_rows

Json = dict[str, Any]
PRESSURE_COUNTERS = {"vllm": "vllm_preemptions", "sglang": "sglang_retractions", "trtllm": "readmissions"}


def bounds_of(row: Json) -> tuple[int, int]:
    """The pressure counts that qualify (`run.pressure`): the row's own bounds, else 1..3; none on TRT-LLM."""
    if row["engine"] == "trtllm":
        return 0, 0
    word = "preemptions" if row["engine"] == "vllm" else "retractions"
    least, most = row["evidence"].get(word) or (1, 3)
    return least, most


def baseline_only(plan: Plan, row: str) -> Plan:
    """The plan reduced to its baseline and one row: the candidate is never built, asked or replayed.

    Raises `Refused` for a row that cannot be requalified.
    """
    rows = plan.data["rows"]
    if row not in rows:
        raise Refused(f"the campaign has no row {row!r}", help=f"its rows are {', '.join(rows)}")
    chosen = rows[row]
    if chosen["expect_error"] is not None or not chosen["arms"]["baseline"]["supported"]:
        raise Refused(f"row {row} is expected to be refused by the baseline: it has no capacity to find")
    chosen = {**chosen, "arms": {"baseline": {"repetitions": 1, "supported": True}}}
    data = {
        **plan.data,
        "revisions": {"baseline": plan.data["revisions"]["baseline"]},
        "inputs": {chosen["input"]: plan.data["inputs"][chosen["input"]]},
        "rows": {row: chosen},
        "exceptions": {},
        "performance": None,
    }
    return Plan(data, plan.raw, plan.base)


def key_of(plan: Plan, row: str, dimension: str) -> str:
    """What makes observations comparable: revision, input, and the configuration apart from the dimension."""
    shape = with_value(plan.data["rows"][row], dimension, 0)["configuration"]
    identity = [plan.data["revisions"]["baseline"], plan.data["inputs"], plan.data["determinism"], shape, dimension]
    return hashlib.sha256(json.dumps(identity, sort_keys=True).encode()).hexdigest()[:12]


@dataclass(frozen=True, slots=True)
class Bench:
    """A baseline made ready, with the observations kept in `kept` (JSON lines, appended and synced)."""

    campaign: Campaign
    row: str
    dimension: str
    kept: Path
    tell: Callable[[Observation, bool], None]

    def observe(self, value: int) -> Observation:
        """One replay at one value, or the kept observation. Raises `Blocked` when it could not be carried out."""
        known = self._known().get(value)
        if known is not None:
            self.tell(known, True)
            return known
        found = self._observed(value, repetitions=1)[0]
        self._keep(found)
        self.tell(found, False)
        return found

    def is_stable(self, value: int) -> bool:
        """Whether two fresh processes at this value have one digest (`run.determinism`)."""
        pair = self._observed(value, repetitions=2)
        return pair[0].error is None and len({seen.canonical_sha256 for seen in pair}) == 1

    def _observed(self, value: int, repetitions: int) -> list[Observation]:
        campaign = self.campaign
        row = with_value(campaign.plan.data["rows"][self.row], self.dimension, value)
        row["arms"] = {"baseline": {"repetitions": repetitions, "supported": True}}
        plan = replace(campaign.plan, data={**campaign.plan.data, "rows": {self.row: row}})
        place = campaign.folder.row(self.row)
        shutil.rmtree(place, ignore_errors=True)
        jobs = stage_rows(plan, campaign.folder, campaign.store, campaign.profile, campaign.arms, campaign.ready)
        for event in executor_for(campaign.profile.executor).run(jobs, campaign.profile):
            if isinstance(event, RowBlocked):
                raise Blocked(event.reason)
        found = [
            _read(value, row["engine"], place / "replays" / f"baseline-{repetition}")
            for repetition in range(1, repetitions + 1)
        ]
        shutil.rmtree(place, ignore_errors=True)
        return found

    def _known(self) -> dict[int, Observation]:
        try:
            lines = self.kept.read_text("utf-8").splitlines(keepends=True)
        except FileNotFoundError:
            return {}
        whole = [json.loads(line) for line in lines if line.endswith("\n")]
        return {entry["value"]: Observation(**entry) for entry in whole}

    def _keep(self, found: Observation) -> None:
        try:
            with self.kept.open("a", encoding="utf-8") as stream:
                stream.write(json.dumps(asdict(found), sort_keys=True) + "\n")
                stream.flush()
                os.fsync(stream.fileno())
        except OSError as error:
            raise explain(error, f"the observation cannot be kept in {self.kept}") from error


def _read(value: int, engine: str, folder: Path) -> Observation:
    """What one replay's folder says."""
    process = json.loads((folder / "process.json").read_bytes())
    if process["exit_status"] != 0:
        limit = process.get("limit")
        why = process.get("error") or (f"hit its {limit} limit" if limit else f"status {process['exit_status']}")
        return Observation(value, None, 0, 0, 0, None, None, error=str(why))
    counters = json.loads((folder / "qualification.jsonl").read_bytes())
    return Observation(
        value=value,
        pressure=counters[PRESSURE_COUNTERS[engine]],
        requests=counters["num_requests"],
        completed=counters["completed_requests"],
        short_outputs=counters["requests_with_short_output"],
        virtual_duration_ms=counters["virtual_duration_ms"],
        canonical_sha256=counters["canonical_sha256"],
    )
