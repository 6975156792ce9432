"""Regression test for published wheels: does a record say what each request found in the cache when it first came in?

The runtime starts it once per arm with AISIMC_ARTIFACT set to the arm's compiled runtime: one file of the store,
named by its hash. It is an extension module whose `run_replay_json` takes and returns the text of a JSON object.
"""

import importlib.machinery
import importlib.util
import json
import os
import sys
import tempfile
from pathlib import Path

PROMPT = {"input_length": 8, "output_length": 2, "hash_ids": [1, 2]}
TRACE = "".join(json.dumps({"timestamp": at_ms, **PROMPT}) + "\n" for at_ms in (0, 100, 200))
RANK = {
    "backend": "vllm",
    "num_gpu_blocks": 16,
    "block_size": 4,
    "max_num_seqs": 4,
    "max_num_batched_tokens": 64,
    "timing_model": {"type": "fixed", "prefill_ms": 10.0, "decode_ms": 2.0},
}


def load(path: str):
    """The extension module at `path`. Python must be told its name: the file has no suffix to tell it by."""
    loader = importlib.machinery.ExtensionFileLoader("_runtime", path)
    module = importlib.util.module_from_spec(importlib.util.spec_from_file_location("_runtime", path, loader=loader))
    loader.exec_module(module)
    return module


def replay(runtime, trace: Path) -> dict:
    """The report of the trace's replay on one vLLM worker."""
    return json.loads(
        runtime.run_replay_json(
            json.dumps(
                {
                    "spec": {
                        "version": 1,
                        "topology": {"kind": "aggregated", "workers": {"initial_workers": 1}},
                        "engine": {"rank": RANK},
                        "requests": [],
                    },
                    "traffic": {
                        "source_type": "trace",
                        "trace_path": str(trace),
                        "trace_format": "mooncake",
                        "trace_block_size": 4,
                        "arrival_speedup_ratio": 1.0,
                    },
                    "determinism": "canonical_v1",
                }
            )
        )
    )


def main() -> int:
    """Three requests with one prompt, far apart: the later two find its first block, and the records say so."""
    with tempfile.TemporaryDirectory() as folder:
        trace = Path(folder, "three.jsonl")
        trace.write_text(TRACE)
        report = replay(load(os.environ["AISIMC_ARTIFACT"]), trace)
    found = [record.get("first_admission_reused_input_tokens") for record in report["per_request"]]
    sys.stdout.write(f"prompt tokens found at the first admission: {found}\n")
    return 0 if found == [0, 4, 4] else 1


if __name__ == "__main__":
    sys.exit(main())
