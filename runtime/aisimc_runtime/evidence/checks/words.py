"""The words of an evidence block: workers, reuse, handoffs, waiting, barrier (run.evidence)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from aisimc_compiler.rules.refusal import plural
from aisimc_runtime.evidence.checks.pressure import counts_chunks
from aisimc_runtime.evidence.counters import counters_of
from aisimc_runtime.evidence.finding import Finding, Status
from aisimc_runtime.evidence.view import Arm, Row

RULE = "run.evidence"


def words(row: Row) -> Iterator[Finding]:
    """run.evidence: what the row's evidence block asks for, on every arm that is held to evidence."""
    asked = row.plan.get("evidence") or {}
    checks = {
        "workers": workers,
        "reuse": reuse,
        "handoffs": handoffs,
        "waiting": waiting,
        "barrier": barrier,
    }
    for arm in row.judged():
        for word, check in checks.items():
            wanted = asked.get(word)
            if wanted is None:
                continue
            if arm.extract is None:
                text = f"there are no records of the {arm.name} to show {word}"
                yield Finding(RULE, row.name, arm.name, Status.MISSING, text, f"{word} = {wanted}")
            else:
                yield from check(row, arm, arm.extract, str(wanted))


def workers(row: Row, arm: Arm, extract: dict[str, Any], wanted: str) -> Iterator[Finding]:
    """Each logical worker of each pool, and with attention DP each of its ranks, received work."""
    counters = counters_of(extract)
    for pool, (count, ranks) in row.pools.items():
        seen = set(counters["prefill_workers" if pool == "prefill" else "decode_workers"])
        due = set(range(count * ranks))
        what = "workers" if ranks == 1 else "ranks"
        name = "" if pool == "agg" else f" of the {pool} pool"
        derived = arm.derives("decode_workers") or not arm.counters
        if row.plan["kind"] == "row" and len(due) < 2:
            text = f"one {what[:-1]}{name} cannot show round-robin placement"
            yield Finding(RULE, row.name, arm.name, Status.MISSING, text, "two or more", len(due), derived)
        elif seen == due:
            text = f"all {len(due)} {what}{name} received work on the {arm.name}"
            yield Finding(RULE, row.name, arm.name, Status.SATISFIED, text, sorted(due), sorted(seen), derived)
        elif seen - due:
            text = f"work went to {what}{name} that the row does not have on the {arm.name}"
            yield Finding(RULE, row.name, arm.name, Status.FAILED, text, sorted(due), sorted(seen), derived)
        else:
            text = f"{len(due - seen)} of {len(due)} {what}{name} received no work on the {arm.name}"
            yield Finding(RULE, row.name, arm.name, Status.FAILED, text, sorted(due), sorted(seen), derived)


def reuse(row: Row, arm: Arm, extract: dict[str, Any], wanted: str) -> Iterator[Finding]:
    """Some request found part of its prompt in the prefix cache, or none did.

    Where continued prefill chunks count as reuse, only a request's very first admission is looked at.
    """
    count = int(counters_of(extract)["requests_with_reuse"])
    derived = not isinstance(arm.counters.get("requests_with_reuse"), int) or arm.derives("requests_with_reuse")
    if counts_chunks(arm, row.engine):
        count, derived = int(extract["requests_with_first_admission_reuse"]), True
    ok = count > 0 if wanted == "required" else count == 0
    text = f"{plural(count, 'request')} of the {arm.name} reused a cached prefix"
    yield Finding(RULE, row.name, arm.name, _status(ok), text, f"reuse = {wanted}", count, derived)


def handoffs(row: Row, arm: Arm, extract: dict[str, Any], wanted: str) -> Iterator[Finding]:
    """Every request was handed over whole, with its stamps in the engine's order; or none was."""
    counts: dict[str, int] = extract["handoffs"]
    order: dict[str, int] = extract["handoff_order"]
    requests = int(extract["requests"])
    derived = not isinstance(arm.counters.get("handoffs_complete"), int) or arm.derives("handoffs_complete")
    if wanted == "none":
        made = counts["complete"] + counts["partial"]
        text = f"{plural(made, 'request')} of the {arm.name} handed over"
        yield Finding(RULE, row.name, arm.name, _status(made == 0), text, "handoffs = none", made, derived)
        return
    whole = counts["complete"] == requests and counts["partial"] == 0
    text = f"{counts['complete']:,} of {plural(requests, 'request')} of the {arm.name} with a complete handoff"
    if counts["partial"]:
        text += f", {counts['partial']:,} with a partial one"
    yield Finding(RULE, row.name, arm.name, _status(whole), text, requests, counts["complete"], derived)
    key = "destination_first" if row.engine == "sglang" else "source_first"
    in_order = order[key]
    words = key.replace("_", " ")
    text = f"{in_order:,} of {plural(counts['complete'], 'handoff')} of the {arm.name} in the engine's order, {words}"
    ok = in_order == counts["complete"]
    yield Finding(RULE, row.name, arm.name, _status(ok), text, counts["complete"], in_order, derived)


def waiting(row: Row, arm: Arm, extract: dict[str, Any], wanted: str) -> Iterator[Finding]:
    """Some request was admitted later than it arrived: the engine's own queue held it under pressure."""
    columns: dict[str, list[float | None]] = extract["columns"]
    pairs = zip(columns["arrival_ms"], columns["first_admit_ms"], strict=True)
    waited = sum(admitted > came for came, admitted in pairs if came is not None and admitted is not None)
    text = f"{plural(waited, 'request')} of the {arm.name} waited for their admission"
    yield Finding(RULE, row.name, arm.name, _status(waited > 0), text, "waiting = required", waited, True)


def barrier(row: Row, arm: Arm, extract: dict[str, Any], wanted: str) -> Iterator[Finding]:
    """Ranks of one worker end their passes together, and an empty rank waits, as far as records show it."""
    groups: list[dict[str, Any]] = extract["group_passes"]
    active = [group for group in groups if len(group["ranks"]) > 1]
    if not active:
        text = f"no worker of the {arm.name} has two ranks that worked"
        yield Finding(RULE, row.name, arm.name, Status.MISSING, text, "barrier = required", 0, True)
        return
    apart = [group for group in active if group["ranks_that_share"] != group["ranks"]]
    shared = sum(int(group["shared_pass_ends"]) for group in active)
    text = f"ranks of one worker end passes at the same instant {plural(shared, 'time')} on the {arm.name}"
    if apart:
        text = f"ranks of {len(apart)} of {plural(len(active), 'worker')} of the {arm.name} never end a pass together"
    yield Finding(RULE, row.name, arm.name, _status(not apart), text, "ranks end together", shared, True)
    waits = sum(int(group["empty_rank_waits"]) for group in active)
    text = f"a request came to an empty rank of a working worker and waited {plural(waits, 'time')} on the {arm.name}"
    status = Status.SATISFIED if waits else Status.MISSING
    yield Finding(RULE, row.name, arm.name, status, text, "an empty rank waits", waits, True)


def _status(ok: bool) -> Status:
    return Status.SATISFIED if ok else Status.FAILED
