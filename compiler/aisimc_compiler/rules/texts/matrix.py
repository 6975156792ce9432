"""Rules of rows. Codes AC04xx."""

from __future__ import annotations

from aisimc_compiler.rules.texts.language import METHOD, Entry

_STAGES = f"{METHOD}, stages 3 and 4, run byte parity; docs/language.md"
_ROWS = f"{_STAGES}#family-row-fixture"
_CAPACITY = f"{_STAGES}#capacity"
_COMPOSITION = f"{_STAGES}#composition"
_DETERMINISM = f"{_STAGES}#determinism"
_FROZEN = f"{_STAGES}#frozen"
_MATRIX = f"{_STAGES}#the-matrix"
_TRANSFER = f"{_STAGES}#topology-disaggregated"

RULES: tuple[Entry, ...] = (
    (
        "AC0401",
        "row.composition",
        "placement is round-robin and scaling is none",
        "this campaign qualifies the engine; routers, planners, scaling and KVBM belong to another one",
        _COMPOSITION,
        "composition { placement = kv_router }",
        "composition { placement = round_robin scaling = none }",
        "compile",
    ),
    (
        "AC0402",
        "row.frozen",
        "one frozen configuration, the same bytes for both arms",
        "tuned for one arm alone, two configurations differ and parity means nothing",
        _FROZEN,
        "row vllm-aggregated { … candidate { capacity { num_gpu_blocks = 7_000 } } }",
        "row vllm-aggregated { … capacity { num_gpu_blocks = 7_000 … } }",
        "compile",
    ),
    (
        "AC0403",
        "row.observable",
        "every pool of a row has at least two logical workers or ranks",
        "with one worker, round-robin cannot be told from any other placement",
        _ROWS,
        "topology aggregated { workers = 1 }",
        "topology aggregated { workers = 4 }",
        "compile",
    ),
    (
        "AC0404",
        "row.engine",
        "the engine is vLLM, SGLang or TRT-LLM, with its own capacity fields",
        "the engines ignore or misread a field that belongs to another one",
        _ROWS,
        "engine = sglang … capacity { … preemption_mode = lifo }",
        "engine = vllm … capacity { … preemption_mode = lifo }",
        "compile",
    ),
    (
        "AC0405",
        "row.capacity",
        "blocks, block size, sequences, batched tokens and parallel sizes are positive, and one request fits",
        "the capacity edge is what the row is about; a size that holds no request ends in rejections, or never",
        _CAPACITY,
        "capacity { num_gpu_blocks = 0 … }",
        "capacity { num_gpu_blocks = 6_144 … }",
        "compile, run",
    ),
    (
        "AC0406",
        "row.transfer",
        "a transfer states bytes and bandwidth, or a latency",
        "the engines take one price for both roles, and ignore a latency beside a bandwidth: a second would do nothing",
        _TRANSFER,
        "transfer { bytes_per_token = 1 B bandwidth = 100 GB/s mode = full_prompt latency = 5 ms }",
        "transfer { latency = 5 ms }",
        "compile",
    ),
    (
        "AC0407",
        "row.admission",
        "the trace's timestamps drive admission, in one iteration",
        "a limit on requests in flight replaces the authored arrivals by the engine's own pace",
        _ROWS,
        "row vllm-aggregated { … max_in_flight = 8 }",
        "fixture few-in-flight { … max_in_flight = 8 }",
        "compile",
    ),
    (
        "AC0408",
        "row.repetitions",
        "each arm of each row runs in exactly two fresh processes",
        "two equal outputs show that no entropy leaks; more of them, or an average, would hide that it does",
        _DETERMINISM,
        "repetitions = 3",
        "repetitions = 2",
        "compile",
    ),
    (
        "AC0409",
        "row.matrix",
        "an authoritative campaign accounts for every row of the engine-only matrix",
        "coverage that is silently absent reads like coverage",
        _MATRIX,
        "matrix = authoritative   # and one row",
        'unsupported trtllm-disaggregated-adp2-4 { on = both reason = "…" }',
        "compile, report",
    ),
    (
        "AC0410",
        "row.no-substitute",
        "a row that carries a matrix id has that id's engine, topology and DP sizes",
        "an aggregated row exercises no handoff, and a smaller DP size another barrier",
        _MATRIX,
        "row vllm-disaggregated { … topology aggregated { workers = 4 } }",
        "row vllm-disaggregated { … topology disaggregated { … } }",
        "compile",
    ),
    (
        "AC0411",
        "row.error",
        "a row that the engine must refuse names the error text, and nothing else",
        "a refused replay has no evidence and no counters; only the text tells the right refusal from any other",
        _ROWS,
        'expect_error = ""',
        'expect_error = "does not support TRT-LLM"',
        "compile, run",
    ),
)
