"""What is to be done about a row, from what was seen of it: examples of every answer."""

from __future__ import annotations

from aisimc_runtime.executors.cluster.port import Contradictory, JobAnswer, JobView, Known, Phase, Unknown
from aisimc_runtime.executors.cluster.states import Bundle, Files, Patience, Row, Seen, State, look

PATIENCE = Patience(settle_s=10, beat_s=2)
NOTHING = Known(Files())
AWAY = Unknown("squeue: Unable to contact slurm controller")


def view(phase: Phase, word: str, reason: str = "", may_return: bool = False) -> Known[JobView | None]:
    return Known(JobView("7", phase, word, reason, "node1", "x", may_return))


RUNNING = view(Phase.RUNNING, "RUNNING")
NODE_FAIL = view(Phase.LOST, "NODE_FAIL", "NodeDown")
GONE: JobAnswer = Known(None)


def after(*looks: tuple[float, JobAnswer, JobAnswer, Known[Files] | Unknown], row: Row | None = None) -> Row:
    row = row or Row()
    for at_s, queue, accounting, files in looks:
        row = look(row, Seen(at_s, queue, accounting, files), PATIENCE)
    return row


def stood(queue: JobAnswer, accounting: JobAnswer = AWAY, files: Known[Files] | Unknown = NOTHING) -> Row:
    """The row after the same look for longer than the grace."""
    return after(*((float(at), queue, accounting, files) for at in (0, 5, 11)))


def test_a_whole_result_is_a_finished_row_whatever_the_scheduler_says() -> None:
    whole = Known(Files(bundle=Bundle.WHOLE, node="node1"))
    for queue in (RUNNING, NODE_FAIL, GONE, AWAY, Contradictory("two lines"), view(Phase.FAILED, "FAILED")):
        assert after((0, queue, AWAY, whole)).state is State.FINISHED


def test_no_word_of_the_scheduler_passes_a_row() -> None:
    row = stood(view(Phase.COMPLETED, "COMPLETED"))
    assert (row.state, row.final) == (State.CONTRADICTORY, True)
    assert row.line == "job 7 is called completed on node1, yet there is no result in the shared folder"


def test_waiting_and_running_are_told_with_their_reason() -> None:
    assert after((0, view(Phase.WAITING, "PENDING", "Priority"), AWAY, NOTHING)).line == (
        "job 7 waits in the queue (Priority)"
    )
    assert after((0, RUNNING, AWAY, NOTHING)).line == "job 7 runs on node1"


def test_a_job_that_could_not_be_started_and_is_held_is_lost_after_the_grace() -> None:
    held = view(Phase.HELD, "PENDING", "launch failed requeued held")
    assert after((0, held, AWAY, NOTHING)).state is State.UNKNOWN
    row = stood(held)
    assert (row.state, row.final) == (State.LOST, True)
    assert row.line == "job 7 could not be started and is held (PENDING, launch failed requeued held)"
    waiting = view(Phase.WAITING, "PENDING", "JobHeldUser")
    assert stood(waiting).state is State.QUEUED, "what a person held, a person releases"


def test_a_node_failure_counts_after_the_grace_and_never_before() -> None:
    row = after((0, NODE_FAIL, AWAY, NOTHING), (9.9, NODE_FAIL, AWAY, NOTHING))
    assert (row.state, row.final) == (State.UNKNOWN, False)
    row = after((10, NODE_FAIL, AWAY, NOTHING), row=row)
    assert (row.state, row.final) == (State.LOST, True)
    assert row.line == "job 7 lost its node on node1 (NODE_FAIL, NodeDown)"


def test_a_lost_node_whose_heart_still_beats_is_waited_for() -> None:
    beats = [Known(Files(attempt="7.0", node="node1", beats=count)) for count in range(1, 20)]
    row = after(*((float(2 * i), NODE_FAIL, AWAY, files) for i, files in enumerate(beats)))
    assert not row.final
    still = beats[-1]
    row = after((60, NODE_FAIL, AWAY, still), (72, NODE_FAIL, AWAY, still), row=row)
    assert (row.state, row.final) == (State.LOST, True)


def test_a_controller_that_is_away_ends_nothing_however_long() -> None:
    row = after(*((float(at), AWAY, AWAY, NOTHING) for at in range(0, 36000, 60)))
    assert (row.state, row.final) == (State.UNKNOWN, False)


