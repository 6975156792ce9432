"""What a finished run says about its rows, as golden points. Reads the run folder and nothing else."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aisimc_runtime.failures import Blocked, Refused

Json = dict[str, Any]

BOUND = (
    "completed_requests", "total_input_tokens", "total_output_tokens", "requests_with_short_output", "terminal_counts",
    "requests_with_reuse", "prefill_workers", "decode_workers", "handoffs_complete", "readmissions",
    "vllm_preemptions", "sglang_retractions", "virtual_duration_ms",
)  # fmt: skip
"""The counters a point binds; the canonical digest is bound on request only, since it belongs to one revision."""

_EXCUSED = "PASS_WITH_SEMANTIC_EXCEPTIONS"


@dataclass(frozen=True, slots=True)
class Point:
    """One row's point: frozen parameters for the reader, expectations for the compiler."""

    row: str
    entry: Json


def points_of(run: Path, rows: Sequence[str], *, digest: bool) -> tuple[Json, list[Point]]:
    """The run's `qualified` entry and a point for each row (all passing rows where none is named).

    Raises `Refused` for a row that the run did not qualify, `Blocked` when the folder is not a finished run's.
    """
    report = _json(run / "report.json")
    plan = _json(run / "plan.json")
    artifacts = _json(run / "artifacts.json")
    results = {entry["name"]: entry["result"] for entry in report["rows"]}
    chosen = list(rows) or [name for name, result in results.items() if result == "PASS"]
    for name in chosen:
        if name not in results:
            raise Refused(f"the run has no row {name!r}", help=f"its rows are {', '.join(results)}")
        if results[name] != "PASS":
            raise Refused(f"row {name} qualifies nothing: {_why_not(results[name])}", help=_instead([results[name]]))
    if not chosen:
        reasons = "; ".join(f"row {name}: {_why_not(result)}" for name, result in results.items())
        raise Refused(f"no row of this run qualifies anything: {reasons}", help=_instead(list(results.values())))
    qualified = {
        "revision": artifacts["baseline"]["revision"],
        "artifact_sha256": artifacts["baseline"]["sha256"],
        "plan_digest": report["plan_digest"],
        "report_digest": report["digest"],
    }
    return qualified, [_point(run, plan["rows"][name], plan, name, digest) for name in chosen]


def left_out(run: Path) -> list[str]:
    """The run's rows that give no point, each with the reason. Raises `Blocked` as `points_of` does."""
    rows = _json(run / "report.json")["rows"]
    return [f"row {row['name']}: {_why_not(row['result'])}" for row in rows if row["result"] != "PASS"]


def _why_not(result: str) -> str:
    """Why a row that did not plainly pass gives no point."""
    return {
        _EXCUSED: "it passed with exceptions, and a point is what both arms give alike",
        "FAIL": "it failed",
        "NOT_COVERED": "it was run on neither arm",
    }.get(result, "it is not finished")


def _instead(results: list[str]) -> str:
    """What to do where rows passed with exceptions: their candidate is the next baseline."""
    if _EXCUSED not in results:
        return ""
    return "record it from a run with the candidate as the baseline: a self-check, or the next comparison"


def _point(run: Path, row: Json, plan: Json, name: str, digest: bool) -> Point:
    counters = _json(run / "rows" / name / "replays" / "baseline-1" / "qualification.jsonl")
    wanted = (*BOUND, "canonical_sha256") if digest else BOUND
    expect = {key: counters[key] for key in wanted if counters.get(key) not in (None, [])}
    given = plan["inputs"][row["input"]]
    return Point(
        name,
        {
            "engine": row["engine"],
            "topology": row["topology"],
            **_capacity(row),
            "arrival_speedup_ratio": row["configuration"]["arrival_speedup_ratio"],
            "configuration_sha256": row["configuration_sha256"],
            "qualified": {"input_sha256": given["sha256"], "slice_sha256": given["slice"]["sha256"]},
            "expect": expect,
        },
    )


def _capacity(row: Json) -> Json:
    engine = row["configuration"]["spec"]["engine"]
    if row["topology"]["kind"] == "aggregated":
        return {"capacity": _sizes(engine["rank"])}
    pools = {role: _sizes((engine.get(role) or engine)["rank"]) for role in ("prefill", "decode")}
    if pools["prefill"] == pools["decode"]:
        return {"capacity_per_role": pools["prefill"]}
    return {"capacity_prefill": pools["prefill"], "capacity_decode": pools["decode"]}


def _sizes(rank: Json) -> Json:
    fields = ("num_gpu_blocks", "block_size", "max_num_seqs", "max_num_batched_tokens")
    return {field: rank[field] for field in fields if field in rank}


def _json(path: Path) -> Json:
    try:
        found: Json = json.loads(path.read_bytes())
    except FileNotFoundError as reason:
        raise Blocked(f"{path.parent} is not a finished run: {path.name} is not there") from reason
    except (OSError, ValueError) as reason:
        raise Blocked(f"{path} cannot be read: {reason}") from reason
    return found
