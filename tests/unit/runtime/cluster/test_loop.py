"""The executor's loop on a scheduler in memory and a clock that only moves when the loop sleeps."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from aisimc_runtime.executors.base import Note, ReplayFinished, RowBlocked, RowEvent, RowFinished
from aisimc_runtime.executors.cluster.loop import Loop
from aisimc_runtime.executors.cluster.memory import Terms
from aisimc_runtime.executors.cluster.port import (
    Phase,
    Request,
    SubmitAnswer,
    SubmitLater,
    SubmitRefused,
    Submitted,
    SubmitUnclear,
)
from aisimc_runtime.executors.cluster.script import Surroundings
from aisimc_runtime.executors.cluster.shared import open_campaign
from aisimc_runtime.executors.cluster.states import Patience
from aisimc_runtime.failures import Blocked, Interrupted
from aisimc_runtime.run.job import RowJob
from tests.campaigns.slurm.rows import stage
from tests.unit.runtime.cluster.simulated import SimulatedScheduler

AROUND = Surroundings(attempt="$ID.0", node="$NODE", name="$NAME", python="/usr/bin/python3")


class World:
    """A run, a cluster, and what happens at each of the loop's sleeps."""

    def __init__(self, folder: Path, *rows: str) -> None:
        self.folder = folder
        self.scheduler = SimulatedScheduler()
        self.run = folder / "runs" / "c-0123456789ab"
        self.jobs = [stage(self.run, row, folder / "gate") for row in rows]
        self.now_s = 0.0
        self.sleeps: list[float] = []
        self.turns: list[Callable[[], None]] = []

    def sleep(self, seconds: float) -> None:
        self.now_s += seconds
        self.sleeps.append(seconds)
        if len(self.sleeps) > 1000:
            raise AssertionError("the loop never ends")
        if self.turns:
            self.turns.pop(0)()

    def loop(self, jobs: list[RowJob] | None = None, **terms: object) -> Iterator[RowEvent]:
        campaign = open_campaign(self.run, self.folder / "shared", "slurm")
        chosen = Terms(
            around=AROUND,
            explain=lambda refused: Blocked(f"refused: {refused.reason}"),
            patience=Patience(settle_s=2, beat_s=1),
            poll_s=1,
            clock=lambda: self.now_s,
            sleep=self.sleep,
        )
        chosen = dataclasses.replace(chosen, **terms)  # type: ignore[arg-type]
        return Loop(jobs or self.jobs, campaign, self.scheduler, chosen).run()

    def finish(self, *jobs: str) -> Callable[[], None]:
        def turn() -> None:
            for job in jobs:
                self.scheduler.run(job)
                self.scheduler.finish(job, self.folder)

        return turn

    def nothing(self) -> None:
        """A turn in which nothing happens."""


def texts(events: list[RowEvent]) -> list[str]:
    return [
        event.text if isinstance(event, Note) else event.reason
        for event in events
        if isinstance(event, (Note, RowBlocked))
    ]


def test_rows_are_submitted_watched_and_collected(tmp_path: Path) -> None:
    world = World(tmp_path, "a", "b")
    world.turns = [world.finish("100", "101")]
    events = list(world.loop())
    assert [event.row for event in events if isinstance(event, RowFinished)] == ["a", "b"]
    assert sum(isinstance(event, ReplayFinished) for event in events) == 8
    assert world.scheduler.asked.count("queue") == 2, "one question for all rows each round"


def test_no_more_allocations_than_allowed(tmp_path: Path) -> None:
    world = World(tmp_path, "a", "b", "c")
    world.turns = [world.finish("100"), world.finish("101"), world.finish("102")]
    jobs = world.scheduler.jobs
    seen = [sum(not job.phase.ended for job in jobs.values()) for _ in world.loop(in_flight=1)]
    assert max(seen) == 1


def taken_unanswered(world: World) -> Callable[[Request], SubmitAnswer]:
    def answer(request: Request) -> SubmitAnswer:
        world.scheduler.take(request)
        return SubmitUnclear("socket timed out")

    return answer


def test_a_submission_that_got_no_answer_is_found_by_its_name(tmp_path: Path) -> None:
    world = World(tmp_path, "a")
    world.scheduler.answers = [taken_unanswered(world)]
    world.turns = [world.nothing, world.finish("100")]
    events = list(world.loop())
    assert "row a: found its job 100 again" in texts(events)
    assert list(world.scheduler.jobs) == ["100"]


