"""How the requests ended: terminal states (run.evidence), exact outputs (run.output), progress (run.progress)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from aisimc_compiler.rules.refusal import plural
from aisimc_runtime.evidence.checks.pressure import counts_chunks
from aisimc_runtime.evidence.counters import counters_of, same
from aisimc_runtime.evidence.finding import Finding, Status
from aisimc_runtime.evidence.view import Arm, Row
from aisimc_runtime.sizes import in_ms

MOST_READMISSIONS = 16
"""A request put out and taken in again more often than this is cycling, not making progress."""

_CHECKED = (
    "completed_requests",
    "num_requests",
    "total_input_tokens",
    "total_output_tokens",
    "requested_output_tokens",
    "requests_with_short_output",
    "all_requests_full_output",
    "terminal_counts",
    "requests_with_reuse",
    "prefill_workers",
    "decode_workers",
    "handoffs_complete",
    "readmissions",
    "virtual_duration_ms",
)
"""Reported counters that the records show too, so that the two can be held against each other."""

_OF_UNRECORDED = ("num_requests", "all_requests_full_output")
"""Those of them that also count requests which a cap on virtual time cut off before they had a record."""


def outcome(row: Row) -> Iterator[Finding]:
    """Terminal states, outputs, progress and reported counters of every arm that is held to evidence."""
    for arm in row.judged():
        if arm.extract is None:
            if any(replay.succeeded for replay in arm.replays):
                text = f"the evidence of the {arm.name} is not in the folder"
                yield Finding("run.evidence", row.name, arm.name, Status.MISSING, text)
            continue
        yield terminal(row, arm, arm.extract)
        yield output(row, arm, arm.extract)
        yield from progress(row, arm, arm.extract)
        yield from reported(row, arm, arm.extract)


def _cap_ms(row: Row) -> float | None:
    spec = (row.plan.get("configuration") or {}).get("spec") or {}
    cap = spec.get("max_sim_time_ms")
    return float(cap) if cap is not None else None


def terminal(row: Row, arm: Arm, extract: dict[str, Any]) -> Finding:
    """run.evidence: every request of the input ended, and ended as completed (or as the row expects).

    Under a cap on virtual time (`max_sim_time_ms`) requests may be unfinished, but none may end after the cap.
    """
    states = Counter(str(state) for state in extract["columns"]["status"] if state is not None)
    expected = (row.plan.get("expect") or {}).get("terminal_counts")
    seen = dict(sorted(states.items()))
    cap = _cap_ms(row)
    if expected is not None:
        ok = same(seen, expected)
        text = f"the {arm.name}'s requests end as the row expects" if ok else f"the {arm.name}'s requests end otherwise"
        return Finding("run.evidence", row.name, arm.name, _status(ok), text, expected, seen)
    if cap is not None:
        late = sum((time or 0) > cap for time in extract["columns"]["terminal_ms"])
        ok = not late and set(states) <= {"completed"}
        text = (
            f"{plural(states['completed'], 'request')} of the {arm.name} completed at the cap, {late:,} later than it"
        )
        return Finding("run.evidence", row.name, arm.name, _status(ok), text, f"none after {cap} ms", late)
    due = extract["requests"]
    ok = states["completed"] == due and due > 0
    text = f"{states['completed']:,} of {plural(due, 'request')} of the {arm.name} completed"
    others = ", ".join(f"{count:,} {state}" for state, count in seen.items() if state != "completed")
    return Finding(
        "run.evidence",
        row.name,
        arm.name,
        _status(ok),
        text + (f" ({others})" if others else ""),
        {"completed": due},
        seen,
    )


def output(row: Row, arm: Arm, extract: dict[str, Any]) -> Finding:
    """run.output: every completed request emitted exactly the output tokens that it asked for."""
    columns = extract["columns"]
    triples = zip(columns["status"], columns["requested_output_tokens"], columns["output_tokens"], strict=True)
    wrong = [
        name
        for name, (state, asked, given) in zip(columns["session_id"], triples, strict=True)
        if state == "completed" and asked != given
    ]
    if not wrong:
        text = f"every request of the {arm.name} emitted exactly its output tokens"
        return Finding("run.output", row.name, arm.name, Status.SATISFIED, text, 0, 0)
    told = f"{plural(len(wrong), 'request')} of the {arm.name} emitted another number of tokens than asked for"
    return Finding("run.output", row.name, arm.name, Status.FAILED, f"{told}: {_some(wrong)}", 0, len(wrong))


def progress(row: Row, arm: Arm, extract: dict[str, Any]) -> Iterator[Finding]:
    """run.progress: virtual time advances, and no request cycles between being put out and taken in again."""
    columns = extract["columns"]
    start = min((time for time in columns["arrival_ms"] if time is not None), default=0.0)
    end = max((time for time in columns["terminal_ms"] if time is not None), default=0.0)
    backward = [
        name
        for name, came, done in zip(columns["session_id"], columns["arrival_ms"], columns["terminal_ms"], strict=True)
        if came is not None and done is not None and done < came
    ]
    if backward:
        text = f"virtual time runs backwards on the {arm.name}: {_some(backward)} end before they arrive"
        yield Finding("run.progress", row.name, arm.name, Status.FAILED, text, "time advances", len(backward))
    elif end <= start:
        text = f"virtual time does not advance on the {arm.name}"
        yield Finding("run.progress", row.name, arm.name, Status.FAILED, text, "time advances", end - start)
    else:
        text = f"virtual time advances to {in_ms(end)} ms on the {arm.name}"
        yield Finding("run.progress", row.name, arm.name, Status.SATISFIED, text, "time advances", end)
    if counts_chunks(arm, row.engine):
        return
    most, standing = extract["most_readmissions_of_one_request"], extract["readmitted_twice_at_one_time"]
    if most > MOST_READMISSIONS:
        text = f"a request of the {arm.name} was readmitted {most} times: it cycles without progress"
        yield Finding(
            "run.progress", row.name, arm.name, Status.FAILED, text, f"at most {MOST_READMISSIONS}", most, True
        )
    elif standing and row.engine == "vllm":
        text = f"{_some(standing)} of the {arm.name} were readmitted twice at one instant: a pass without effect"
        yield Finding("run.progress", row.name, arm.name, Status.FAILED, text, 0, len(standing), True)


def reported(row: Row, arm: Arm, extract: dict[str, Any]) -> Iterator[Finding]:
    """run.evidence: counters that the revision reports agree with the records that it gives."""
    shown = counters_of(extract)
    told = arm.counters
    checked = _CHECKED if _cap_ms(row) is None else [name for name in _CHECKED if name not in _OF_UNRECORDED]
    wrong = [
        name
        for name in checked
        if told.get(name) is not None and not arm.derives(name) and not same(told[name], shown[name])
    ]
    if wrong:
        text = f"counters that the {arm.name} reports are not what its records show: {', '.join(wrong)}"
        expected, observed = {name: shown[name] for name in wrong}, {name: told[name] for name in wrong}
        yield Finding("run.evidence", row.name, arm.name, Status.FAILED, text, expected, observed)


def _some(names: list[str], most: int = 5) -> str:
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more} more" if more > 0 else "")


def _status(ok: bool) -> Status:
    return Status.SATISFIED if ok else Status.FAILED
