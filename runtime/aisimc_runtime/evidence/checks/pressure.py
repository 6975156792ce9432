"""Was the edge of capacity touched, and not flooded: run.pressure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from aisimc_compiler.rules.refusal import plural
from aisimc_runtime.evidence.finding import Finding, Status
from aisimc_runtime.evidence.view import Arm, Row

_COUNTER = {"vllm": "vllm_preemptions", "sglang": "sglang_retractions"}
_WORD = {"vllm": "preemptions", "sglang": "retractions"}
_LAST_COUNTING_CHUNKS = "0.12.0.dev2"
"""The last published build whose SGLang readmissions count every continued prefill chunk."""


class Count(NamedTuple):
    """Pressure events of one arm: how many, whether worked out from readmissions, or why there is no count."""

    events: int | None
    derived: bool
    why_not: str = ""


def bounds(row: Row) -> tuple[int, int] | None:
    """The bounds that the row is held to; None for a fixture that declares none.

    Rows have them whether they say so or not: 1 to 3 for vLLM and SGLang, none at all for TRT-LLM.
    """
    declared = row.plan.get("evidence") or {}
    if row.engine == "trtllm":
        return (0, 0)
    span = declared.get(_WORD[row.engine])
    if span is not None:
        return int(span[0]), int(span[1])
    return (1, 3) if row.plan["kind"] == "row" else None


def counts_chunks(arm: Arm, engine: str) -> bool:
    """Whether an arm's readmissions are no evidence: SGLang on a wheel that counts continued prefill chunks too."""
    if engine != "sglang" or arm.revision.get("source") != "wheel":
        return False
    from packaging.version import InvalidVersion, Version

    try:
        return Version(str(arm.revision.get("version"))) <= Version(_LAST_COUNTING_CHUNKS)
    except InvalidVersion:
        return False


def count(arm: Arm, engine: str) -> Count:
    """The arm's pressure events: reported by the revision, or else its readmissions, where those can count."""
    own = (arm.extract or {}).get("pressure")
    if own is not None:
        return Count(_reported(own, engine), derived=False)
    counters = arm.counters
    if engine == "trtllm":
        known = [counters.get(name) for name in _COUNTER.values() if not arm.derives(name)]
        if any(isinstance(value, int) for value in known):
            return Count(sum(value for value in known if isinstance(value, int)), derived=False)
    elif isinstance(counters.get(_COUNTER[engine]), int) and not arm.derives(_COUNTER[engine]):
        return Count(int(counters[_COUNTER[engine]]), derived=False)
    if counts_chunks(arm, engine):
        version = arm.revision.get("version")
        return Count(None, True, f"{version} counts continued prefill chunks as readmissions too")
    if arm.extract is not None:
        return Count(int(arm.extract["readmissions_in_all"]), derived=True)
    return Count(None, True, "there are no records to count in")


def _reported(own: dict[str, Any], engine: str) -> int:
    totals = {"vllm": own.get("vllm_preemptions_total", 0), "sglang": own.get("sglang_retractions_total", 0)}
    return int(totals[engine]) if engine in totals else sum(int(value) for value in totals.values())


def pressure(row: Row) -> Iterator[Finding]:
    """run.pressure: events inside the bounds, and every pressure record readmitted."""
    held_to = bounds(row)
    if held_to is None:
        return
    for arm in row.judged():
        if arm.extract is None and not arm.counters:
            continue  # the replays themselves are reported
        found = count(arm, row.engine)
        yield _bounded(row, arm, held_to, found)
        if row.engine != "trtllm":
            yield from _readmitted(row, arm, found)


def _bounded(row: Row, arm: Arm, held_to: tuple[int, int], found: Count) -> Finding:
    word = _WORD.get(row.engine, "pressure events")
    low, high = held_to
    expected = f"{low}..{high}" if low != high else str(low)
    if found.events is None:
        text = f"the {arm.name}'s {word} cannot be told: {found.why_not}"
        return Finding("run.pressure", row.name, arm.name, Status.MISSING, text, expected, None, found.derived)
    status = Status.SATISFIED if low <= found.events <= high else Status.FAILED
    text = f"{plural(found.events, word.removesuffix('s'))} on the {arm.name}"
    if status is Status.FAILED:
        text = _outside(row, arm, held_to, found.events, text)
    return Finding("run.pressure", row.name, arm.name, status, text, expected, found.events, found.derived)


def _outside(row: Row, arm: Arm, held_to: tuple[int, int], events: int, counted: str) -> str:
    """What a count outside the bounds means: a capacity to be found again where the baseline is outside too."""
    low, high = held_to
    if row.engine == "trtllm":
        return f"{counted}, where the engine guarantees that there are none"
    allowed = f"{low}..{high} allowed" if low != high else f"{low} allowed"
    baseline = row.arms["baseline"]
    other = count(baseline, row.engine).events if baseline.judged else None
    if arm.name == "candidate" and other is not None and low <= other <= high:
        return f"{counted}, {allowed}, where the baseline has {other}"
    remedy = "" if other is None else f"; `aisimc requalify SPEC {row.name}` looks for one that fits"
    if not events:
        return f"no {_WORD[row.engine]} on the {arm.name}: the edge of capacity was not exercised{remedy}"
    return f"{counted}, {allowed}: the capacity is too {'small' if events > high else 'large'}{remedy}"


def _readmitted(row: Row, arm: Arm, found: Count) -> Iterator[Finding]:
    own = (arm.extract or {}).get("pressure")
    expected = "all readmitted"
    if own is not None:
        records = own.get("records") or []
        left = [record for record in records if record.get("readmitted_at_ms") is None]
        if left:
            text = f"{len(left)} of {plural(len(records), 'pressure record')} of the {arm.name} never readmitted"
            yield Finding("run.pressure", row.name, arm.name, Status.FAILED, text, expected, len(left))
        elif records:
            text = f"every pressure record of the {arm.name} was readmitted"
            yield Finding("run.pressure", row.name, arm.name, Status.SATISFIED, text, expected, 0)
        return
    flag = arm.counters.get("all_pressure_records_readmitted")
    derived = arm.derives("all_pressure_records_readmitted")
    if flag is False:
        text = f"a pressure record of the {arm.name} was never readmitted"
        yield Finding("run.pressure", row.name, arm.name, Status.FAILED, text, expected, False, derived)
    elif flag is True and not derived:
        text = f"every pressure record of the {arm.name} was readmitted"
        yield Finding("run.pressure", row.name, arm.name, Status.SATISFIED, text, expected, True)
    elif found.events:
        text = f"each of the {arm.name}'s events is known by its readmission"
        yield Finding("run.pressure", row.name, arm.name, Status.SATISFIED, text, expected, found.events, True)