def test_a_submission_that_never_arrived_is_made_again(tmp_path: Path) -> None:
    world = World(tmp_path, "a")
    world.scheduler.answers = [SubmitUnclear("connection refused")]
    world.turns = [world.nothing, world.finish("100")]
    assert isinstance(list(world.loop())[-1], RowFinished)
    assert world.scheduler.jobs["100"].request.name.endswith("-a-2")


def test_nothing_is_submitted_again_while_it_is_unclear(tmp_path: Path) -> None:
    world = World(tmp_path, "a")
    world.scheduler.answers = [taken_unanswered(world)]
    world.scheduler.away = "controller away"
    world.turns = [world.nothing] * 5 + [lambda: setattr(world.scheduler, "away", ""), world.finish("100")]
    list(world.loop())
    assert world.scheduler.asked.count("submit") == 1


def test_a_full_queue_is_waited_out(tmp_path: Path) -> None:
    world = World(tmp_path, "a")
    world.scheduler.answers = [SubmitLater("job submit limit"), SubmitLater("job submit limit")]
    world.turns = [world.nothing, world.nothing, world.finish("100")]
    assert isinstance(list(world.loop())[-1], RowFinished)


def test_the_first_refusal_ends_the_campaign_before_anything_runs(tmp_path: Path) -> None:
    world = World(tmp_path, "a", "b")
    world.scheduler.answers = [SubmitRefused("no such partition", "partition")]
    with pytest.raises(Blocked, match="refused: no such partition"):
        list(world.loop())
    assert world.scheduler.jobs == {}


def test_a_later_refusal_blocks_its_row_only(tmp_path: Path) -> None:
    world = World(tmp_path, "a", "b")
    world.scheduler.answers = [lambda request: _taken(world, request), SubmitRefused("closed")]
    world.turns = [world.finish("100")]
    events = list(world.loop())
    assert "row b: refused: closed" in texts(events)
    assert [event.row for event in events if isinstance(event, RowFinished)] == ["a"]


def _taken(world: World, request: Request) -> SubmitAnswer:
    return Submitted(world.scheduler.take(request))


def test_a_result_that_comes_after_all_ends_the_job_that_was_to_replace_it(tmp_path: Path) -> None:
    world = World(tmp_path, "a")

    def requeued_while_it_finishes() -> None:
        world.scheduler.run("100")
        world.scheduler.finish("100", tmp_path)
        world.scheduler.end("100", Phase.WAITING, "PENDING")

    world.turns = [requeued_while_it_finishes]
    assert isinstance(list(world.loop())[-1], RowFinished)
    assert world.scheduler.cancelled == ["100"]


def test_a_lost_row_runs_again_and_not_without_end(tmp_path: Path) -> None:
    world = World(tmp_path, "a")

    def lose() -> None:
        job = list(world.scheduler.jobs)[-1]
        world.scheduler.run(job)
        world.scheduler.end(job, Phase.LOST, "NODE_FAIL")

    world.turns = [lose, world.nothing, world.nothing, world.nothing] * 3
    events = list(world.loop(reruns=2))
    assert len(world.scheduler.jobs) == 3
    assert texts(events)[-1] == (
        "row a: job 102 lost its node on n1 (NODE_FAIL); that was the third time, so it is left alone"
    )


def test_a_job_that_the_scheduler_holds_after_a_failed_start_is_cancelled_and_runs_again(tmp_path: Path) -> None:
    world = World(tmp_path, "a")

    def hold() -> None:
        world.scheduler.end("100", Phase.HELD, "PENDING")

    world.turns = [hold, world.nothing, world.nothing, world.nothing, world.finish("101")]
    events = list(world.loop(reruns=2))
    assert world.scheduler.cancelled == ["100"], "released later, it would be a second job of the row"
    assert any(
        "job 100 could not be started and is held (PENDING); it runs again whole" in text for text in texts(events)
    )
    assert [event.row for event in events if isinstance(event, RowFinished)] == ["a"]


