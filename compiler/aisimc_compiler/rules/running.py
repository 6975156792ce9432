"""Running: what a campaign declares about determinism, pressure, evidence, progress and golden points."""

from __future__ import annotations

from collections.abc import Iterator

from aisimc_compiler.diagnostics.model import Diagnostic, Label
from aisimc_compiler.hints import Any
from aisimc_compiler.model import closed
from aisimc_compiler.model.campaign import Campaign, Given, Row, Timing
from aisimc_compiler.rules.digests import is_hex
from aisimc_compiler.rules.language import Rule
from aisimc_compiler.rules.rows.matrix import is_substitute

_PRESSURE_WORDS = {"preemptions": "vllm", "retractions": "sglang"}


def determinism(campaign: Campaign) -> Iterator[Diagnostic]:
    """`run.determinism`: the mode is `canonical_v1`."""
    if campaign.determinism is None or campaign.determinism.mode is None:
        return
    given = campaign.determinism.mode
    if given.value != "canonical_v1":
        from aisimc_compiler.rules.refusal import refuse_value

        yield refuse_value(
            "run.determinism",
            given,
            f"the determinism mode is `canonical_v1`, not `{given.value}`",
            label="takes only `canonical_v1`",
            help="write `canonical_v1`",
            replace="canonical_v1",
        )


def pressure(campaign: Campaign) -> Iterator[Diagnostic]:
    """`run.pressure`: declared bounds lie within 1..3, on the engine that has them."""
    for row in campaign.rows:
        if is_substitute(row):
            continue  # what it should show is that of the row that it stands for
        engine = row_engine(row)
        for word, owner in _PRESSURE_WORDS.items():
            given = row.evidence.get(word)
            if given is not None:
                fault = _pressure_fault(row, engine, word, owner, given)
                if fault:
                    yield fault


def row_engine(row: Row) -> str | None:
    """The engine of a row, from its frozen configuration where it has one."""
    if row.engine is not None:
        return row.engine.value if row.engine.value in closed.ENGINES else None
    if row.frozen is not None and row.frozen.data is not None:
        from aisimc_compiler.plan.frozen import frozen_shape

        shape = frozen_shape(row.frozen.data)
        return shape[0] if shape else None
    return None


def _pressure_fault(row: Row, engine: str | None, word: str, owner: str, given: Given[Any]) -> Diagnostic | None:
    low, high = given.value
    least, most = closed.PRESSURE_LIMITS
    none = (low, high) == (0, 0)
    if engine is not None and engine not in (owner, "trtllm"):
        return _foreign_pressure(row, engine, word, given)
    if engine == "trtllm" and not none:
        return _never_evicts(row, word, given)
    if none and (engine == "trtllm" or row.kind == "fixture"):
        return None
    if least <= low and high <= most:
        return None
    from aisimc_compiler.rules.refusal import refuse_value

    if low < least:
        message = (
            f"a row with no {word[:-1]} has not exercised its capacity edge"
            if low == 0
            else f"a number of {word} is not negative"
        )
    else:
        message = f"more than {most} {word} flood the row"
    return refuse_value(
        "run.pressure",
        given,
        message,
        label=f"takes bounds within {least}..{most}",
        help=f"write `{least}..{most}`, or narrower bounds",
        replace=f"{least}..{most}",
    )


def _never_evicts(row: Row, word: str, given: Given[Any]) -> Diagnostic:
    from aisimc_compiler.rules.refusal import refuse_value

    return refuse_value(
        "run.pressure",
        given,
        f"a TRT-LLM row has no {word}: it never evicts a request",
        label="takes only 0..0",
        help="remove it: a TRT-LLM row is held to no pressure at all",
        secondary=(Label(row.engine.span, "the engine"),) if row.engine is not None else (),
    )


def _foreign_pressure(row: Row, engine: str, word: str, given: Given[Any]) -> Diagnostic:
    from aisimc_compiler.rules.refusal import refuse_name

    own = {"vllm": "preemptions", "sglang": "retractions"}[engine]
    labels = (Label(row.engine.span, "the engine"),) if row.engine is not None else ()
    shared = given.origin == "family"  # where rows of the other engine may take it
    return refuse_name(
        "run.pressure",
        given,
        f"{engine} has no {word}: its pressure shows as {own}",
        label=f"not evidence of {engine}",
        help=f"write `{own}`, or say it in the rows of its engine" if shared else f"write `{own}`",
        replace=None if shared else own,
        secondary=labels,
    )