def test_a_beating_heart_is_news_while_the_controller_is_away() -> None:
    row = after(
        (0, RUNNING, AWAY, Known(Files(attempt="7.0", node="node1", beats=1))),
        (2, AWAY, AWAY, Known(Files(attempt="7.0", node="node1", beats=2))),
    )
    assert row.state is State.RUNNING
    assert row.deaf
    assert row.line == "runs on node1, by its own heartbeat; squeue: Unable to contact slurm controller"


def test_accounting_may_end_a_row_for_a_controller_that_is_away_unless_a_requeue_may_follow() -> None:
    assert stood(AWAY, view(Phase.FAILED, "FAILED")).state is State.BLOCKED
    assert stood(AWAY, view(Phase.LOST, "PREEMPTED", may_return=True)).state is State.UNKNOWN


def test_a_job_that_nobody_knows_and_that_left_nothing_is_lost() -> None:
    row = stood(GONE, GONE)
    assert (row.state, row.line) == (State.LOST, "its job is gone from the queue and left no result")


def test_a_job_that_nobody_knows_but_whose_heart_beats_is_a_contradiction() -> None:
    row = after((0, GONE, AWAY, Known(Files(attempt="7.0", beats=3))))
    assert (row.state, row.final) == (State.CONTRADICTORY, False)


def test_a_shared_folder_that_cannot_be_read_ends_nothing() -> None:
    gone = Unknown("the shared folder cannot be read")
    for queue in (GONE, NODE_FAIL, view(Phase.FAILED, "FAILED"), view(Phase.COMPLETED, "COMPLETED")):
        row = stood(queue, files=gone)
        assert (row.state, row.final) == (State.UNKNOWN, False)


def test_a_result_that_does_not_hold_is_said_and_kept() -> None:
    broken = Known(Files(bundle=Bundle.BROKEN, broken="a.json is missing"))
    assert after((0, RUNNING, AWAY, broken)).final is False
    row = stood(view(Phase.COMPLETED, "COMPLETED"), files=broken)
    assert (row.state, row.final, row.line) == (
        State.CONTRADICTORY,
        True,
        "its result does not hold: a.json is missing",
    )


def test_the_job_s_own_line_says_why_it_failed() -> None:
    files = Known(Files(attempt="7.0", node="node1", failure="the staging folder /tmp on node1 is full: 0.1 MiB free"))
    row = stood(view(Phase.FAILED, "FAILED", "NonZeroExitCode"), files=files)
    assert (row.state, row.line) == (State.BLOCKED, "the staging folder /tmp on node1 is full: 0.1 MiB free")


def test_limits_are_named() -> None:
    assert stood(view(Phase.TIME_LIMIT, "TIMEOUT")).line == "job 7 reached its time limit on node1"
    assert stood(view(Phase.MEMORY_LIMIT, "OUT_OF_MEMORY")).line == "job 7 ran out of memory on node1"


def test_cancelled_from_outside_is_not_made_again_unasked() -> None:
    row = stood(view(Phase.CANCELLED, "CANCELLED"))
    assert (row.state, row.line) == (State.BLOCKED, "job 7 was cancelled from outside on node1")


def test_queue_and_accounting_with_two_ends_of_one_job_are_a_contradiction() -> None:
    row = stood(view(Phase.CANCELLED, "CANCELLED"), view(Phase.COMPLETED, "COMPLETED"))
    assert (row.state, row.final) == (State.CONTRADICTORY, True)
    assert row.line == "the queue says that job 7 ended as CANCELLED, accounting says COMPLETED"


def test_a_requeued_row_says_that_its_node_gave_it_up() -> None:
    started = Known(Files(attempt="7.0", node="node1", beats=1))
    row = after((0, RUNNING, AWAY, started), (2, view(Phase.WAITING, "PENDING", "BeginTime"), AWAY, started))
    assert (row.state, row.line) == (State.QUEUED, "job 7 waits in the queue (BeginTime), after node1 gave it up")


def test_a_row_that_started_while_it_was_looked_at_was_not_given_up() -> None:
    started = Known(Files(attempt="7.0", node="node1", beats=1))
    row = after((0, view(Phase.WAITING, "PENDING", "Priority"), AWAY, started))
    assert row.line == "job 7 waits in the queue (Priority)"


def test_doubt_starts_again_when_the_job_is_seen_in_between() -> None:
    row = after((0, GONE, AWAY, NOTHING), (9, RUNNING, AWAY, NOTHING), (11, GONE, AWAY, NOTHING))
    assert not row.final
