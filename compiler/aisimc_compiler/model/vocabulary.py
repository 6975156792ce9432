"""Every block and attribute of the language, as data: the one source for resolver, completion, reference and tests.

Tables only. What values mean beyond their kind is said by the rules (`aisimc_compiler.rules`).
"""

from __future__ import annotations

from aisimc_compiler.model import closed

STRING = "string"
WORD = "word"
INTEGER = "integer"
DECIMAL = "decimal"
BOOLEAN = "boolean"
LIST = "list"
RANGE = "range"
QUANTITY = "quantity"
WORD_OR_STRING = "word or string"
WORD_OR_LIST = "word or list"

TIME = "time"
SIZE = "size"
RATE = "rate"

UNITS: dict[str, dict[str, int | float]] = {
    TIME: {"ms": 1, "s": 1000},
    SIZE: {"B": 1, "KiB": 1024, "MiB": 1024 * 1024},
    RATE: {"GB/s": 1},
}
"""Dimension → unit → factor to the base unit (ms, bytes, 10⁹ bytes per second)."""

REQUIRED = "required"
OPTIONAL = "optional"
RULED = "ruled"
"""Its absence is judged by a rule of its own, because there are alternatives (`wheel` or `repository`)."""


class Attribute:
    """What one attribute takes."""

    __slots__ = ("default", "dimension", "doc", "item", "kind", "presence", "ruled", "words")

    def __init__(
        self,
        kind: str,
        doc: str,
        presence: str = REQUIRED,
        *,
        words: tuple[str, ...] = (),
        item: str = "",
        dimension: str = "",
        default: object = None,
        ruled: bool = False,
    ) -> None:
        self.kind = kind
        self.doc = doc
        self.presence = presence
        self.words = words
        """The closed words, for the kinds with words; empty where a rule or a name table decides."""
        self.item = item
        """The kind of a list's items."""
        self.dimension = dimension
        self.default = default
        self.ruled = ruled
        """A word outside of `words` is judged by a rule of its own, which says more than that it is unknown."""


class Block:
    """What one block holds. `label` is "", "name", "string" or, for closed ones, "word" with `words`."""

    __slots__ = ("attributes", "blocks", "doc", "label", "presence", "repeated", "stray", "title", "words")

    def __init__(
        self,
        title: str,
        doc: str,
        attributes: dict[str, Attribute] | None = None,
        blocks: dict[str, str] | None = None,
        *,
        label: str = "",
        words: tuple[str, ...] = (),
        presence: str = OPTIONAL,
        repeated: bool = False,
        stray: dict[str, str] | None = None,
    ) -> None:
        self.title = title
        self.doc = doc
        self.attributes = attributes or {}
        self.blocks = blocks or {}
        """Keyword → key into `BLOCKS`; `topology` and `timing` have one key for each of their words."""
        self.label = label
        self.words = words
        self.presence = presence
        self.repeated = repeated
        self.stray = stray or {}
        """Names that do not belong here and that a rule of the method speaks of → that rule.

        `*` stands for every name that is not a slip of a known one."""


_PER_ARM = dict.fromkeys((*closed.ARMS, "override", "overrides", "arm", "arms", "per_arm", "per-arm"), "row.frozen")
_SAMPLING = dict.fromkeys(
    (
        *("sample", "sampling", "sampled", "sample_rate", "sample_size", "stride", "step", "every", "shuffle"),
        *("shuffled", "random", "repeat", "repeats", "repeated", "loop", "wrap", "cycle", "duplicate", "fraction"),
        *("percent", "limit", "filter", "skip", "take", "windows"),
    ),
    "input.slice",
)
_COMPOSITION = dict.fromkeys(
    (
        *("router", "kv_router", "routing", "kv_routing", "placement", "scaling", "scaler", "autoscaling"),
        *("autoscale", "planner", "kvbm", "load_balancing", "load_balancer", "policy", "adapters"),
    ),
    "row.composition",
)
_ADMISSION = dict.fromkeys(
    (
        *("iterations", "iteration", "concurrency", "replay_concurrency", "max_concurrency", "in_flight"),
        *("request_rate", "arrival_interval_ms", "admission", "agentic_lanes", "inter_turn_delay_ms"),
    ),
    "row.admission",
)
_REPETITIONS = dict.fromkeys(("repetitions", "repeats", "average", "runs"), "row.repetitions")
_EMBEDDED = {"source_revision": "pin.embedded", "revision_id": "pin.embedded"}
_ROW_STRAY = {**_COMPOSITION, **_ADMISSION, **_REPETITIONS, **_PER_ARM, **_EMBEDDED}
_ROLE_STRAY = {**_PER_ARM, **_EMBEDDED, **_COMPOSITION, "transfer": "row.transfer", "engine": "row.engine"}

