"""Row jobs around a driver that does as it is told."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from aisimc_runtime.engines.base import Artifact, PinnedFile
from aisimc_runtime.run.job import Limits, Order, RowJob

DRIVER = Path(__file__).with_name("fake_driver.py")
BOTH = (Order("baseline", 1), Order("candidate", 1), Order("baseline", 2), Order("candidate", 2))


def sha(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def artifact(arm: str, folder: Path) -> Artifact:
    """A wheel's artifact whose driver is the one that does as it is told."""
    runtime = folder / f"{arm}.so"
    runtime.write_bytes(arm.encode())
    return Artifact(
        arm=arm,
        source="wheel",
        revision=f"fake {arm}",
        path=runtime,
        sha256=sha(runtime),
        size_bytes=1,
        text_size_bytes=None,
        files=(PinnedFile(runtime, sha(runtime)), PinnedFile(DRIVER, sha(DRIVER))),
        settings={
            "python": sys.executable,
            "driver": str(DRIVER),
            "version": "1",
            "wheel_sha256": "0" * 64,
            "orjson": None,
            "correction": None,
            "chunks": False,
        },
    )


def job(tmp_path: Path, act: str, *, name: str = "row", limits: Limits | None = None, **more: Any) -> RowJob:
    """A staged row that acts in one way."""
    folder = tmp_path / "rows" / name
    folder.mkdir(parents=True)
    (folder / "t.jsonl").write_bytes(b"{}\n")
    config = json.dumps({"spec": {"act": act}}).encode()
    (folder / "configuration.json").write_bytes(config)
    made = RowJob(
        row=name,
        folder=folder,
        configuration_sha256=hashlib.sha256(config).hexdigest(),
        input_file="t.jsonl",
        input_sha256=sha(folder / "t.jsonl"),
        artifacts={arm: artifact(arm, tmp_path) for arm in ("baseline", "candidate")},
        orders=more.pop("orders", BOTH),
        limits=limits or Limits(time_s=30.0),
        **more,
    )
    made.write()
    return made


def run(*jobs: RowJob, options: tuple[str, ...] = ("--no-preflight",)) -> tuple[int, list[dict[str, Any]]]:
    """Run the row runner over the jobs; its exit status and events."""
    folders = [str(one.folder) for one in jobs]
    done = subprocess.run(
        [sys.executable, "-P", "-m", "aisimc_runtime.run.row", *options, *folders],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert "Traceback" not in done.stderr, done.stderr
    return done.returncode, [json.loads(line) for line in done.stdout.splitlines()]


def process(one: RowJob, arm: str = "baseline", repetition: int = 1) -> dict[str, Any]:
    """What was recorded of one replay."""
    path = one.folder / "replays" / f"{arm}-{repetition}" / "process.json"
    read: dict[str, Any] = json.loads(path.read_bytes())
    return read


def others(mark: str) -> list[int]:
    """Processes whose command line holds `mark`."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                words = (entry / "cmdline").read_bytes()
            except OSError:
                continue
            if mark.encode() in words:
                found.append(int(entry.name))
    return found
