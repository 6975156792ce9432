"""The eight rows of the conversation window on the reference core and on a published runtime.

Run from the repository's root::

    python -m tests.benchmarks.fidelity.rows path/to/_runtime.abi3.so path/to/mooncake-conversation.jsonl

Prints, per row: the share of requests whose first-token, last-token and terminal times are equal bit
for bit, the share of whole records, differing summary keys, pressure, virtual duration, and the wall
time of both (from the prepared workload to the finished report, as the runtimes report it).
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path
from typing import Any

from .arms import Answer, Arm, Payload, core_arm, wheel_arm
from .compare import compare

GB_S = 100.0
LIMITS = {
    "vllm": {"block_size": 64, "max_num_seqs": 16, "max_num_batched_tokens": 8192},
    "sglang": {"block_size": 512, "max_num_seqs": 256, "max_num_batched_tokens": 32768},
    "trtllm": {"block_size": 32, "max_num_seqs": 16, "max_num_batched_tokens": 8192},
}
# name: arrival speed-up, dp of prefill and decode (none: aggregated), blocks of prefill and decode
ROWS: dict[str, tuple[float, tuple[int, int] | None, tuple[int, int]]] = {
    "vllm-aggregated": (2.0, None, (6337, 6337)),
    "vllm-disaggregated": (2.0, (1, 1), (7800, 7800)),
    "vllm-disaggregated-adp2-4": (4.0, (2, 4), (4500, 6500)),
    "sglang-aggregated": (2.0, None, (1220, 1220)),
    "sglang-disaggregated": (2.0, (1, 1), (1664, 1664)),
    "sglang-disaggregated-adp2-4": (4.0, (2, 4), (6250, 1000)),
    "trtllm-aggregated": (2.0, None, (3899, 3899)),
    "trtllm-disaggregated-adp2-4": (4.0, (2, 4), (3899, 3899)),
}


def payload(name: str, trace: Path) -> Payload:
    """The payload of a row."""
    ratio, roles, (prefill, decode) = ROWS[name]
    backend = name.split("-", 1)[0]
    spec: dict[str, Any] = {"version": 1, "requests": []}
    if roles is None:
        spec["topology"] = {"kind": "aggregated", "workers": {"initial_workers": 4}}
        spec["engine"] = {"rank": _rank(backend, decode)}
    else:
        pool = {"initial_workers": 2}
        spec["topology"] = {"kind": "disaggregated", "prefill": pool, "decode": pool, "handoff_latency_ms": 0.0}
        spec["engine"] = {
            "rank": {"backend": backend},
            "prefill": {"dp_size": roles[0], "rank": _rank(backend, prefill) | _transfer(backend)},
            "decode": {"dp_size": roles[1], "rank": _rank(backend, decode) | _transfer(backend)},
        }
    traffic = {
        "source_type": "trace",
        "trace_path": str(trace),
        "trace_format": "mooncake",
        "trace_block_size": 512,
        "arrival_speedup_ratio": ratio,
    }
    return {"spec": spec, "traffic": traffic, "determinism": "canonical_v1"}


def _rank(backend: str, blocks: int) -> dict[str, Any]:
    return {"backend": backend, "num_gpu_blocks": blocks, **LIMITS[backend]}


def _transfer(backend: str) -> dict[str, Any]:
    size = 262_144 if backend == "sglang" else 1
    return {"kv_transfer_bytes_per_token": size, "kv_transfer_bandwidth": GB_S}


def line(name: str, ours: Answer, theirs: Answer) -> str:
    """One line of the table, and the first parting where there is one."""
    if "report" not in ours or "report" not in theirs:
        return f"{name:30} core {str(ours)[:100]} | wheel {str(theirs)[:100]}"
    core, wheel = ours["report"], theirs["report"]
    found = compare(core, wheel)
    pressure = [sum(record["readmission_count"] for record in report["per_request"]) for report in (core, wheel)]
    text = (
        f"{name:30} times {found.equal_times}/{found.requests}  records {found.equal_records}/{found.requests}"
        f"  keys {len(found.summary_keys)}  pressure {pressure[0]}/{pressure[1]}"
        f"  duration {core['duration_ms']}/{wheel['duration_ms']}"
        f"  wall {core['wall_time_ms']:.0f}/{wheel['wall_time_ms']:.0f} ms"
        f"  speed {wheel['wall_time_ms'] / core['wall_time_ms']:.2f}x"
    )
    if found.summary_keys:
        text += f"\n    differing keys: {', '.join(found.summary_keys)}"
    return text if found.parting is None else f"{text}\n    first parting: {found.parting}"


def measure(name: str, trace: Path, arms: tuple[Arm, Arm]) -> tuple[Answer, Answer]:
    """Both answers for a row; the arms take turns twice and the faster run of each counts."""
    best: list[Answer] = []
    for arm in arms:
        answers = [arm.replay(payload(name, trace), limit_s=180.0) for _ in range(2)]
        best.append(min(answers, key=lambda answer: answer.get("report", {}).get("wall_time_ms", 0.0)))
    return best[0], best[1]


def main() -> int:
    """Command line entry; status 1 when a row is not equal."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("runtime", type=Path)
    parser.add_argument("trace", type=Path)
    parser.add_argument("--rows", type=int, default=5000, help="leading rows of the trace to replay")
    parser.add_argument("--row", choices=sorted(ROWS), action="append")
    options = parser.parse_args()
    arms = (core_arm(), wheel_arm(options.runtime))
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        window = Path(folder, "window.jsonl")
        with options.trace.open("rb") as source:
            window.write_bytes(b"".join(source.readline() for _ in range(options.rows)))
        for name in options.row or ROWS:
            ours, theirs = measure(name, window, arms)
            text = line(name, ours, theirs)
            failed |= "parting" in text or "keys 0" not in text
            sys.stdout.write(text + "\n")
            sys.stdout.flush()
    for arm in arms:
        arm.close()
    return failed


if __name__ == "__main__":
    sys.exit(main())
