"""From a row's job to what is executed for one replay."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from aisimc_runtime.engines.base import PinnedFile
from aisimc_runtime.engines.registry import engine_for
from aisimc_runtime.ports.processes import bare_environment
from aisimc_runtime.run import spawn
from aisimc_runtime.run.job import Order, RowJob


def replay_order(job: RowJob, order: Order, out: Path, cpus: Sequence[int] | None) -> spawn.Order:
    """The command of one replay, with every file that it depends on pinned (`pin.artifact`, `row.frozen`)."""
    artifact = job.artifacts[order.arm]
    config = job.folder / "configuration.json"
    return spawn.Order(
        argv=engine_for(artifact.source).command(artifact, config, out),
        cwd=job.folder,
        environment=bare_environment(),
        cpus=cpus,
        files=(
            *artifact.files,
            PinnedFile(config, job.configuration_sha256),
            PinnedFile(job.folder / job.input_file, job.input_sha256),
        ),
        memory_bytes=job.limits.memory_bytes,
        file_bytes=job.limits.output_bytes,
    )
