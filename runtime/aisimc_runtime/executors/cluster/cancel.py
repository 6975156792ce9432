"""Ending what one campaign has in the queue, and nothing else.

Jobs are looked up by the names that this run recorded before it submitted them. A number is never trusted alone: the
scheduler hands numbers out again, and what is cancelled must carry the name.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from aisimc_runtime.executors.cluster.port import Answer, JobView, Known, Scheduler, T
from aisimc_runtime.executors.cluster.shared import Campaign, RowPlace
from aisimc_runtime.executors.cluster.submit import Try, tries

PAUSES_S = (1.0, 2.0, 4.0, 8.0)
"""Between tries while the scheduler gives no answer: a restarting controller is back within these."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a cancellation."""

    ended: tuple[tuple[RowPlace, Try], ...] = ()
    """Tries whose job was in the queue and was told to end, or was not there any more."""
    jobs: tuple[str, ...] = ()
    """The jobs that were told to end."""
    unclear: str = ""
    """Why it is not known what became of them; empty when it is."""


def cancel_tries(
    campaign: Campaign, scheduler: Scheduler, places: Sequence[RowPlace], sleep: Callable[[float], None]
) -> Outcome:
    """Cancel the jobs of these rows, found by name. Waits out a scheduler that is away for a few seconds."""
    known = [(place, one) for place in places for one in tries(place)]
    known = [(place, one) for place, one in known if one.name.startswith(f"aisimc-{campaign.token}-")]
    if not known:
        return Outcome()
    found = _patiently(lambda: scheduler.find([one.name for _, one in known]), sleep)
    if not isinstance(found, Known):
        return Outcome(unclear=found.reason)
    jobs = jobs_to_end([one.name for _, one in known], found.value)
    if jobs:
        told = _patiently(lambda: scheduler.cancel(jobs), sleep)
        if not isinstance(told, Known):
            return Outcome(unclear=told.reason)
    return Outcome(tuple((place, one) for place, one in known if one.over is None), jobs)


def jobs_to_end(names: Sequence[str], found: Sequence[JobView]) -> tuple[str, ...]:
    """The jobs among `found` that carry one of the names and have not ended. Pure."""
    wanted = set(names)
    return tuple(view.job for view in found if view.name in wanted and not view.phase.ended)


def _patiently(ask: Callable[[], Answer[T]], sleep: Callable[[float], None]) -> Answer[T]:
    answer = ask()
    for pause_s in PAUSES_S:
        if isinstance(answer, Known):
            break
        sleep(pause_s)
        answer = ask()
    return answer
