"""Regression test of `correction.campaign`: a request that finds an idle worker is admitted when it arrives.

The runtime starts it once per arm with AISIMC_ARTIFACT set to the arm's binary. It replays one request of one token on
an idle worker whose only pass takes 10 ms, and asks when the request was admitted: at 0 ms, not at 10 ms.
"""

import hashlib
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

TRACE = b'{"timestamp": 0, "input_length": 4, "output_length": 1, "hash_ids": [1]}\n'


def configuration() -> dict:
    """One request on one worker, with the whole report asked for."""
    sha256 = hashlib.sha256(TRACE).hexdigest()
    rank = {
        "backend": "vllm",
        "num_gpu_blocks": 16,
        "block_size": 4,
        "max_num_seqs": 4,
        "max_num_batched_tokens": 64,
        "timing_model": {"type": "fixed", "prefill_ms": 10.0, "decode_ms": 2.0},
    }
    return {
        "row_name": "admission-at-pass-start",
        "trace_file": "trace.jsonl",
        "trace_sha256": sha256,
        "trace_rows": 1,
        "trace_block_size": 4,
        "trace_full_sha256": sha256,
        "trace_full_rows": 1,
        "write_full_report": True,
        "spec": {
            "topology": {"kind": "aggregated", "workers": {"initial_workers": 1}},
            "engine": {"rank": rank},
            "requests": [],
        },
    }


def first_admission_ms(artifact: str) -> float:
    """When the artifact says that the request was admitted, in virtual milliseconds."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "trace.jsonl").write_bytes(TRACE)
        (folder / "configuration.json").write_text(json.dumps(configuration()))
        subprocess.run([artifact, folder / "configuration.json", folder / "out"], check=True)
        report = json.loads((folder / "out" / "report.json").read_text())
    return report["per_request"][0]["first_admit_ms"]


if __name__ == "__main__":
    found = first_admission_ms(os.environ["AISIMC_ARTIFACT"])
    sys.stdout.write(f"the request was admitted at {found} ms; it arrived at 0 ms on an idle worker\n")
    sys.exit(0 if found == 0.0 else 1)
