"""The executor's loop: submit rows, look at all of them with one question each round, collect, until each has its end.

Every decision is `states.look`'s; this module only asks, does and tells. It may be killed at any point: what it needs
to go on stands in the run folder and in the shared one, and a second harness attaches to what the first submitted.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from aisimc_runtime.executors.base import Note, RowBlocked, RowEvent
from aisimc_runtime.executors.cluster import submit as submitting
from aisimc_runtime.executors.cluster.bundle import Broken, Checked, check_bundle
from aisimc_runtime.executors.cluster.cancel import Outcome, cancel_tries
from aisimc_runtime.executors.cluster.collect import collect, collected
from aisimc_runtime.executors.cluster.memory import Entry, Health, Terms
from aisimc_runtime.executors.cluster.port import (
    JobAnswer,
    Known,
    Phase,
    Scheduler,
    SubmitAnswer,
    SubmitLater,
    SubmitRefused,
    Submitted,
    Unknown,
)
from aisimc_runtime.executors.cluster.replays import row_events
from aisimc_runtime.executors.cluster.shared import Campaign
from aisimc_runtime.executors.cluster.staging import identity, share_row
from aisimc_runtime.executors.cluster.states import Row, Seen, State, look
from aisimc_runtime.executors.cluster.submit import Try
from aisimc_runtime.failures import Blocked, Interrupted
from aisimc_runtime.run.job import RowJob

SLOWEST_POLL_S = 60.0
"""While the scheduler is away it is asked less and less often, but never more seldom than this."""


class Loop:
    """One run of rows on one cluster."""

    def __init__(self, jobs: Sequence[RowJob], campaign: Campaign, scheduler: Scheduler, terms: Terms) -> None:
        self._campaign = campaign
        self._scheduler = scheduler
        self._terms = terms
        self._entries = [Entry(job, campaign.row(job.row), identity(job)) for job in jobs]
        self._health = Health(terms.clock())
        self._poll_s = terms.poll_s

    def run(self) -> Iterator[RowEvent]:
        """Yield what happens until each row has its end. Closing it cancels what this campaign has in the queue."""
        self._campaign.forget_cancel()
        try:
            for entry in self._entries:
                yield from self._attach(entry)
            yield from self._submit_more()
            while any(not entry.done for entry in self._entries):
                if self._campaign.cancelled:
                    raise Interrupted("`aisimc cancel` ended this run's jobs", help="`aisimc run` again takes it up")
                yield from self._look_around()
                yield from self._submit_more()  # an allocation that came free is used before the pause, not after
                if any(not entry.done for entry in self._entries):
                    self._give_up_or_wait()
        except GeneratorExit:
            self._cancel()
            raise
        except (KeyboardInterrupt, Interrupted) as asked:
            raise self._interrupted(asked, self._cancel()) from asked

    # --- taking up what an earlier harness left -------------------------------------------------------------------

    def _attach(self, entry: Entry) -> Iterator[RowEvent]:
        """Take up the row where an earlier harness left it."""
        facts = collected(entry.place)
        if facts is not None:
            entry.done = True
            yield from row_events(entry.job, str(facts.get("node", "")))
            return
        known = submitting.tries(entry.place)
        if known and known[-1].over is None and known[-1].identity != entry.identity:
            yield from self._end_stale(entry, known[-1])
        elif known and known[-1].over is None:
            entry.current = known[-1]
            if known[-1].job is not None:
                text = f"row {entry.job.row}: attached to job {known[-1].job}"
                yield Note(text, entry.job.row, {"job": known[-1].job, "attached": True})
            return
        yield from self._attach_to_result(entry)

    def _end_stale(self, entry: Entry, one: Try) -> Iterator[RowEvent]:
        """A job of this run that was made from other bytes than the run has now: nothing of it can be used."""
        cancel_tries(self._campaign, self._scheduler, [entry.place], self._terms.sleep)
        submitting.end_try(entry.place, one.name, "made from other bytes", _now())
        yield Note(f"row {entry.job.row}: job {one.job} was made from other bytes and is cancelled", entry.job.row)

    def _attach_to_result(self, entry: Entry) -> Iterator[RowEvent]:
        """A result of a try that was given up: taken when it is whole and of these bytes, else kept aside."""
        found = check_bundle(entry.place.result)
        if isinstance(found, Checked) and found.manifest.get("identity") == entry.identity:
            yield from self._collect(entry)
        elif found is not None:
            why = found.reason if isinstance(found, Broken) else "it was made from other bytes"
            text = (
                f"row {entry.job.row}: its earlier result is kept as {entry.place.set_aside()} ({why}); it runs again"
            )
            yield Note(text, entry.job.row)

    # --- submitting -----------------------------------------------------------------------------------------------

    def _submit_more(self) -> Iterator[RowEvent]:
        """Recover unclear submissions, then fill the allocations that are free."""
        yield from self._recover()
        for entry in self._entries:
            if entry.done or entry.current is not None:
                continue
            if sum(other.current is not None and not other.done for other in self._entries) >= self._terms.in_flight:
                return
            answer = self._submit(entry)
            if isinstance(answer, Submitted):
                yield self._submitted(entry, answer.job)
            elif isinstance(answer, SubmitRefused):
                yield from self._refused(entry, answer)
            else:
                self._health = self._health._replace(reason=answer.reason)
                yield from self._tell(entry, replace(entry.row, state=State.UNKNOWN, line=answer.reason))
                return

    def _submit(self, entry: Entry) -> SubmitAnswer:
        number = max((known.number for known in submitting.tries(entry.place)), default=0) + 1
        place = share_row(self._campaign, entry.job)
        submitting.write_script(self._campaign, place, self._terms.around)
        request = submitting.request_for(self._campaign, place, number, self._terms.cpus)
        one = Try(number, request.name, None, entry.identity)
        answer = submitting.submit(self._scheduler, place, request, one, _now())
        if isinstance(answer, (SubmitRefused, SubmitLater)):
            entry.current = None
        else:
            entry.current = replace(one, job=answer.job if isinstance(answer, Submitted) else None)
        entry.row = Row()
        return answer

    def _submitted(self, entry: Entry, job: str) -> Note:
        title = self._scheduler.title
        return Note(f"row {entry.job.row}: job {job} submitted to {title}", entry.job.row, {"job": job})

    def _refused(self, entry: Entry, answer: SubmitRefused) -> Iterator[RowEvent]:
        """A refusal of the first row is one of them all: nothing was started, so it ends the campaign at once."""
        failure = self._terms.explain(answer)
        if not any(other.current is not None or other.done for other in self._entries):
            raise failure
        yield from self._blocked(entry, failure.message)

    def _recover(self) -> Iterator[RowEvent]:
        """Find jobs whose submission was begun and never answered."""
        unclear = [entry for entry in self._entries if not entry.done and entry.current and entry.current.job is None]
        answers = submitting.recover(self._scheduler, [(e.place, e.current) for e in unclear if e.current])
        for entry in unclear:
            answer = answers[entry.job.row]
            assert entry.current is not None
            if isinstance(answer, Submitted):
                submitting.settle(entry.place, entry.current.name, answer, _now())
                entry.current = replace(entry.current, job=answer.job)
                yield Note(f"row {entry.job.row}: found its job {answer.job} again", entry.job.row, {"job": answer.job})
            elif isinstance(answer, SubmitRefused):
                submitting.end_try(entry.place, entry.current.name, answer.reason, _now())
                entry.current = None

    # --- looking --------------------------------------------------------------------------------------------------

    def _look_around(self) -> Iterator[RowEvent]:
        """One look at every row in flight: one question to the queue, at most one to accounting."""
        flying = [(e, e.current.job) for e in self._entries if not e.done and e.current and e.current.job]
        jobs = [job for _, job in flying]
        queue = self._scheduler.queue(jobs) if jobs else {}
        doubtful = [job for job in jobs if not _in_queue(queue[job])]
        accounting = self._scheduler.accounting(doubtful) if doubtful else {}
        now = self._terms.clock()
        for entry, job in flying:
            entry.view = answer.value if isinstance(answer := queue[job], Known) else None
            seen = Seen(
                now, queue[job], accounting.get(job, Unknown("not asked")), entry.place.files(entry.identity, job)
            )
            before = entry.row
            entry.row = look(before, seen, self._terms.patience)
            if entry.row.beat_at_s == now and before.beat_at_s != now:
                self._health = Health(now)
            yield from self._act(entry)
        self._note_health(queue, now)

    def _note_health(self, queue: Mapping[str, JobAnswer], now: float) -> None:
        unknown = [answer.reason for answer in queue.values() if isinstance(answer, Unknown)]
        if len(unknown) < len(queue):
            self._health = Health(now)
        elif unknown:
            self._health = self._health._replace(reason=unknown[0])
        away = bool(unknown) and len(unknown) == len(queue)
        self._poll_s = min(self._poll_s * 2, max(SLOWEST_POLL_S, self._terms.poll_s)) if away else self._terms.poll_s

    def _act(self, entry: Entry) -> Iterator[RowEvent]:
        """Do what the row's state asks for."""
        row = entry.row
        if row.state is State.FINISHED:
            yield from self._collect(entry)
        elif row.final and row.state is State.LOST:
            yield from self._lost(entry)
        elif row.final:
            self._end_try(entry, row.line)
            yield from self._blocked(entry, row.line)
        else:
            yield from self._tell(entry, row)

    def _lost(self, entry: Entry) -> Iterator[RowEvent]:
        """A row that lost its node runs again whole, on one node, a bounded number of times."""
        line = entry.row.line
        if entry.view is not None and entry.view.phase is Phase.HELD:
            self._scheduler.cancel([entry.view.job])  # whoever released it later would start the row twice
        self._end_try(entry, line)
        entry.lost += 1
        if entry.lost > self._terms.reruns:
            yield from self._blocked(entry, f"{line}; that was the {_nth(entry.lost)} time, so it is left alone")
            return
        entry.current = None
        yield Note(f"row {entry.job.row}: {line}; it runs again whole", entry.job.row, {"lost": line})

    def _blocked(self, entry: Entry, line: str) -> Iterator[RowEvent]:
        entry.done = True
        yield RowBlocked(entry.job.row, line if f"row {entry.job.row}" in line else f"row {entry.job.row}: {line}")

    def _end_try(self, entry: Entry, reason: str) -> None:
        assert entry.current is not None
        submitting.end_try(entry.place, entry.current.name, reason, _now())

    def _collect(self, entry: Entry) -> Iterator[RowEvent]:
        entry.done = True
        try:
            facts = collect(entry.place, entry.identity)
        except Blocked as failure:
            yield from self._blocked(entry, failure.message)
            return
        self._end_needless(entry, str(facts.get("attempt", "")))
        yield from row_events(entry.job, str(facts.get("node", "")))

    def _end_needless(self, entry: Entry, attempt: str) -> None:
        """A result that a given-up node brought after all makes the job that was to replace it needless."""
        view = entry.view
        waits = view is not None and view.phase in (Phase.WAITING, Phase.HELD)
        repeats = view is not None and view.phase is Phase.RUNNING and entry.row.attempt not in ("", attempt)
        if view is not None and (waits or repeats):
            self._scheduler.cancel([view.job])

    def _tell(self, entry: Entry, row: Row) -> Iterator[RowEvent]:
        """Tell what is new about a row."""
        if entry.is_news(row, self._terms.clock()):
            yield Note(f"row {entry.job.row}: {row.line}", entry.job.row, {"state": row.state.value})

    # --- ending ---------------------------------------------------------------------------------------------------

    def _give_up_or_wait(self) -> None:
        """Sleep until the next round, or go away when nothing was heard for too long. Nothing is cancelled then."""
        silent_s = self._terms.clock() - self._health.heard_at_s
        if silent_s > self._terms.give_up_s:
            why = self._health.reason or "no answer"
            raise Blocked(
                f"no word from {self._scheduler.title} for {silent_s / 60:.0f} min: {why}",
                help="nothing was cancelled and nothing is lost: `aisimc run` again attaches to what is there",
            )
        self._terms.sleep(self._poll_s)

    def _cancel(self) -> Outcome:
        """End what this campaign has in the queue."""
        open_places = [entry.place for entry in self._entries if not entry.done]
        outcome = cancel_tries(self._campaign, self._scheduler, open_places, self._terms.sleep)
        for place, known in outcome.ended:
            submitting.end_try(place, known.name, "cancelled by this campaign", _now())
        return outcome

    def _interrupted(self, asked: BaseException, outcome: Outcome) -> Interrupted:
        """The interruption, with what became of the jobs."""
        said = asked.message if isinstance(asked, Interrupted) else "interrupted; what was collected is kept"
        if outcome.unclear:
            again = (
                f"`aisimc cancel {shlex.quote(str(self._campaign.run_folder))}` when {self._scheduler.title} answers"
            )
            return Interrupted(f"{said}; it is not known whether its jobs ended: {outcome.unclear}", help=again)
        count = len(outcome.jobs)
        ended = f"; {count} job{'s' * (count != 1)} cancelled" if count else ""
        return Interrupted(said + ended, help=asked.help if isinstance(asked, Interrupted) else "run it again to go on")


def _in_queue(answer: JobAnswer) -> bool:
    return isinstance(answer, Known) and answer.value is not None and not answer.value.phase.ended


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def _nth(number: int) -> str:
    return {1: "first", 2: "second", 3: "third"}.get(number, f"{number}th")
