"""Does each arm repeat itself, and do the arms agree: run.determinism, run.parity, row.frozen."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from aisimc_compiler.rules.refusal import plural
from aisimc_runtime.compare.words import clause
from aisimc_runtime.evidence.finding import Finding, Status
from aisimc_runtime.evidence.view import ARMS, Arm, Row

_NAMED = 6
"""So many differing fields are named in a sentence."""


def determinism(row: Row) -> Iterator[Finding]:
    """run.determinism: one unique canonical digest over an arm's repetitions; otherwise the arm is unstable."""
    for arm in row.judged():
        known = [replay for replay in arm.replays if replay.digests and replay.digests.get("canonical_sha256")]
        if len(known) < arm.repetitions or arm.repetitions < 2:
            text = f"{len(known)} of {plural(arm.repetitions, 'canonical digest')} of the {arm.name} there"
            yield Finding("run.determinism", row.name, arm.name, Status.MISSING, text, arm.repetitions, len(known))
        elif len(arm.digests) == 1:
            text = f"both processes of the {arm.name} give the same bytes"
            yield Finding("run.determinism", row.name, arm.name, Status.SATISFIED, text, 1, 1)
        else:
            text = f"the {arm.name} is unstable: its own processes differ{_fields(arm)}"
            yield Finding("run.determinism", row.name, arm.name, Status.FAILED, text, 1, len(arm.digests))


def _fields(arm: Arm) -> str:
    if arm.instability is None:
        return ""
    return " in " + named_fields(arm.instability)


def named_fields(difference: dict[str, Any]) -> str:
    """The first few field patterns of a difference, in words."""
    patterns = list(dict.fromkeys(str(entry["pattern"]) for entry in difference["classes"]))
    more = len(patterns) - _NAMED
    text = ", ".join(patterns[:_NAMED])
    return f"{text} and {more} more" if more > 0 else text


def parity(row: Row) -> Iterator[Finding]:
    """run.parity: the canonical bytes of the two arms are equal."""
    baseline, candidate = (row.arms[name] for name in ARMS)
    if not (baseline.judged and candidate.judged):
        return
    if not baseline.digests or not candidate.digests:
        yield Finding("run.parity", row.name, None, Status.MISSING, "an arm has no canonical record to compare")
    elif len(baseline.digests) > 1 or len(candidate.digests) > 1:
        text = "an unstable arm has no one record to compare"
        yield Finding("run.parity", row.name, None, Status.MISSING, text)
    elif baseline.digests == candidate.digests:
        text = "the canonical bytes of both arms are equal"
        yield Finding("run.parity", row.name, None, Status.SATISFIED, text, baseline.digests[0], candidate.digests[0])
    else:
        text = f"the canonical bytes of the two arms differ{_parting(row)}"
        yield Finding("run.parity", row.name, None, Status.FAILED, text, baseline.digests[0], candidate.digests[0])


def _parting(row: Row) -> str:
    return "" if row.difference is None else f"; {clause(row.difference)}"


def frozen(row: Row) -> Iterator[Finding]:
    """row.frozen: both arms got the bytes of the one configuration that the plan froze."""
    wanted = row.plan["configuration_sha256"]
    if row.configuration_sha256 is None:
        yield Finding("row.frozen", row.name, None, Status.MISSING, "the configuration is not in the folder", wanted)
        return
    seen = {row.configuration_sha256}
    for name in ARMS:
        seen |= {
            str(replay.counters["config_sha256"])
            for replay in row.arms[name].replays
            if replay.counters and replay.counters.get("config_sha256")
        }
    if seen == {wanted}:
        text = "both arms got the same configuration bytes, those that the plan froze"
        yield Finding("row.frozen", row.name, None, Status.SATISFIED, text, wanted, wanted)
    else:
        text = "a replay got other configuration bytes than the plan froze"
        yield Finding("row.frozen", row.name, None, Status.FAILED, text, wanted, sorted(seen - {wanted}))
