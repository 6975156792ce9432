"""The closed lists of the method, as constants: matrix, exclusions, counters, evidence, conditions.

Sources: the exclusion list and the matrix are those of AI Simulate's parity skill; the counters are those of the
process contract. Nothing here is open to a campaign.
"""

from __future__ import annotations

LANGUAGE = 1
ARMS = ("baseline", "candidate")
LONG_CORPUS_ROWS = 5_000
PRESSURE_LIMITS = (1, 3)
REPETITIONS = 2
WARMUPS = 5
PAIRS = 60
THRESHOLD = 1.05
METRIC = "replay_execution_ms"
BUILT_IN_CORRECTION = "stable_request_identity"
EMBEDDED_CORE = "reference-core"
PACKAGE = "aisimulate"

EXCLUSIONS = (
    "/planner/html_report_path",
    "/summary/processed_output_tokens_per_s",
    "/summary/processed_tokens_per_s",
    "/summary/wall_time_ms",
)
"""The closed list of result fields that byte parity leaves out, sorted."""

RECORD_KEYS = ("coverage", "metadata", "per_request", "planner", "summary")
"""The top-level keys of a canonical record."""

ENGINES = ("vllm", "sglang", "trtllm")

ENGINE_ALIASES = {
    "tensorrt": "trtllm",
    "tensorrt_llm": "trtllm",
    "tensorrt-llm": "trtllm",
    "trt": "trtllm",
    "trt_llm": "trtllm",
    "trt-llm": "trtllm",
    "sgl": "sglang",
    "sg_lang": "sglang",
}

COMMON_CAPACITY = ("num_gpu_blocks", "block_size", "max_num_seqs", "max_num_batched_tokens")
ENGINE_CAPACITY = {
    "vllm": ("preemption_mode",),
    "sglang": ("chunked_prefill_size", "max_prefill_tokens", "schedule_conservativeness"),
    "trtllm": (),
}
"""The capacity fields that belong to one engine only; the common ones, and `max_model_len`, are every engine's."""

MATRIX: dict[str, tuple[str, str, int, int]] = {
    "vllm-aggregated": ("vllm", "aggregated", 1, 1),
    "vllm-disaggregated": ("vllm", "disaggregated", 1, 1),
    "vllm-disaggregated-adp2-4": ("vllm", "disaggregated", 2, 4),
    "sglang-aggregated": ("sglang", "aggregated", 1, 1),
    "sglang-disaggregated": ("sglang", "disaggregated", 1, 1),
    "sglang-disaggregated-adp2-4": ("sglang", "disaggregated", 2, 4),
    "trtllm-aggregated": ("trtllm", "aggregated", 1, 1),
    "trtllm-disaggregated-adp2-4": ("trtllm", "disaggregated", 2, 4),
    "trtllm-disaggregated": ("trtllm", "disaggregated", 1, 1),
    "vllm-aggregated-adp2": ("vllm", "aggregated", 2, 2),
    "sglang-aggregated-adp2": ("sglang", "aggregated", 2, 2),
    "trtllm-aggregated-adp2": ("trtllm", "aggregated", 2, 2),
}
"""Matrix id → engine, topology, prefill dp, decode dp (an aggregated row has one dp, given twice)."""

AUTHORITATIVE = tuple(MATRIX)[:8]
"""The eight ids that an authoritative campaign has to account for."""

COUNTERS: dict[str, str] = {
    "completed_requests": "integer",
    "num_requests": "integer",
    "total_input_tokens": "integer",
    "total_output_tokens": "integer",
    "requested_output_tokens": "integer",
    "requests_with_short_output": "integer",
    "all_requests_full_output": "boolean",
    "terminal_counts": "counts",
    "requests_with_reuse": "integer",
    "prefix_cache_reused_ratio": "decimal",
    "first_admission_prefix_cache_reused_ratio": "decimal",
    "prefill_workers": "integers",
    "decode_workers": "integers",
    "routing_counts": "counts",
    "handoffs_complete": "integer",
    "readmissions": "integer",
    "max_pressure_records_per_request": "integer",
    "vllm_preemptions": "integer",
    "sglang_retractions": "integer",
    "all_pressure_records_readmitted": "boolean",
    "pressure_records": "integer",
    "virtual_duration_ms": "decimal",
    "canonical_sha256": "digest",
}
"""The counters that `expect` and golden points may bind, with their kind. `counts` appear in YAML and JSON only."""

UNBOUND_COUNTERS = {
    "row_name": "it names the row, it does not qualify it",
    "source_revision": "the runner reports the revision that is built into it",
    "config_sha256": "the plan holds the configuration's digest already",
    "runner_binary_sha256": "each artifact is verified before every execution already",
    "reported_wall_time_ms": "wall-clock time is no semantic value",
    "measured_process_ms": "wall-clock time is no semantic value",
}
"""Counters of the process contract that no expectation may bind, with the reason."""

INVALIDATING = ("affinity_violation", "competing_load", "node_failure", "scheduler_eviction")
"""The environmental conditions that may invalidate a pair of the performance gate."""

EXCEPTION_PARTS = ("row", "differs", "requests", "baseline", "candidate", "source", "cause", "impact", "disposition")
