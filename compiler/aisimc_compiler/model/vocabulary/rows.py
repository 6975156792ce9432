"""The blocks of rows, fixtures and families, and everything within them."""

from __future__ import annotations

from aisimc_compiler.model import closed
from aisimc_compiler.model.vocabulary.strays import COMPOSITION, EMBEDDED, PER_ARM, ROLE_STRAY, ROW_STRAY
from aisimc_compiler.model.vocabulary.terms import (
    BOOLEAN,
    DECIMAL,
    DIGEST,
    INTEGER,
    LIST,
    OPTIONAL,
    QUANTITY,
    RANGE,
    RATE,
    REQUIRED,
    RULED,
    SIZE,
    STRING,
    TIME,
    WORD,
    Attribute,
    Block,
)

_ROW_ATTRIBUTES = {
    "family": Attribute(WORD, "the family whose values the row takes where it says nothing itself", OPTIONAL),
    "engine": Attribute(WORD, "the simulated engine", RULED, words=closed.ENGINES, ruled=True),
    "input": Attribute(WORD, "the input that is replayed", REQUIRED),
    "arrival_speedup_ratio": Attribute(DECIMAL, "the trace's timestamps are divided by this", OPTIONAL, default=1.0),
    "max_sim_time_ms": Attribute(DECIMAL, "the virtual time, in ms, at which the replay is cut off", OPTIONAL),
    "max_in_flight": Attribute(
        INTEGER, "requests in flight at once, instead of the timestamps (fixtures only)", OPTIONAL
    ),
    "expect_error": Attribute(STRING, "the text with which the engine must refuse the row, on both arms", OPTIONAL),
    "golden": Attribute(STRING, "a YAML file with expected counters of this row", OPTIONAL),
    "frozen": Attribute(STRING, "an existing qualification configuration, taken byte for byte", OPTIONAL),
    "sha256": Attribute(STRING, f"the frozen file's {DIGEST}", RULED),
}
_ROW_BLOCKS = {
    "topology": "topology",
    "capacity": "capacity",
    "timing": "timing",
    "composition": "composition",
    "evidence": "evidence",
    "expect": "expect",
}
_CAPACITY = {
    "num_gpu_blocks": Attribute(INTEGER, "KV blocks of one rank"),
    "block_size": Attribute(INTEGER, "tokens in one KV block"),
    "max_num_seqs": Attribute(INTEGER, "requests that run at once on one rank"),
    "max_num_batched_tokens": Attribute(INTEGER, "tokens scheduled in one pass of one rank"),
    "max_model_len": Attribute(INTEGER, "the longest request, in tokens", OPTIONAL),
    "preemption_mode": Attribute(WORD, "which running request vLLM preempts", OPTIONAL, words=("lifo", "fifo")),
    "chunked_prefill_size": Attribute(INTEGER, "SGLang: tokens of one prefill chunk", OPTIONAL),
    "max_prefill_tokens": Attribute(INTEGER, "SGLang: prompt tokens admitted in one pass", OPTIONAL),
    "schedule_conservativeness": Attribute(DECIMAL, "SGLang: how much output growth admission expects", OPTIONAL),
}
_COUNTER_KINDS = {
    "integer": (INTEGER, ""),
    "decimal": (DECIMAL, ""),
    "boolean": (BOOLEAN, ""),
    "digest": (STRING, ""),
    "integers": (LIST, INTEGER),
}

_COUNTER_DOCS = {
    "completed_requests": "requests that ended as completed",
    "num_requests": "requests that were replayed, however they ended",
    "total_input_tokens": "prompt tokens of completed requests",
    "total_output_tokens": "output tokens that completed requests emitted",
    "requested_output_tokens": "output tokens that all requests asked for",
    "requests_with_short_output": "requests that emitted another number of output tokens than they asked for",
    "all_requests_full_output": "every request emitted exactly the output tokens that it asked for",
    "requests_with_reuse": "requests that found prompt tokens in the prefix cache",
    "prefix_cache_reused_ratio": "reused prompt tokens / prompt tokens, from 0 to 1",
    "first_admission_prefix_cache_reused_ratio": "the same, counting each request's first admission only",
    "prefill_workers": "scheduler ids of the prefill pool that received work: worker x dp + rank",
    "decode_workers": "scheduler ids of the decode pool, or of an aggregated row, that received work",
    "handoffs_complete": "requests with all six stamps of a prefill-to-decode handoff",
    "readmissions": "admissions of requests beyond the first one to each pool, over all requests",
    "max_pressure_records_per_request": "the most pressure events of any one request",
    "vllm_preemptions": "requests that vLLM put out of a running batch, each time counted",
    "sglang_retractions": "requests that SGLang put out of a running batch, each time counted",
    "all_pressure_records_readmitted": "every request that was put out was taken in again",
    "pressure_records": "pressure events: preemptions and retractions",
    "virtual_duration_ms": "virtual time at which the last completed request ended, in ms",
    "canonical_sha256": "SHA-256 of the canonical record, 64 hex digits; it holds for one revision only",
}