def evidence(campaign: Campaign) -> Iterator[Diagnostic]:
    """`run.evidence`: what is asked for can be shown by a row of this topology."""
    from aisimc_compiler.rules.rows.matrix import row_shape

    for row in campaign.rows:
        shape = row_shape(row)
        if shape is None and row.frozen is not None and row.frozen.data is not None:
            from aisimc_compiler.plan.frozen import frozen_shape

            shape = frozen_shape(row.frozen.data)
        if shape is None or min(shape[2:]) < 1 or is_substitute(row):
            continue
        handoffs, barrier = row.evidence.get("handoffs"), row.evidence.get("barrier")
        if handoffs is not None and handoffs.value == "all" and shape[1] == "aggregated":
            yield _cannot_show(
                handoffs, "an aggregated row has no handoff", "remove it, or make the topology disaggregated"
            )
        if handoffs is not None and handoffs.value == "none" and shape[1] == "disaggregated" and row.kind == "row":
            yield _cannot_show(
                handoffs, "a disaggregated row without a handoff has not exercised its topology", "write `all`"
            )
        if barrier is not None and max(shape[2:]) < 2:
            yield _cannot_show(
                barrier,
                "with one rank in each worker there is no barrier between ranks",
                "remove it, or say `dp = 2` or more",
            )


def _cannot_show(given: Given[Any], message: str, help_: str) -> Diagnostic:
    from aisimc_compiler.rules.refusal import refuse_value

    return refuse_value("run.evidence", given, message, label="can never be shown", help=help_)


def progress(campaign: Campaign) -> Iterator[Diagnostic]:
    """`run.progress`: declared times let virtual time advance."""
    for row in campaign.rows:
        cut = row.max_sim_time_ms
        if cut is not None and not cut.value > 0:
            from aisimc_compiler.rules.refusal import refuse_value

            yield refuse_value(
                "run.progress", cut, "a replay that is cut off at its start replays nothing", label="takes more than 0"
            )
        if row.topology is None:
            continue
        for pool in row.topology.pools.values():
            if pool.timing is not None:
                yield from _timing(pool.timing)


def _timing(timing: Timing) -> Iterator[Diagnostic]:
    times = (timing.prefill_ms, timing.decode_ms)
    negative = [given for given in times if given is not None and given.value < 0]
    for given in negative:
        from aisimc_compiler.rules.refusal import refuse_value

        yield refuse_value("run.progress", given, "a time is not negative", label="would move time backwards")
    prefill, decode = times
    if not negative and prefill is not None and decode is not None and prefill.value == decode.value == 0:
        from aisimc_compiler.rules.refusal import refuse_value

        yield refuse_value(
            "run.progress",
            decode,
            "with passes that take no time at all, virtual time never advances",
            label="zero, like prefill",
        )


def expectations(campaign: Campaign) -> Iterator[Diagnostic]:
    """`run.golden`: expected counters are possible, and golden files qualify this row on this input."""
    from aisimc_compiler.rules.refusal import refuse_value

    for row in campaign.rows:
        for name, given in row.expect.items():
            kind = closed.COUNTERS.get(name)
            if kind == "digest" and not is_hex(given.value, 64):
                yield refuse_value(
                    "run.golden", given, f"`{name}` is a SHA-256 of 64 hex digits", label="not a SHA-256"
                )
            elif kind in ("integer", "decimal") and given.value < 0:
                yield refuse_value("run.golden", given, f"`{name}` is never negative", label="cannot come out")
            elif kind == "integers" and [item.value for item in given.value] != sorted(
                {item.value for item in given.value if item.value >= 0}
            ):
                yield refuse_value(
                    "run.golden",
                    given,
                    f"`{name}` lists scheduler ids from 0, each once and in order",
                    label="cannot come out",
                )
        if row.golden is not None and row.golden.data is not None:
            from aisimc_compiler.plan.golden import golden_faults

            yield from golden_faults(campaign, row, row.golden)


CHECKS: tuple[tuple[str, Rule], ...] = (
    ("run.determinism", determinism),
    ("run.pressure", pressure),
    ("run.evidence", evidence),
    ("run.progress", progress),
    ("run.golden", expectations),
)
