"""Staged rows around a tiny engine that keeps the process contract, and a harness to watch.

The engine is a shell script: it waits while a gate file stands, then leaves the record that lies beside it. So a test
decides how long a row is in the middle of its replays, and the digests of a row are known beforehand.
"""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

from aisimc_runtime.engines.base import Artifact, PinnedFile
from aisimc_runtime.ports.files import sha256_file
from aisimc_runtime.run.job import Limits, Order, RowJob
from tests.builders.records import encode, vllm_record
from tests.campaigns.slurm.cluster import Cluster, wait_for

ROOT = Path(__file__).resolve().parents[3]
Event = dict[str, Any]

ENGINE = """#!/bin/sh
here=$(dirname "$0")
mkdir -p "$2"
while [ -e {gate} ]; do sleep 0.1; done
cp "$here/record.jsonl" "$2/canonical.jsonl" && cp "$here/counters.json" "$2/qualification.jsonl"
"""


def stage(run: Path, row: str, gate: Path, engine: str = ENGINE) -> RowJob:
    """A row folder as the runtime stages it, with both arms around the same engine."""
    folder = run / "rows" / row
    folder.mkdir(parents=True)
    configuration = f'{{"row_name":"{row}"}}\n'.encode()
    (folder / "configuration.json").write_bytes(configuration)
    slice_ = b'{"timestamp":0}\n'
    (folder / "input.jsonl").write_bytes(slice_)
    artifact = _artifact(run / "artifacts" / row, gate, engine)
    job = RowJob(
        row=row,
        folder=folder,
        configuration_sha256=hashlib.sha256(configuration).hexdigest(),
        input_file="input.jsonl",
        input_sha256=hashlib.sha256(slice_).hexdigest(),
        artifacts={"baseline": artifact, "candidate": artifact},
        orders=(Order("baseline", 1), Order("candidate", 1), Order("baseline", 2), Order("candidate", 2)),
        limits=Limits(),
    )
    job.write()
    return job


def _artifact(folder: Path, gate: Path, engine: str) -> Artifact:
    folder.mkdir(parents=True)
    script = folder / "engine"
    script.write_text(engine.format(gate=gate))
    script.chmod(0o755)
    record = encode(vllm_record())
    (folder / "record.jsonl").write_bytes(record)
    digest = hashlib.sha256(record).hexdigest()
    (folder / "counters.json").write_text(json.dumps({"canonical_sha256": digest}) + "\n")
    files = tuple(PinnedFile(path, sha256_file(path)) for path in sorted(folder.iterdir()))
    return Artifact(
        arm="baseline",
        source="embedded",
        revision="a" * 64,
        path=script,
        sha256=sha256_file(script),
        size_bytes=script.stat().st_size,
        text_size_bytes=None,
        files=files,
    )


class Harness:
    """A harness process whose events can be waited for."""

    def __init__(self, run: Path, profile: Path, cluster: Cluster) -> None:
        self._log = run.parent / f"harness-{len(list(run.parent.glob('harness-*')))}.out"
        self._errors = self._log.with_suffix(".err")
        with self._log.open("wb") as out, self._errors.open("wb") as err:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "tests.campaigns.slurm.harness", str(run), str(profile)],
                cwd=ROOT,
                env=cluster.environment,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
            )

    def events(self) -> list[Event]:
        """What it told so far."""
        return [json.loads(line) for line in self._log.read_text().splitlines() if line.endswith("}")]

    def lines(self) -> list[str]:
        """Its notes and blocked rows, as texts."""
        return [
            str(event.get("text") or event.get("reason"))
            for event in self.events()
            if "text" in event or "reason" in event
        ]

    def error(self) -> str:
        """What it said on standard error."""
        return self._errors.read_text()

    def wait_for_line(self, words: str, timeout_s: float = 120.0) -> str:
        """Wait for a line that holds the words; the line. Raises `TimeoutError` with everything that was said."""
        try:
            wait_for(words, lambda: any(words in line for line in self.lines()), timeout_s)
        except TimeoutError as error:
            raise TimeoutError(f"{error}; it said:\n" + "\n".join(self.lines()) + self.error()) from error
        return next(line for line in self.lines() if words in line)

    def wait(self, timeout_s: float = 180.0) -> int:
        """Its exit status."""
        return self.process.wait(timeout=timeout_s)

    def kill(self) -> None:
        """Take it away without a word."""
        self.process.kill()
        self.process.wait()

    def interrupt(self) -> None:
        """Ctrl-C."""
        os.kill(self.process.pid, signal.SIGINT)

    def close(self) -> None:
        """Leave nothing behind."""
        if self.process.poll() is None:
            self.kill()
