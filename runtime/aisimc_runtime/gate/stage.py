"""The gate's place in a run: one call per gated row, after its semantic result is known.

`run_gate` writes `performance/ROW/gate.json` in every case, so that the report never has to guess why a
declared row has no figures.
"""

from __future__ import annotations

import contextlib
import json
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from aisimc_runtime.command.exits import Exit
from aisimc_runtime.failures import Blocked, Failure, Interrupted
from aisimc_runtime.gate import job as jobs
from aisimc_runtime.gate.design import METRIC, Design
from aisimc_runtime.gate.job import GateRow as GateRow
from aisimc_runtime.gate.result import not_measured
from aisimc_runtime.ports.files import write_atomic

GRACE_S = 10.0
"""How long a measuring process may take to close its record once it was asked to end."""

Say = Callable[[str], None]


def gate_folder(run_folder: Path, row: str) -> Path:
    """Where a row's gate is kept."""
    return run_folder / "performance" / row


def run_gate(run_folder: Path, design: Design, row: GateRow, say: Say) -> dict[str, Any]:
    """Measure one row, or say why it is not measured; the content of its `gate.json`.

    A row whose gate stands is not measured again. Raises `Blocked` when it cannot be measured as pinned, and
    `Interrupted`; both leave a record that the next call continues.
    """
    folder = gate_folder(run_folder, row.row)
    if not (folder / "gate.json").is_file():
        reason = why_not(row)
        if reason is None:
            _measure(folder, design, row, say)
        else:
            folder.mkdir(parents=True, exist_ok=True)
            _write(folder, not_measured(design, row.row, reason))
            say(f"{row.row}: not measured: {reason}")
    gate: dict[str, Any] = json.loads((folder / "gate.json").read_bytes())
    return gate


def why_not(row: GateRow) -> str | None:
    """Why a row is not measured, or None when it is (`perf.boundary`)."""
    if row.semantic_failure is not None:
        return f"the semantic result of the row does not hold ({row.semantic_failure}): the arms did different work"
    for arm in ("baseline", "candidate"):
        if arm not in row.artifacts:
            return f"the {arm} is not qualified on this row"
        if not row.describes.get(arm, {}).get("exposes_replay_execution_ms"):
            return (
                f"the {arm} ({row.artifacts[arm].revision}) does not expose {METRIC}; a wider timer is no "
                "substitute for it"
            )
    return None


def _measure(folder: Path, design: Design, row: GateRow, say: Say) -> None:
    jobs.stage(folder, design, row)
    measure_here(folder, say)
    for name in ("job.json", jobs.CONFIGURATION, row.input_file):
        (folder / name).unlink(missing_ok=True)


def measure_here(folder: Path, say: Say) -> None:
    """Measure a staged row on this node, in a process of its own. Raises what that process raises."""
    command = [sys.executable, "-P", "-m", "aisimc_runtime.gate.row", str(folder)]
    failure: Failure | None = None
    # A session of its own: Ctrl-C reaches it from here once, as SIGINT, and not a second time from the terminal.
    log = folder / "harness.log"
    with (
        log.open("wb") as stderr,
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=stderr, start_new_session=True) as child,
    ):
        try:
            assert child.stdout is not None
            for line in child.stdout:
                told = json.loads(line)
                if "say" in told:
                    say(told["say"])
                if "failure" in told:
                    failure = _failure(told["failure"])
            child.wait()
        except BaseException:
            _end(child)
            raise
    if failure is not None:
        raise failure
    if child.returncode != 0:
        raise Blocked(
            f"measuring stopped unexpectedly (exit status {child.returncode})",
            help=f"what was measured is kept; run the campaign again to continue; {log} may say more",
        )
    log.unlink(missing_ok=True)


def _end(child: subprocess.Popen[bytes]) -> None:
    """Let the measuring process close its record, then make sure that it is gone."""
    child.send_signal(signal.SIGINT)
    with contextlib.suppress(subprocess.TimeoutExpired):
        child.wait(GRACE_S)
        return
    child.kill()
    child.wait()


def _failure(told: Mapping[str, Any]) -> Failure:
    kind = Interrupted if told["exit"] == Exit.INTERRUPTED else Blocked
    return kind(told["message"], help=told["help"])


def _write(folder: Path, gate: Mapping[str, Any]) -> None:
    write_atomic(folder / "gate.json", json.dumps(gate, sort_keys=True, indent=1).encode() + b"\n")
