"""Names that do not belong where they stand and that a rule of the method speaks of: one sentence for each rule."""

from __future__ import annotations

from aisimc_compiler.diagnostics.model import Diagnostic
from aisimc_compiler.model import closed
from aisimc_compiler.model.vocabulary import Block
from aisimc_compiler.rules.refusal import listed, refuse
from aisimc_compiler.syntax import tree

# rule → (message, label, help); `{name}` and `{block}` are filled in
_SENTENCES: dict[str, tuple[str, str, str]] = {
    "row.frozen": (
        "`{name}` would give one arm a configuration of its own",
        "both arms get the same bytes",
        "say it for both arms, in the row itself",
    ),
    "row.composition": (
        "`{name}` is not part of the engine-only composition",
        "placement is round-robin and scaling is none",
        "remove it: `composition {{ placement = round_robin scaling = none }}` is the only one",
    ),
    "row.admission": (
        "`{name}` would drive admission in place of the trace's timestamps",
        "admission follows the timestamps, once",
        "remove it; `arrival_speedup_ratio` changes the pace, and a `fixture` may set `max_in_flight`",
    ),
    "row.repetitions": (
        "`{name}` cannot be set here: each arm of each row runs in exactly two fresh processes",
        "two, for every row",
        "say `repetitions = 2` in `determinism`",
    ),
    "row.engine": (
        "there is no capacity field `{name}`",
        "no field of any engine",
        "whatever is not in the table goes through a `frozen` configuration",
    ),
    "row.transfer": (
        "a transfer belongs to the topology, so that both roles state the same one",
        "one transfer for both roles",
        "move it beside `prefill` and `decode`",
    ),
    "input.slice": (
        "`{name}` is refused: a slice is one contiguous window of rows, as they were authored",
        "a window has only `start`, `rows` and `sha256`",
        'take a window: `slice {{ start = 0 rows = 5_000 sha256 = "…" }}`',
    ),
    "input.upstream": (
        "`{name}` does not pin an upstream trace",
        "a trace is pinned by `upstream`, `commit` and `path`",
        "name the full commit id in `commit`",
    ),
    "pin.embedded": (
        "`{name}` is refused: a runner reports the revision that is built into it",
        "no configuration may say it",
        "remove it; the revisions are pinned in the `revision` blocks",
    ),
    "pin.commit": (
        "`{name}` can move, so it pins nothing",
        "a checkout is pinned by its full commit id",
        'write `commit = "…"`; `aisimc pin` looks it up',
    ),
    "pin.same-build": (
        "`{name}` would build one arm otherwise than the other",
        "one `build` block serves both arms",
        "say it for both arms, in the `build` block",
    ),
    "pin.features": (
        "`{name}` does not name the features",
        "features are named one by one",
        "list them in `features`; an empty list is fine",
    ),
    "pin.correction": (
        "`{name}` is refused: a determinism correction is always for both arms",
        "a correction has no arms",
        "remove it",
    ),
    "exclude.closed": (
        "`{name}` is no pointer of the closed exclusion list",
        "`exclude` holds four pointers, one after the other",
        "write the four pointers and nothing else",
    ),
    "perf.boundary": (
        "`{name}` would put another clock in the place of the replay loop's",
        "the metric is `replay_execution_ms`",
        "write `metric = replay_execution_ms`",
    ),
    "perf.design": (
        "`{name}` is refused: the design is five warm-ups for each arm and 60 pairs, fixed before the first sample",
        "not part of the design",
        "remove it",
    ),
    "perf.fresh": (
        "`{name}` is refused: each sample is one iteration in a fresh process",
        "one iteration for each process",
        "remove it",
    ),
    "perf.retain": (
        "`{name}` is refused: every attempted sample is kept",
        "no sample is dropped for its value",
        "remove it; environmental conditions go into `invalidate_on`",
    ),
}


def stray(rule: str, spec: Block, name: tree.Name, meant: str | None = None) -> Diagnostic:
    """The refusal of a name by the rule that speaks of it. `meant` is a known name close to it."""
    message, label, help_ = (part.format(name=name.text, block=spec.title) for part in _SENTENCES[rule])
    if meant is not None:
        help_ = f"did you mean `{meant}`?"
    elif rule == "row.admission" and name.text.startswith("iteration"):
        message = f"`{name.text}` would replay the trace more than once"
    elif rule == "pin.correction" and name.text == "correction":
        help_ = "say it in `determinism`, where it is for both"
    elif rule == "row.engine" and name.text == "engine":
        message, label = "both roles run the row's engine", "the engine is said by the row"
        help_ = "remove it"
    elif rule == "row.engine":
        label = f"the fields are {listed(closed.COMMON_CAPACITY, last='and')}, and a few of one engine"
    return refuse(rule, name.span, message, label=label, help=help_, replace=meant)
