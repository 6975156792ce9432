"""One row's collected files as plain values, so that every rule is a pure function of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

ARMS = ("baseline", "candidate")

STDERR_BYTES = 65_536
"""So much of a replay's standard error is searched for an expected text."""


@dataclass(frozen=True, slots=True)
class Replay:
    """What one process left behind; None where a file is not there."""

    arm: str
    repetition: int
    process: dict[str, Any] | None
    digests: dict[str, Any] | None
    counters: dict[str, Any] | None
    stderr: str

    @property
    def succeeded(self) -> bool:
        """Whether the process ended by itself with status 0."""
        process = self.process
        return process is not None and process.get("exit_status") == 0 and not process.get("limit")

    @property
    def error(self) -> str:
        """The replay's one line of error, or what stands in its place."""
        process = self.process or {}
        if process.get("error"):
            return str(process["error"])
        lines = [line for line in self.stderr.splitlines() if line.strip()]
        if lines:
            return lines[-1].strip()
        if process.get("signal"):
            return f"ended by signal {process['signal']}"
        return ""


@dataclass(frozen=True, slots=True)
class Arm:
    """One arm of a row: its replays, its evidence, and what the plan says of it."""

    name: str
    supported: bool
    repetitions: int
    revision: dict[str, Any]
    replays: tuple[Replay, ...]
    extract: dict[str, Any] | None
    instability: dict[str, Any] | None

    @property
    def counters(self) -> dict[str, Any]:
        """Counters of the first replay that has any."""
        return next((replay.counters for replay in self.replays if replay.counters), {})

    @property
    def digests(self) -> tuple[str, ...]:
        """The distinct canonical digests of the replays, in order of appearance."""
        found = (replay.digests.get("canonical_sha256") for replay in self.replays if replay.digests)
        return tuple(dict.fromkeys(str(digest) for digest in found if digest))

    @property
    def judged(self) -> bool:
        """Whether the arm is held to evidence: supported, and declared to run."""
        return self.supported and self.repetitions > 0

    def derives(self, counter: str) -> bool:
        """Whether a counter was worked out from the records and not reported by the revision."""
        return counter in (self.counters.get("derived") or ())


@dataclass(frozen=True, slots=True)
class Row:
    """A row of the plan with everything that its replays left behind."""

    name: str
    plan: dict[str, Any]
    arms: dict[str, Arm]
    difference: dict[str, Any] | None
    configuration_sha256: str | None

    @property
    def engine(self) -> str:
        """vllm, sglang or trtllm."""
        return str(self.plan["engine"])

    @property
    def pools(self) -> dict[str, tuple[int, int]]:
        """Pool: (logical workers, ranks of each). An aggregated row has the pool `agg`."""
        topology = self.plan["topology"]
        if topology["kind"] == "aggregated":
            return {"agg": (int(topology["workers"]), int(topology.get("dp", 1)))}
        return {
            role: (int(topology[role]["workers"]), int(topology[role].get("dp", 1))) for role in ("prefill", "decode")
        }

    def judged(self) -> Iterator[Arm]:
        """The arms that are held to evidence."""
        return (self.arms[name] for name in ARMS if self.arms[name].judged)


def load_row(plan: dict[str, Any], name: str, folder: Path) -> Row:
    """Read a row's folder (`RUN/rows/NAME`). Raises OSError and orjson.JSONDecodeError for unreadable files."""
    row = plan["rows"][name]
    arms = {arm: _arm(plan, row, arm, folder) for arm in ARMS}
    return Row(name, row, arms, read_json(folder / "difference.json"), _sha256(folder / "configuration.json"))


def _arm(plan: dict[str, Any], row: dict[str, Any], arm: str, folder: Path) -> Arm:
    declared = row["arms"][arm]
    repetitions = int(declared["repetitions"])
    return Arm(
        arm,
        bool(declared.get("supported", True)),
        repetitions,
        plan["revisions"][arm],
        tuple(_replay(arm, number, folder / "replays" / f"{arm}-{number}") for number in range(1, repetitions + 1)),
        read_json(folder / "evidence" / f"{arm}.json"),
        read_json(folder / f"instability-{arm}.json"),
    )


def _replay(arm: str, number: int, folder: Path) -> Replay:
    try:
        with (folder / "stderr.txt").open("rb") as file:
            stderr = file.read(STDERR_BYTES).decode("utf-8", "replace")
    except FileNotFoundError:
        stderr = ""
    return Replay(
        arm,
        number,
        read_json(folder / "process.json"),
        read_json(folder / "digests.json"),
        read_json(folder / "qualification.jsonl"),
        stderr,
    )


def read_json(path: Path) -> dict[str, Any] | None:
    """The object in a file, or None where there is no such file. Of several lines the first is taken."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return None
    value = orjson.loads(data.split(b"\n", 1)[0] if path.suffix == ".jsonl" else data)
    return value if isinstance(value, dict) else None


def _sha256(path: Path) -> str | None:
    import hashlib

    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except FileNotFoundError:
        return None
