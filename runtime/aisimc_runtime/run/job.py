"""A row's job description: everything one node needs to replay one row, in one folder.

ROWDIR/
  job.json            this description
  configuration.json  the exact bytes both arms get
  INPUT.jsonl         the cut slice, read-only
  replays/ARM-REP/    made by the row runner
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from aisimc_runtime.engines.base import Artifact, Json
from aisimc_runtime.ports.files import write_atomic

JOB_SCHEMA = "aisimc.row-job/1"


class Limits(NamedTuple):
    """What one replay may use (`run.limit`); hitting one is a failed row, never a hang."""

    time_s: float = 1800.0
    memory_bytes: int = 8 << 30
    output_bytes: int = 4 << 30
    processes: int = 64


class Order(NamedTuple):
    """One replay to make."""

    arm: str
    repetition: int

    @property
    def name(self) -> str:
        """The replay's folder under `replays/`."""
        return f"{self.arm}-{self.repetition}"


@dataclass(frozen=True, slots=True)
class RowJob:
    """One row, staged: the unit of placement (`run.same-node`)."""

    row: str
    folder: Path
    configuration_sha256: str
    input_file: str
    input_sha256: str
    artifacts: dict[str, Artifact]
    orders: tuple[Order, ...]
    """In the order they should start: baseline and candidate alternate, so that they run at once."""
    limits: Limits
    cpus_per_replay: int = 1
    expect_error: str | None = None
    unsupported: tuple[str, ...] = ()
    """Arms that must refuse the row; a refusal is their result."""

    def to_json(self) -> Json:
        """The job as `job.json` holds it; paths inside the folder are left out, so that the folder can move."""
        return {
            "schema": JOB_SCHEMA,
            "row": self.row,
            "configuration_sha256": self.configuration_sha256,
            "input_file": self.input_file,
            "input_sha256": self.input_sha256,
            "artifacts": {arm: artifact.to_json() for arm, artifact in self.artifacts.items()},
            "orders": [list(order) for order in self.orders],
            "limits": self.limits._asdict(),
            "cpus_per_replay": self.cpus_per_replay,
            "expect_error": self.expect_error,
            "unsupported": list(self.unsupported),
        }

    def write(self) -> None:
        """Put `job.json` into the row's folder."""
        write_atomic(self.folder / "job.json", json.dumps(self.to_json(), sort_keys=True, indent=1).encode() + b"\n")

    @classmethod
    def read(cls, folder: Path) -> RowJob:
        """Read the job of a row folder. Raises `OSError`, `ValueError` or `KeyError` when it is not one."""
        folder = folder.absolute()
        data = json.loads((folder / "job.json").read_bytes())
        if data["schema"] != JOB_SCHEMA:
            raise ValueError(f"{folder / 'job.json'} is not a row job of this version: {data['schema']}")
        return cls(
            row=data["row"],
            folder=folder,
            configuration_sha256=data["configuration_sha256"],
            input_file=data["input_file"],
            input_sha256=data["input_sha256"],
            artifacts={arm: Artifact.from_json(value) for arm, value in data["artifacts"].items()},
            orders=tuple(Order(arm, repetition) for arm, repetition in data["orders"]),
            limits=Limits(**data["limits"]),
            cpus_per_replay=data["cpus_per_replay"],
            expect_error=data["expect_error"],
            unsupported=tuple(data["unsupported"]),
        )
