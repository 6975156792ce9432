"""Did every replay run, in its own process, to its end: run.fresh, run.limit, run.output, row.error, row.matrix."""

from __future__ import annotations

from collections.abc import Iterator

from aisimc_compiler.rules.refusal import plural
from aisimc_runtime.evidence.finding import Finding, Status
from aisimc_runtime.evidence.view import ARMS, Arm, Replay, Row

EFFECT_FREE = "effect-free zero-duration pass"
"""Words by which engines refuse to go on without progress."""

_LIMITS = {
    "time": "ran into its time limit{size} and was ended; some inputs make published builds run without end",
    "memory": "ran into its memory limit{size} and was ended",
    "output": "wrote more than its output limit{size} and was ended",
    "processes": "started more processes than allowed{size} and was ended",
}


def fresh(row: Row) -> Iterator[Finding]:
    """run.fresh: each repetition that the plan asks for ran as a process of its own."""
    for name in ARMS:
        arm = row.arms[name]
        if not arm.repetitions:
            continue
        ran = [replay for replay in arm.replays if replay.process is not None]
        if len(ran) == arm.repetitions:
            text = "the replay ran" if arm.repetitions == 1 else f"{arm.repetitions} processes ran, each of its own"
            yield Finding("run.fresh", row.name, name, Status.SATISFIED, text, arm.repetitions, len(ran))
        else:
            text = f"{len(ran)} of {plural(arm.repetitions, 'replay')} of the {name} ran"
            yield Finding("run.fresh", row.name, name, Status.MISSING, text, arm.repetitions, len(ran))


def limit(row: Row) -> Iterator[Finding]:
    """run.limit: no replay was ended by a limit."""
    for name in ARMS:
        ran = [replay for replay in row.arms[name].replays if replay.process is not None]
        hit = [replay for replay in ran if replay.process and replay.process.get("limit")]
        for replay in hit:
            process = replay.process or {}
            kind, size = str(process["limit"]), str(process.get("error") or "").partition(": ended by")[0]
            told = _LIMITS.get(kind, f"hit the limit {kind!r}").format(size=f" ({size})" if size else "")
            text = f"replay {replay.repetition} of the {name} {told}"
            yield Finding("run.limit", row.name, name, Status.FAILED, text, "inside its limits", kind)
        if ran and not hit:
            yield Finding("run.limit", row.name, name, Status.SATISFIED, "every replay ended inside its limits")


def ended(row: Row) -> Iterator[Finding]:
    """run.output, run.progress: a replay that ended with an error has no outputs; the error is its evidence."""
    for arm in row.judged():
        for replay in arm.replays:
            process = replay.process
            if process is None or replay.succeeded or process.get("limit"):
                continue
            rule = "run.progress" if EFFECT_FREE in replay.error or EFFECT_FREE in replay.stderr else "run.output"
            reason = replay.error or "it gave no reason"
            text = f"replay {replay.repetition} of the {arm.name} ended {_how(replay)}: {reason}"
            yield Finding(rule, row.name, arm.name, Status.FAILED, text, "exit status 0", _how(replay))


def _how(replay: Replay) -> str:
    process = replay.process or {}
    if process.get("signal"):
        return f"by signal {process['signal']}"
    return f"with exit status {process.get('exit_status')}"


def expected_error(row: Row) -> Iterator[Finding]:
    """row.error: a row that must be refused passes only if both arms refuse it with the expected text."""
    wanted = str(row.plan["expect_error"])
    for name in ARMS:
        for replay in row.arms[name].replays:
            if replay.process is None:
                continue
            yield _refusal(row, name, replay, wanted)


def _refusal(row: Row, arm: str, replay: Replay, wanted: str) -> Finding:
    if replay.process and replay.process.get("limit"):
        text = f"the {arm} ran into a limit and did not refuse the row"
        return Finding("row.error", row.name, arm, Status.FAILED, text, wanted, str(replay.process["limit"]))
    if replay.succeeded:
        text = f"the {arm} runs this row, which it was expected to refuse"
        return Finding("row.error", row.name, arm, Status.FAILED, text, wanted, "exit status 0")
    if wanted in replay.error or wanted in replay.stderr:
        return Finding("row.error", row.name, arm, Status.SATISFIED, f"the {arm} refuses the row as expected", wanted)
    text = f"the {arm} refuses the row, but with another error"
    return Finding("row.error", row.name, arm, Status.FAILED, text, wanted, replay.error)


def unsupported(row: Row) -> Iterator[Finding]:
    """row.matrix: an arm declared as not supporting the row must refuse it with an explicit error."""
    for name in ARMS:
        arm = row.arms[name]
        if arm.supported or not arm.repetitions:
            continue
        yield from (_must_refuse(row, arm, replay) for replay in arm.replays if replay.process is not None)


def _must_refuse(row: Row, arm: Arm, replay: Replay) -> Finding:
    process = replay.process or {}
    wanted = "an explicit error"
    if replay.succeeded:
        text = f"the {arm.name} runs this row, so it is not unsupported there"
        return Finding("row.matrix", row.name, arm.name, Status.FAILED, text, wanted, "exit status 0")
    if process.get("limit") or process.get("signal") or not replay.error:
        text = f"the {arm.name} did not refuse this row with an error of its own"
        return Finding("row.matrix", row.name, arm.name, Status.FAILED, text, wanted, _how(replay))
    text = f"the {arm.name} refuses this row, as declared"
    return Finding("row.matrix", row.name, arm.name, Status.SATISFIED, text, wanted, replay.error)
