"""The 130 processes of one row, in the persisted order, each attempt recorded before the next thing happens.

The sampler knows the order and the record; what a process is, and what time is, it asks of a `Bench`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Protocol

from aisimc_compiler.plan.schedule import PAIRS, Step
from aisimc_runtime.failures import Interrupted
from aisimc_runtime.gate.causes import Cause, detect
from aisimc_runtime.gate.process import Finished
from aisimc_runtime.gate.samples import Attempt, History, Recorder
from aisimc_runtime.gate.telemetry import Reading

INVALIDATION_LIMIT = PAIRS
"""Invalidated rounds that a row may have: a node that spoils more pairs than it measures is not fit for it."""
LONGEST_WAIT_S = 8.0


class Evicted(Interrupted):
    """The node's scheduler told the harness to end (SIGTERM)."""


class Ending(StrEnum):
    """Why sampling of a row ended."""

    COMPLETE = "complete"
    FAILED = "failed"
    """The product failed in some process."""
    EXHAUSTED = "exhausted"
    """The environment spoilt too many pairs."""


@dataclass(frozen=True, slots=True)
class Measured:
    """One finished process; `error` says what the product did wrong."""

    process: Finished
    before: Reading
    after: Reading
    timing: dict[str, float] | None
    error: str | None = None


class Bench(Protocol):
    """Where processes run."""

    @property
    def cpus(self) -> Collection[int]:
        """The CPUs that every process is pinned to."""
        ...

    def measure(self, arm: str) -> Measured:
        """Run one fresh process of `arm` to its end."""
        ...

    def stopped(self) -> str | None:
        """What a signal told the harness since the last call: that it had been stopped, or is to end."""
        ...

    def wait(self, seconds: float) -> None:
        """Give a disturbed node time to become quiet."""
        ...


@dataclass(slots=True)
class Sampler:
    """Samples one row from where its history stands. Mutable: it counts attempts as it goes."""

    steps: Sequence[Step]
    history: History
    record: Recorder
    bench: Bench
    declared: Collection[str]
    """The causes that the campaign declares in `invalidate_on`."""
    say: Callable[[str], None]
    _attempts: int = 0

    def run(self) -> Ending:
        """Warm up, then measure every pair that has no valid round yet.

        A resumed row is warmed up again: its caches and clocks are those of a fresh start.
        """
        self._attempts = len(self.history.attempts)
        if self.history.failed is not None:
            return Ending.FAILED
        done = self.history.valid()
        missing = [pair for pair in range(1, PAIRS + 1) if pair not in done]
        if not missing:
            return Ending.COMPLETE
        if not self._warm_up():
            return Ending.FAILED
        spoilt = sum(found.status == "invalid" for found in self.history.rounds())
        for pair in missing:
            ending, spoilt = self._pair(pair, spoilt)
            if ending is not None:
                return ending
        return Ending.COMPLETE

    def _warm_up(self) -> bool:
        session = len(self.history.sessions) + 1
        warm_ups = [step for step in self.steps if step.kind == "warmup"]
        return all(self._attempt(step, session).status == "ok" for step in warm_ups)

    def _pair(self, pair: int, spoilt: int) -> tuple[Ending | None, int]:
        """Run one pair until a round of it is valid; the order of its arms never changes."""
        halves = [step for step in self.steps if step.kind == "sample" and step.number == pair]
        round_ = max((found.round for found in self.history.rounds() if found.pair == pair), default=0)
        waits = 0
        while True:
            if spoilt >= INVALIDATION_LIMIT:
                return Ending.EXHAUSTED, spoilt
            round_ += 1
            attempts = self._round(halves, round_)
            if attempts[-1].status == "failed":
                return Ending.FAILED, spoilt
            causes = detect(attempts, cpus=self.bench.cpus, declared=self.declared, stopped=self.bench.stopped())
            self._judge(pair, round_, (attempt.attempt for attempt in attempts), causes)
            if not causes:
                return None, spoilt
            spoilt += 1
            seconds = min(LONGEST_WAIT_S, 0.25 * 2**waits)
            waits += 1
            self.record.write("note", text="waited for the node to become quiet", seconds=seconds)
            self.bench.wait(seconds)

    def _round(self, halves: Sequence[Step], round_: int) -> list[Attempt]:
        """Both halves, or the first alone when the product failed in it; an eviction is judged on the way out."""
        self.bench.stopped()  # what happened between pairs concerns none of them
        first = self._attempts + 1
        attempts: list[Attempt] = []
        try:
            for step in halves:
                attempts.append(self._attempt(step, round_))
                if attempts[-1].status == "failed":
                    break
        except Evicted as notice:
            if "scheduler_eviction" in self.declared:
                cause = Cause("scheduler_eviction", halves[len(attempts)].arm, notice.message)
                self._judge(halves[0].number, round_, range(first, self._attempts + 1), (cause,))
            raise
        return attempts

    def _judge(self, pair: int, round_: int, attempts: Iterable[int], causes: Sequence[Cause]) -> None:
        self.record.write(
            "pair",
            pair=pair,
            round=round_,
            attempts=list(attempts),
            status="invalid" if causes else "valid",
            causes=[cause.to_json() for cause in causes],
        )
        if causes:
            self.say(f"pair {pair}: invalidated, {causes[0].cause}: {causes[0].evidence}; both halves run again")
        elif pair % 10 == 0:
            self.say(f"pair {pair} of {PAIRS}")

    def _attempt(self, step: Step, round_: int) -> Attempt:
        """One process, announced in the record before it starts and closed in it however it ends."""
        self._attempts += 1
        number = self._attempts
        self.record.write(
            "attempt",
            attempt=number,
            kind=step.kind,
            arm=step.arm,
            number=step.number,
            round=round_,
            position=step.position,
        )
        try:
            measured = self.bench.measure(step.arm)
        except BaseException as stop:
            self.record.write("interrupted", attempt=number, error=_one_line(stop))
            raise
        status = "ok" if measured.error is None else "failed"
        attempt = Attempt(
            attempt=number,
            session=len(self.history.sessions) + 1,
            kind=step.kind,
            arm=step.arm,
            number=step.number,
            round=round_,
            position=step.position,
            status=status,
        )
        self._close(number, status, measured)
        return replace(
            attempt,
            error=measured.error,
            timing=measured.timing,
            process=measured.process,
            before=measured.before,
            after=measured.after,
        )

    def _close(self, number: int, status: str, measured: Measured) -> None:
        fields: dict[str, object] = {
            "process": measured.process.to_json(),
            "before": measured.before.to_json(),
            "after": measured.after.to_json(),
        }
        if measured.timing is not None:
            fields["timing"] = measured.timing
        if measured.error is not None:
            fields["error"] = measured.error
        self.record.write("finished", attempt=number, status=status, **fields)


def _one_line(error: BaseException) -> str:
    return " ".join((str(error) or type(error).__name__).split())