_DIGEST = "SHA-256, 64 hex digits"

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
    "sha256": Attribute(STRING, f"the frozen file's {_DIGEST}", RULED),
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
    "file": Block(
        "file",
        "a campaign, or a fragment of one for imports",
        {},
        {
            "campaign": "campaign",
            "import": "import",
            "revision": "revision",
            "build": "build",
            "determinism": "determinism",
            "input": "input",
            "exclude": "exclude",
            "family": "family",
            "row": "row",
            "fixture": "fixture",
            "unsupported": "unsupported",
            "exception": "exception",
            "performance": "performance",
        },
        stray={**_EMBEDDED},
    ),
    "campaign": Block(
        "campaign",
        "what is qualified, and how much of the matrix",
        {
            "language": Attribute(INTEGER, "the version of the language: 1"),
            "purpose": Attribute(STRING, "the question that the campaign answers"),
            "corpus": Attribute(
                WORD, "`long`: 5,000 requests or more in every row; `preflight`: fewer", words=("long", "preflight")
            ),
            "matrix": Attribute(
                WORD,
                "`authoritative`: the whole engine-only matrix; `focused`: some rows of it",
                words=("authoritative", "focused"),
            ),
            "self_check": Attribute(
                BOOLEAN, "both arms are one revision: a check for leaked entropy", OPTIONAL, default=False
            ),
        },
        label="string",
        presence=RULED,
        stray={**_REPETITIONS, **_EMBEDDED},
    ),
    "import": Block("import", "brings in another file's blocks", label="string", repeated=True),
    "revision": Block(
        "revision",
        "one arm of the comparison, pinned",
        {
            "repository": Attribute(STRING, "the git repository of a checkout", RULED),
            "commit": Attribute(STRING, "the full commit id of a checkout", RULED),
            "wheel": Attribute(STRING, "an exact published version: `aisimulate==VERSION`", RULED),
            "embedded": Attribute(STRING, "the engine that ships with aisimc: `reference-core`", RULED),
            "sha256": Attribute(STRING, f"of the wheel file, or of the embedded sources: {_DIGEST}", RULED),
            "patch": Attribute(STRING, "a patch on the embedded sources", OPTIONAL),
            "patch_sha256": Attribute(STRING, f"the patch's {_DIGEST}", RULED),
            "relation": Attribute(
                WORD_OR_STRING,
                "on the candidate: `ancestor` (verified in git), or the relation in words",
                RULED,
                words=("ancestor",),
                ruled=True,
            ),
        },
        label="word",
        words=closed.ARMS,
        presence=RULED,
        repeated=True,
        stray={
            **_EMBEDDED,
            "branch": "pin.commit",
            "tag": "pin.commit",
            "ref": "pin.commit",
            "rev": "pin.commit",
            "features": "pin.same-build",
            "toolchain": "pin.same-build",
            "profile": "pin.same-build",
            "rustflags": "pin.same-build",
            "build": "pin.same-build",
            "correction": "pin.correction",
        },
    ),
    "build": Block(
        "build",
        "how both arms are built, for checkouts and the embedded engine",
        {
            "toolchain": Attribute(STRING, '`"system"`, or a Rust version'),
            "profile": Attribute(WORD, "the Cargo profile", words=("release", "dev")),
            "features": Attribute(
                LIST, "the Cargo features, each by its name", OPTIONAL, item=STRING, default=(), ruled=True
            ),
            "rustflags": Attribute(LIST, "the flags of rustc, one string each", OPTIONAL, item=STRING, default=()),
            "locked": Attribute(BOOLEAN, "the lockfile is binding", OPTIONAL, default=True),
        },
        presence=RULED,
        stray={
            **dict.fromkeys((*closed.ARMS, "arms"), "pin.same-build"),
            **_EMBEDDED,
            "all_features": "pin.features",
            "all-features": "pin.features",
            "default_features": "pin.features",
            "default-features": "pin.features",
        },
    ),
    "determinism": Block(
        "determinism",
        "how entropy is kept out",
        {
            "mode": Attribute(WORD, "the determinism mode of the replay", words=("canonical_v1",), ruled=True),
            "repetitions": Attribute(INTEGER, "fresh processes for each arm and row: 2"),
        },
        {"correction": "correction"},
        presence=REQUIRED,
        stray={"average": "row.repetitions", "runs": "row.repetitions", **_EMBEDDED},
    ),
    "correction": Block(
        "correction",
        "a temporary determinism correction, the same for both arms",
        {
            "patch": Attribute(STRING, "a patch that is applied to both checkouts", OPTIONAL),
            "sha256": Attribute(STRING, f"the patch's {_DIGEST}", RULED),
        },
        label="name",
        repeated=True,
        stray=dict.fromkeys(
            (*closed.ARMS, "arms", "arm", "only", "revision", "revisions", "apply_to"), "pin.correction"
        ),
    ),
    "input": Block(
        "input",
        "a trace, pinned",
        {
            "format": Attribute(WORD, "the trace format", words=("mooncake",), ruled=True),
            "block_size": Attribute(INTEGER, "tokens that one prefix id of the trace stands for"),
            "file": Attribute(STRING, "a file beside the campaign", RULED),
            "upstream": Attribute(STRING, "the repository of an external trace", RULED),
            "commit": Attribute(STRING, "the full commit id in that repository", RULED),
            "path": Attribute(STRING, "the trace's path in that commit", RULED),
            "sha256": Attribute(STRING, f"of the full file: {_DIGEST}", RULED),
            "rows": Attribute(INTEGER, "rows of the full file"),
        },
        {"slice": "slice", "generator": "generator"},
        label="name",
        presence=REQUIRED,
        repeated=True,
        stray={
            **_SAMPLING,
            **_EMBEDDED,
            **_PER_ARM,
            "branch": "input.upstream",
            "tag": "input.upstream",
            "ref": "input.upstream",
            "url": "input.upstream",
            "repository": "input.upstream",
        },
    ),
    "slice": Block(
        "slice",
        "one contiguous window of the input",
        {
            "start": Attribute(INTEGER, "the first row of the window, from 0"),
            "rows": Attribute(INTEGER, "rows of the window"),
            "sha256": Attribute(STRING, f"of the window's bytes: {_DIGEST}", RULED),
        },
        stray={"*": "input.slice", **_SAMPLING},
    ),
    "generator": Block(
        "generator",
        "the trace is generated by aisimc itself",
        {
            "seed": Attribute(INTEGER, "the generator's seed"),
            "rows": Attribute(INTEGER, "rows to generate"),
        },
    ),
    "exclude": Block(
        "exclude",
        "the closed list of result fields that byte parity leaves out, one pointer after the other",
        presence=REQUIRED,
        stray={"*": "exclude.closed"},
    ),
    "family": Block(
        "family",
        "values that several rows share",
        {name: spec for name, spec in _ROW_ATTRIBUTES.items() if name != "family"},
        _ROW_BLOCKS,
        label="name",
        repeated=True,
        stray=_ROW_STRAY,
    ),
    "row": Block(
        "row",
        "one engine and topology, compared byte for byte",
        _ROW_ATTRIBUTES,
        _ROW_BLOCKS,
        label="name",
        presence=RULED,
        repeated=True,
        stray=_ROW_STRAY,
    ),
    "fixture": Block(
        "fixture",
        "a small row that forces one lifecycle",
        _ROW_ATTRIBUTES,
        _ROW_BLOCKS,
        label="name",
        presence=RULED,
        repeated=True,
        stray=_ROW_STRAY,
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
        stray={**_PER_ARM, **_EMBEDDED, **_COMPOSITION, "engine": "row.engine"},
    ),
    "topology disaggregated": Block(
        "topology",
        "one pool prefills, another decodes",
        {},
        {"prefill": "role", "decode": "role", "transfer": "transfer"},
        stray={**_PER_ARM, **_EMBEDDED, **_COMPOSITION, "engine": "row.engine"},
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
        stray=_ROLE_STRAY,
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
        stray=_PER_ARM,
    ),
    "capacity": Block(
        "capacity",
        "the sizes of one rank; whatever is not here goes through a frozen configuration",
        _CAPACITY,
        stray={"*": "row.engine", **_PER_ARM, **_EMBEDDED},
    ),
    "timing": Block("timing", "the timing model", label="word", words=("polynomial", "fixed")),
    "timing polynomial": Block("timing", "AI Simulate's built-in polynomial", stray=_PER_ARM),
    "timing fixed": Block(
        "timing",
        "constant times",
        {
            "prefill": Attribute(QUANTITY, "of a pass with prompt tokens", dimension=TIME),
            "decode": Attribute(QUANTITY, "of a pass with decoding requests", dimension=TIME),
        },
        stray=_PER_ARM,
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
        stray={"*": "row.composition", **_PER_ARM},
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
        stray=_PER_ARM,
    ),
    "expect": Block(
        "expect",
        "counters that must come out exactly",
        {
            name: Attribute(_COUNTER_KINDS[kind][0], _COUNTER_DOCS[name], OPTIONAL, item=_COUNTER_KINDS[kind][1])
            for name, kind in closed.COUNTERS.items()
            if kind in _COUNTER_KINDS
        },
        stray={**_PER_ARM, **_EMBEDDED},
    ),
    "unsupported": Block(
        "unsupported",
        "a row of the matrix that is not covered, and why",
        {
            "on": Attribute(WORD, "the arm that cannot run it", words=("baseline", "candidate", "both")),
            "reason": Attribute(STRING, "why"),
        },
        label="name",
        repeated=True,
    ),
    "exception": Block(
        "exception",
        "the record of an intended difference",
        {
            "row": Attribute(WORD, "the row that differs", RULED),
            "differs": Attribute(
                LIST, "the fields that differ; `*` stands for one whole segment", RULED, item="pointer"
            ),
            "requests": Attribute(
                WORD_OR_LIST, "`all`, or the names of the sessions that differ", RULED, words=("all",), item=STRING
            ),
            "baseline": Attribute(STRING, "what the baseline does, and why it is less faithful", RULED),
            "candidate": Attribute(STRING, "what the candidate does", RULED),
            "source": Attribute(STRING, "the source of truth for it", RULED),
            "cause": Attribute(STRING, "why the intended change causes it, and not leaked entropy", RULED),
            "impact": Attribute(STRING, "what changes downstream", RULED),
            "disposition": Attribute(STRING, "what the reviewers decided", RULED),
        },
        {"regression_test": "regression_test"},
        label="name",
        repeated=True,
    ),
    "regression_test": Block(
        "regression_test",
        "a test that tells the two behaviours apart; run on both arms",
        {
            "command": Attribute(LIST, "the command, one string for each argument", RULED, item=STRING),
            "fails_on": Attribute(WORD, "`baseline`", RULED, words=closed.ARMS, ruled=True),
            "passes_on": Attribute(WORD, "`candidate`", RULED, words=closed.ARMS, ruled=True),
        },
        presence=RULED,
    ),
    "performance": Block(
        "performance",
        "the paired performance gate, predeclared",
        {
            "metric": Attribute(WORD, "`replay_execution_ms`", words=(closed.METRIC,), ruled=True),
            "rows": Attribute(WORD_OR_LIST, "`all`, or the names of the rows", words=("all",), item=WORD),
            "warmups": Attribute(INTEGER, "for each arm: 5"),
            "pairs": Attribute(INTEGER, "60"),
            "seed": Attribute(INTEGER, "of the order of the arms", RULED),
            "threshold": Attribute(DECIMAL, "of the median ratio candidate / baseline: 1.05"),
            "exchangeability": Attribute(STRING, "why the ratios may be taken as exchangeable", RULED),
            "invalidate_on": Attribute(
                LIST, "the conditions that invalidate a pair", RULED, words=closed.INVALIDATING, item=WORD
            ),
            "size_explanation": Attribute(STRING, "why an artifact grew by more than 5 %", OPTIONAL),
        },
        {"diagnostics": "diagnostics"},
        stray={
            "timer": "perf.boundary",
            "wall_time_ms": "perf.boundary",
            "samples": "perf.design",
            "max_pairs": "perf.design",
            "min_pairs": "perf.design",
            "adaptive": "perf.design",
            "repetitions": "perf.design",
            "iterations": "perf.fresh",
            "outliers": "perf.retain",
            "drop_outliers": "perf.retain",
            "remove_outliers": "perf.retain",
            "trim_outliers": "perf.retain",
            "exclude_outliers": "perf.retain",
            "discard_outliers": "perf.retain",
            "outlier_threshold": "perf.retain",
            "trim": "perf.retain",
            "discard": "perf.retain",
            "retry": "perf.retain",
            "retries": "perf.retain",
        },
    ),
    "diagnostics": Block(
        "diagnostics",
        "bounds of the dependence diagnostics, on absolute values",
        {
            "lag1_autocorrelation": Attribute(DECIMAL, "Pearson's r of the log ratios, one apart in run order", RULED),
            "order_trend": Attribute(DECIMAL, "Spearman's rho of ratio and run order", RULED),
            "temperature_trend": Attribute(DECIMAL, "Spearman's rho of ratio and temperature", OPTIONAL),
        },
        presence=RULED,
    ),
}
