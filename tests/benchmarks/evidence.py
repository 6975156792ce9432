"""What evidence, comparison, report and verification cost, in CPU seconds and peak memory.

Run with `python -m tests.benchmarks.evidence [A.jsonl B.jsonl]`: each figure comes from a process of its own. Without
files it makes two records of 12,031 requests that differ in a quarter of them. Nothing is asserted on time.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from tests.builders import records

REQUESTS = 12_031

CASES = {
    "equal bytes": "from aisimc_runtime.compare import difference; difference(A, A)",
    "difference": "from aisimc_runtime.compare import difference; difference(A, B)",
    "extract": "from aisimc_runtime.evidence.extract import extract; extract(A)",
    "json.loads of A": "import json; json.loads(A.read_bytes())",
    "orjson.loads of A": "import orjson; orjson.loads(A.read_bytes())",
}

PROGRAM = """
import sys, time
from pathlib import Path
A, B = Path(sys.argv[1]), Path(sys.argv[2])
start = time.process_time()
{statement}
used = time.process_time() - start
status = Path("/proc/self/status").read_text()
peak = next(line.split()[1] for line in status.splitlines() if line.startswith("VmHWM"))
print(f"{{used:.3f}} {{int(peak) / 1024:.0f}}")
"""


def make(folder: Path) -> tuple[Path, Path]:
    """Two records of the size of the whole conversation trace."""
    a = records.disaggregated_record(REQUESTS)
    b = records.changed(a)
    for entry in b["per_request"][::4]:
        for field in ("first_token_ms", "last_token_ms", "terminal_time_ms", "ttft_ms", "e2e_latency_ms"):
            entry[field] += 0.25
    return records.write(a, folder / "a.jsonl"), records.write(b, folder / "b.jsonl")


def measure(statement: str, a: Path, b: Path) -> tuple[float, float]:
    """CPU seconds without the interpreter's start, and peak memory in MiB."""
    command = [sys.executable, "-c", PROGRAM.format(statement=statement), str(a), str(b)]
    used, peak = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    return float(used), float(peak)


def main() -> None:
    """Print one line for each case: the best of three."""
    with tempfile.TemporaryDirectory() as folder:
        a, b = (Path(sys.argv[1]), Path(sys.argv[2])) if len(sys.argv) == 3 else make(Path(folder))
        sys.stdout.write(f"records of {a.stat().st_size / 1e6:.1f} and {b.stat().st_size / 1e6:.1f} MB\n")
        for name, statement in CASES.items():
            runs = [measure(statement, a, b) for _ in range(3)]
            sys.stdout.write(
                f"{name:<20} {min(run[0] for run in runs):7.3f} s {max(run[1] for run in runs):6.0f} MiB\n"
            )


if __name__ == "__main__":
    main()
