"""One row's gate as a folder that any node can measure: `python -m aisimc_runtime.gate.row FOLDER`.

FOLDER/
  job.json            this description
  configuration.json  the row's frozen configuration with `mode: timing`, the same bytes for both arms
  INPUT.jsonl         the cut slice, read-only
  schedule.json       the order and the CPUs, written before the first process
  samples.jsonl       every attempted process
  gate.json           the result, written last
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from aisimc_runtime.engines.base import Artifact
from aisimc_runtime.gate.design import Design
from aisimc_runtime.ports.files import link_or_copy, sha256_bytes, write_atomic

SCHEMA = "aisimc.gate-job/1"
CONFIGURATION = "configuration.json"


@dataclass(frozen=True, slots=True)
class GateRow:
    """What the run knows of one gated row when its turn comes."""

    row: str
    configuration: bytes
    """The exact bytes of the row's frozen configuration."""
    slice_file: Path
    input_file: str
    """The name that the configuration has for the slice."""
    input_sha256: str
    artifacts: Mapping[str, Artifact]
    describes: Mapping[str, Mapping[str, Any]]
    """`--describe` of each arm."""
    semantic_failure: str | None
    """Why the row's semantic result does not hold; None where it does (covered exceptions included)."""
    time_limit_s: float
    cpus_per_process: int = 1
    cpus: tuple[int, ...] | None = None
    """CPUs that the profile allows; None: those that the process may use."""


@dataclass(frozen=True, slots=True)
class GateJob:
    """Everything that one node needs to measure one row."""

    row: str
    folder: Path
    configuration_sha256: str
    input_file: str
    input_sha256: str
    artifacts: dict[str, Artifact]
    design: Design
    time_limit_s: float
    cpus_per_process: int = 1
    cpus: tuple[int, ...] | None = None
    """CPUs that the profile allows; None: those that the process may use."""

    def to_json(self) -> dict[str, Any]:
        """The job as `job.json` holds it."""
        return {
            "schema": SCHEMA,
            "row": self.row,
            "configuration_sha256": self.configuration_sha256,
            "input_file": self.input_file,
            "input_sha256": self.input_sha256,
            "artifacts": {arm: artifact.to_json() for arm, artifact in self.artifacts.items()},
            "design": asdict(self.design),
            "time_limit_s": self.time_limit_s,
            "cpus_per_process": self.cpus_per_process,
            "cpus": None if self.cpus is None else list(self.cpus),
        }

    def write(self) -> None:
        """Put `job.json` into the folder."""
        text = json.dumps(self.to_json(), sort_keys=True, indent=1)
        write_atomic(self.folder / "job.json", text.encode() + b"\n")

    @classmethod
    def read(cls, folder: Path) -> GateJob:
        """Read a folder's job. Raises `OSError`, `ValueError` or `KeyError` when it is not one."""
        data = json.loads((folder / "job.json").read_bytes())
        if data["schema"] != SCHEMA:
            raise ValueError(f"{folder / 'job.json'} is not a gate of this version: {data['schema']}")
        design = data["design"]
        return cls(
            row=data["row"],
            folder=folder,
            configuration_sha256=data["configuration_sha256"],
            input_file=data["input_file"],
            input_sha256=data["input_sha256"],
            artifacts={arm: Artifact.from_json(value) for arm, value in data["artifacts"].items()},
            design=Design(**design | {"rows": tuple(design["rows"]), "invalidate_on": tuple(design["invalidate_on"])}),
            time_limit_s=data["time_limit_s"],
            cpus_per_process=data["cpus_per_process"],
            cpus=None if data["cpus"] is None else tuple(data["cpus"]),
        )


def timing_configuration(configuration: bytes) -> bytes:
    """The bytes that both arms get: the row's frozen configuration, asked for timing and for nothing else."""
    data = json.loads(configuration)
    # Expectations bind counters, and timing mode makes none; a full report would be work outside the question.
    data |= {"mode": "timing", "write_full_report": False, "expected": {}}
    return json.dumps(data, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode() + b"\n"


def stage(folder: Path, design: Design, row: GateRow) -> GateJob:
    """Fill a row's gate folder and return its job; a folder that is already there is filled the same way."""
    folder.mkdir(parents=True, exist_ok=True)
    data = timing_configuration(row.configuration)
    write_atomic(folder / CONFIGURATION, data)
    link_or_copy(row.slice_file, folder / row.input_file)
    job = GateJob(
        row=row.row,
        folder=folder,
        configuration_sha256=sha256_bytes(data),
        input_file=row.input_file,
        input_sha256=row.input_sha256,
        artifacts=dict(row.artifacts),
        design=design,
        time_limit_s=row.time_limit_s,
        cpus_per_process=row.cpus_per_process,
        cpus=row.cpus,
    )
    job.write()
    return job