BLOCKS: dict[str, Block] = {
    "family": Block(
        "family",
        "values that several rows share",
        {name: spec for name, spec in _ROW_ATTRIBUTES.items() if name != "family"},
        _ROW_BLOCKS,
        label="name",
        repeated=True,
        stray=ROW_STRAY,
    ),
    "row": Block(
        "row",
        "one engine and topology, compared byte for byte",
        _ROW_ATTRIBUTES,
        _ROW_BLOCKS,
        label="name",
        presence=RULED,
        repeated=True,
        stray=ROW_STRAY,
    ),
    "fixture": Block(
        "fixture",
        "a small row that forces one lifecycle",
        _ROW_ATTRIBUTES,
        _ROW_BLOCKS,
        label="name",
        presence=RULED,
        repeated=True,
        stray=ROW_STRAY,
    ),
    "topology": Block("topology", "workers, and what they do", label="word", words=("aggregated", "disaggregated")),
    "topology aggregated": Block(
        "topology",
        "every worker prefills and decodes",
        {
            "workers": Attribute(INTEGER, "logical workers"),
            "dp": Attribute(INTEGER, "attention-DP ranks of one worker", OPTIONAL, default=1),
            "tp": Attribute(INTEGER, "tensor-parallel size of one rank", OPTIONAL, default=1),
        },
        stray={**PER_ARM, **EMBEDDED, **COMPOSITION, "engine": "row.engine"},
    ),
    "topology disaggregated": Block(
        "topology",
        "one pool prefills, another decodes",
        {},
        {"prefill": "role", "decode": "role", "transfer": "transfer"},
        stray={**PER_ARM, **EMBEDDED, **COMPOSITION, "engine": "row.engine"},
    ),
    "role": Block(
        "role",
        "one pool of a disaggregated topology",
        {
            "workers": Attribute(INTEGER, "logical workers of the pool"),
            "dp": Attribute(INTEGER, "attention-DP ranks of one worker", OPTIONAL, default=1),
            "tp": Attribute(INTEGER, "tensor-parallel size of one rank", OPTIONAL, default=1),
        },
        {"capacity": "capacity", "timing": "timing"},
        presence=REQUIRED,
        stray=ROLE_STRAY,
    ),
    "transfer": Block(
        "transfer",
        "how the KV cache moves from prefill to decode",
        {
            "bytes_per_token": Attribute(QUANTITY, "KV bytes of one token", RULED, dimension=SIZE),
            "bandwidth": Attribute(QUANTITY, "of one transfer", RULED, dimension=RATE),
            "mode": Attribute(
                WORD,
                "which tokens are moved: all of the prompt, or those that the destination lacks",
                RULED,
                words=("full_prompt", "destination_missing"),
            ),
            "latency": Attribute(QUANTITY, "a fixed time instead of bytes and bandwidth", OPTIONAL, dimension=TIME),
        },
        presence=REQUIRED,
        stray=PER_ARM,
    ),
    "capacity": Block(
        "capacity",
        "the sizes of one rank; whatever is not here goes through a frozen configuration",
        _CAPACITY,
        stray={"*": "row.engine", **PER_ARM, **EMBEDDED},
    ),
    "timing": Block("timing", "the timing model", label="word", words=("polynomial", "fixed")),
    "timing polynomial": Block("timing", "AI Simulate's built-in polynomial", stray=PER_ARM),
    "timing fixed": Block(
        "timing",
        "constant times",
        {
            "prefill": Attribute(QUANTITY, "of a pass with prompt tokens", dimension=TIME),
            "decode": Attribute(QUANTITY, "of a pass with decoding requests", dimension=TIME),
        },
        stray=PER_ARM,
    ),
    "composition": Block(
        "composition",
        "the built-in composition, for those who want to say it",
        {
            "placement": Attribute(
                WORD, "how requests find a worker", OPTIONAL, words=("round_robin",), default="round_robin", ruled=True
            ),
            "scaling": Attribute(WORD, "how pools grow", OPTIONAL, words=("none",), default="none", ruled=True),
        },
        stray={"*": "row.composition", **PER_ARM},
    ),
    "evidence": Block(
        "evidence",
        "what the row must be seen to have exercised",
        {
            "preemptions": Attribute(RANGE, "vLLM preemptions", OPTIONAL),
            "retractions": Attribute(RANGE, "SGLang retractions", OPTIONAL),
            "workers": Attribute(WORD, "each worker, and each rank, received work", OPTIONAL, words=("all",)),
            "reuse": Attribute(WORD, "prefix reuse was seen, or was not", OPTIONAL, words=("required", "none")),
            "handoffs": Attribute(WORD, "each request was handed off, or none was", OPTIONAL, words=("all", "none")),
            "waiting": Attribute(WORD, "some request waited inside the engine", OPTIONAL, words=("required",)),
            "barrier": Attribute(WORD, "ranks of one worker end their passes together", OPTIONAL, words=("required",)),
        },
        stray=PER_ARM,
    ),
    "expect": Block(
        "expect",
        "counters that must come out exactly",
        {
            name: Attribute(_COUNTER_KINDS[kind][0], _COUNTER_DOCS[name], OPTIONAL, item=_COUNTER_KINDS[kind][1])
            for name, kind in closed.COUNTERS.items()
            if kind in _COUNTER_KINDS
        },
        stray={**PER_ARM, **EMBEDDED},
    ),
}
