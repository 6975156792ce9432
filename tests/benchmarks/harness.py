"""What the harness costs beside the replays themselves: `python -m tests.benchmarks.harness SPEC [ROUNDS]`

Each round runs the campaign in a fresh run folder, and the same replay processes in a plain shell loop with the same
concurrency; rounds alternate, every sample is printed. Peak resident sets are read from /proc for each part of the
harness on its own. Nothing is asserted: a busy machine makes any figure larger. AISIMC_STORE must have the builds.
"""

from __future__ import annotations

import json
import os
import resource
import shlex
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

from aisimc_runtime.engines.registry import engine_for
from aisimc_runtime.run.job import RowJob

COMMAND = [sys.executable, "-P", "-c", "from aisimc_runtime.command.main import main; main()"]
KEEP_JOBS = """
from aisimc_runtime.run import campaign
campaign.unstage = lambda plan, folder: None
"""
PARTS = {"aisimc_runtime.run.row": "row runner", "aisimc_runtime.run.collect": "collect", "driver.py": "replay"}


class PeakMemory(threading.Thread):
    """Watches a process tree and keeps the largest resident set of each kind of process."""

    def __init__(self, root: int) -> None:
        super().__init__(daemon=True)
        self.root = root
        self.peaks: dict[str, int] = {}
        self.done = threading.Event()

    def run(self) -> None:
        while not self.done.wait(0.25):  # seldom: looking through /proc takes time from what is measured
            for entry in Path("/proc").iterdir():
                if entry.name.isdigit():
                    self._look(int(entry.name))

    def _look(self, pid: int) -> None:
        try:
            words = Path(f"/proc/{pid}/cmdline").read_text()
            part = "harness" if pid == self.root else next((PARTS[mark] for mark in PARTS if mark in words), None)
            for line in Path(f"/proc/{pid}/status").read_text().splitlines():
                if part is not None and line.startswith("VmHWM:"):
                    self.peaks[part] = max(self.peaks.get(part, 0), int(line.split()[1]) * 1024)
        except OSError:
            return


def children_cpu_s() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def campaign(spec: Path, folder: Path) -> dict[str, Any]:
    """Run the campaign once; wall and CPU seconds, peaks in MiB."""
    before, began = children_cpu_s(), time.monotonic()
    code = [*COMMAND[:-1], KEEP_JOBS + COMMAND[-1]]
    process = subprocess.Popen(
        [*code, "run", "--quiet", "--json", "--runs", str(folder), str(spec)], stdout=subprocess.PIPE, text=True
    )
    memory = PeakMemory(process.pid)
    memory.start()
    verdict = json.loads(process.communicate()[0])
    memory.done.set()
    memory.join()
    return {
        "wall_s": round(time.monotonic() - began, 2),
        "cpu_s": round(children_cpu_s() - before, 2),
        "peak_mib": {part: round(peak / (1 << 20), 1) for part, peak in sorted(memory.peaks.items())},
        "verdict": verdict["semantic"],
        "run": verdict["run"],
    }


def shell_loop(run: Path, jobs_at_once: int) -> dict[str, Any]:
    """The same processes, started by xargs; wall and CPU seconds."""
    with tempfile.TemporaryDirectory() as scratch:
        lines = []
        for job_file in sorted(run.glob("rows/*/job.json")):
            job = RowJob.read(job_file.parent)
            for order in job.orders:
                artifact = job.artifacts[order.arm]
                out = Path(scratch) / f"{job.row}-{order.name}"
                argv = engine_for(artifact.source).command(artifact, job.folder / "configuration.json", out)
                lines.append(shlex.join(argv))
        before, began = children_cpu_s(), time.monotonic()
        loop = ["xargs", "-P", str(jobs_at_once), "-d", "\\n", "-n", "1", "sh", "-c", 'eval "$0"']
        subprocess.run(loop, input="\n".join(lines), text=True, check=True)
        return {"wall_s": round(time.monotonic() - began, 2), "cpu_s": round(children_cpu_s() - before, 2),
                "processes": len(lines)}  # fmt: skip


def main(argv: list[str]) -> None:
    spec, rounds = Path(argv[0]), int(argv[1]) if len(argv) > 1 else 1
    put = sys.stdout.write
    place = Path(tempfile.mkdtemp(prefix="aisimc-bench-"))
    try:
        for number in range(rounds):
            mine = campaign(spec, place / str(number))
            loop = shell_loop(Path(mine["run"]), len(os.sched_getaffinity(0)))
            put(json.dumps({"round": number, "load": os.getloadavg()[0], "harness": mine, "loop": loop}) + "\n")
            put(
                f"harness / loop: wall {mine['wall_s'] / loop['wall_s']:.3f}, CPU {mine['cpu_s'] / loop['cpu_s']:.3f}\n"
            )
            sys.stdout.flush()
            shutil.rmtree(place / str(number))
    finally:
        shutil.rmtree(place, ignore_errors=True)


if __name__ == "__main__":
    main(sys.argv[1:])