def test_a_scheduler_that_stays_away_is_left_with_everything_in_place(tmp_path: Path) -> None:
    world = World(tmp_path, "a")
    world.turns = [lambda: setattr(world.scheduler, "away", "no answer from the controller")]
    with pytest.raises(Blocked) as failure:
        list(world.loop(give_up_s=1200))
    assert failure.value.message.startswith("no word from the simulated scheduler for 2")
    assert "attaches" in failure.value.help
    assert world.scheduler.cancelled == []
    assert world.now_s >= 1200
    assert max(world.sleeps) == 60, "asked less and less often, but at least once a minute"


def test_ten_minutes_without_the_controller_are_nothing(tmp_path: Path) -> None:
    world = World(tmp_path, "a")

    def back() -> None:
        if world.now_s < 600:
            world.turns.insert(0, back)
        else:
            world.scheduler.away = ""
            world.finish("100")()

    world.turns = [lambda: setattr(world.scheduler, "away", "no answer"), back]
    assert isinstance(list(world.loop())[-1], RowFinished)
    assert world.scheduler.asked.count("submit") == 1


def test_closing_the_iterator_cancels_this_run_s_jobs_and_no_others(tmp_path: Path) -> None:
    world = World(tmp_path, "a", "b")
    other = world.scheduler.take(Request("aisimc-other-a-1", "", Path(), Path(), Path(), 1))
    events = world.loop()
    for event in events:
        if isinstance(event, Note) and event.row == "b":
            break
    events.close()  # type: ignore[attr-defined]
    assert other not in world.scheduler.cancelled
    assert world.scheduler.cancelled == ["101", "102"]


def test_an_interrupt_while_sleeping_cancels(tmp_path: Path) -> None:
    world = World(tmp_path, "a")

    def interrupt() -> None:
        raise Interrupted("ended by SIGINT")

    world.turns = [interrupt]
    with pytest.raises(Interrupted, match="ended by SIGINT; 1 job cancelled"):
        list(world.loop())
    assert world.scheduler.cancelled == ["100"]


def test_an_interrupt_that_the_scheduler_does_not_answer_says_so(tmp_path: Path) -> None:
    world = World(tmp_path, "a")

    def interrupt() -> None:
        world.scheduler.away = "controller away"
        raise Interrupted("ended by SIGINT")

    world.turns = [interrupt]
    with pytest.raises(Interrupted) as stopped:
        list(world.loop())
    assert "it is not known whether its jobs ended: controller away" in stopped.value.message
    assert stopped.value.help.startswith(f"`aisimc cancel {world.run}`")
    world.scheduler.away = ""
    world.turns = [world.finish("100")]
    assert isinstance(list(world.loop())[-1], RowFinished), "the job that may still run is attached to"


def killed_while_running(world: World) -> None:
    """A first harness that is killed once its rows are in the queue: nothing of its `finally` runs."""

    class Killed(BaseException):
        pass

    def kill() -> None:
        raise Killed

    world.turns = [kill]
    with pytest.raises(Killed):
        list(world.loop())


def test_a_second_harness_attaches(tmp_path: Path) -> None:
    world = World(tmp_path, "a")
    killed_while_running(world)
    world.turns = [world.finish("100")]
    events = list(world.loop())
    assert texts(events)[0] == "row a: attached to job 100"
    assert list(world.scheduler.jobs) == ["100"]


def test_a_collected_row_is_not_asked_about_again(tmp_path: Path) -> None:
    world = World(tmp_path, "a")
    world.turns = [world.finish("100")]
    list(world.loop())
    world.scheduler.asked.clear()
    assert isinstance(list(world.loop())[-1], RowFinished)
    assert world.scheduler.asked == []


def test_a_job_made_from_other_bytes_is_cancelled_and_its_result_not_taken(tmp_path: Path) -> None:
    world = World(tmp_path, "a")
    killed_while_running(world)
    world.finish("100")()
    (world.jobs[0].folder / "input.jsonl").write_bytes(b"other\n")
    changed = [dataclasses.replace(job, input_sha256=hashlib.sha256(b"other\n").hexdigest()) for job in world.jobs]
    world.turns = [world.finish("101")]
    events = list(world.loop(changed))
    assert "row a: job 100 was made from other bytes and is cancelled" in texts(events)
    assert any("its earlier result is kept as" in text and "other bytes" in text for text in texts(events))
    assert isinstance(events[-1], RowFinished)
