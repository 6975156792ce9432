"""The end of a run: findings per action, the declared gate, the reports."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aisimc_compiler.rules.refusal import plural
from aisimc_runtime.failures import Blocked

if TYPE_CHECKING:
    from aisimc_runtime.evidence.finding import Finding
    from aisimc_runtime.inputs.acquire import Ready
    from aisimc_runtime.journal.journal import Journal
    from aisimc_runtime.run.folder import RunFolder
    from aisimc_runtime.run.plan import Plan
    from aisimc_runtime.run.profile import Profile
    from aisimc_runtime.run.progress import Progress
    from aisimc_runtime.run.staging import Arm
    from aisimc_runtime.store.content import Store

Json = dict[str, Any]


def row_findings(plan: Json, row: str, folder: Path) -> list[tuple[str, list[Finding]]]:
    """What the rules found about one row, by the plan's action that each belongs to. Raises `Blocked`."""
    from orjson import JSONDecodeError

    from aisimc_runtime.evidence.checks import check_row

    if not any(arm["repetitions"] for arm in plan["rows"][row]["arms"].values()):
        return []
    try:
        findings = check_row(plan, row, folder)
    except (OSError, JSONDecodeError) as error:
        raise Blocked(f"the evidence of row {row} cannot be read: {error}", help="run the campaign again") from error
    grouped: dict[str, list[Finding]] = {}
    for finding in findings:
        grouped.setdefault(_action(row, finding), []).append(finding)
    return sorted(grouped.items())


def _action(row: str, finding: Finding) -> str:
    match finding.rule:
        case "run.determinism":
            return f"determinism/{row}/{finding.arm or 'baseline'}"
        case "run.parity":
            return f"parity/{row}"
        case "run.golden":
            return f"golden/{row}"
        case _:
            return f"evidence/{row}"


def gate(
    plan: Plan, folder: RunFolder, store: Store, profile: Profile, arms: Mapping[str, Arm],
    ready: Mapping[str, Ready], journal: Journal, progress: Progress,
) -> None:  # fmt: skip
    """Measure the rows of the declared gate, each after its semantic result. Raises `Blocked` or `Interrupted`."""
    from aisimc_runtime.gate.design import Design
    from aisimc_runtime.gate.stage import GateRow, run_gate
    from aisimc_runtime.run.staging import configuration_bytes
    from aisimc_runtime.verdict.decide import decide

    design = Design.from_plan(plan.data)
    if design is None:
        return
    _refuse_elsewhere(folder, design.rows, profile)
    progress.stage("gate", plural(len(design.rows), "row"))
    judged = {row.name: row for row in decide(folder.path).rows}
    for name in design.rows:
        row = plan.data["rows"][name]
        supported = {arm: found for arm, found in arms.items() if row["arms"][arm]["supported"]}
        result = str(judged[name].result)
        holds = result in ("PASS", "PASS_WITH_SEMANTIC_EXCEPTIONS")
        journal.append("start", f"gate/{name}")
        outcome = run_gate(
            folder.path,
            design,
            GateRow(
                row=name,
                configuration=configuration_bytes(row),
                slice_file=store.path(ready[row["input"]].slice_sha256),
                input_file=Path(row["configuration"]["trace_file"]).name,
                input_sha256=ready[row["input"]].slice_sha256,
                artifacts={arm: found.artifact for arm, found in supported.items()},
                describes={arm: found.describe for arm, found in supported.items()},
                semantic_failure=None if holds else result,
                time_limit_s=profile.limits.time_s,
                cpus_per_process=profile.cpus_per_replay,
                cpus=profile.cpus,
            ),
            progress.say,
        )
        journal.append("done", f"gate/{name}", result=outcome.get("result"))


def _refuse_elsewhere(folder: RunFolder, rows: Sequence[str], profile: Profile) -> None:
    """Times are taken where this process runs; on a cluster's login node they would mean nothing. Raises `Blocked`."""
    if profile.executor == "local" or all((folder.path / "performance" / row / "gate.json").is_file() for row in rows):
        return
    raise Blocked(
        "the rows are replayed; the gate is timed where aisimc itself runs, and that is no node of the cluster's",
        help="nothing is lost: run it again inside an allocation with `--executor local` (see docs/cluster.md)",
    )


def write_reports(folder: RunFolder) -> Json:
    """The reports of the run, from its folder; the report object. Raises `Blocked`."""
    from aisimc_runtime.report.writing import write_all

    return write_all(folder.path)


def seal(folder: RunFolder) -> None:
    """Write the manifest again: the journal has grown since the reports were written. Raises `Blocked`."""
    from aisimc_runtime.report.manifest import write_manifest

    write_manifest(folder.path)
