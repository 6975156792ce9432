"""The regression test of an exception record, executed on both arms (`exception.test`)."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

from aisimc_runtime.engines.base import Artifact
from aisimc_runtime.ports.files import sha256_file
from aisimc_runtime.ports.processes import Processes
from aisimc_runtime.run.staging import write_json

KEPT_BYTES = 64 * 1024


def run_test(
    folder: Path, base: Path, command: list[str], artifact: Artifact, processes: Processes, time_s: float
) -> dict[str, Any]:
    """Run the test in the campaign file's folder and keep its outcome as `ARM.json`; what that file holds."""
    environment = {
        **os.environ,
        "AISIMC_ARM": artifact.arm,
        "AISIMC_REVISION": artifact.revision,
        "AISIMC_ARTIFACT": str(artifact.path),
    }
    if artifact.checkout is not None:
        environment["AISIMC_CHECKOUT"] = str(artifact.checkout)
    try:
        done = processes.run(command, cwd=base, env=environment, timeout_s=time_s, keep_bytes=KEPT_BYTES, guarded=True)
        status: int | None = done.status
        out, err, timed_out = done.stdout, done.stderr, done.timed_out
    except OSError as error:
        status, out, err, timed_out = None, "", f"cannot be started: {error}", False
    result = {
        "arm": artifact.arm,
        "exit_status": status,
        "passed": status == 0,
        "timed_out": timed_out,
        "stdout": out,
        "stderr": err,
        "artifact_sha256": sha256_file(artifact.path),
    }
    folder.mkdir(parents=True, exist_ok=True)
    write_json(folder / f"{artifact.arm}.json", result)
    return result


def tests_of(plan: dict[str, Any]) -> list[tuple[str, list[str]]]:
    """Every exception record with the command of its test, by name."""
    return [(name, list(record["regression_test"]["command"])) for name, record in sorted(plan["exceptions"].items())]


def known(command: list[str], base: Path) -> bool:
    """Whether the command's program can be found at all."""
    return (base / command[0]).exists() or shutil.which(command[0]) is not None
