"""Reading Slurm: every recorded answer is known, unknown or contradictory, and means what it means."""

from __future__ import annotations

import pytest

from aisimc_runtime.executors.cluster.port import (
    Contradictory,
    JobView,
    Known,
    Phase,
    SubmitLater,
    SubmitRefused,
    Submitted,
    SubmitUnclear,
    Unknown,
)
from aisimc_runtime.executors.slurm import parse
from tests.unit.runtime.cluster import recorded
from tests.unit.runtime.cluster.recorded import ACCOUNT, QUEUE, Said


def queue(line: str) -> object:
    job = line.split("|", 1)[0]
    return parse.queue_answers([job], 0, line + "\n", "")[job]


def account(lines: str) -> object:
    job = lines.split("|", 1)[0]
    return parse.account_answers([job], 0, lines + "\n", "")[job]


@pytest.mark.parametrize(
    ("name", "phase"),
    [
        ("running", Phase.RUNNING),
        ("completed", Phase.COMPLETED),
        ("failed", Phase.FAILED),
        ("launch failed", Phase.LOST),
        ("launch failed, held", Phase.HELD),
        ("bad constraints", Phase.FAILED),
        ("cancelled", Phase.CANCELLED),
        ("cancelled while held", Phase.CANCELLED),
        ("requeued", Phase.WAITING),
        ("unsatisfiable", Phase.WAITING),
        ("held", Phase.WAITING),
        ("node failed", Phase.LOST),
        ("preempted", Phase.LOST),
        ("timeout", Phase.TIME_LIMIT),
        ("out of memory", Phase.MEMORY_LIMIT),
        ("completing", Phase.ENDING),
    ],
)
def test_the_queue_s_words(name: str, phase: Phase) -> None:
    answer = queue(QUEUE[name])
    assert isinstance(answer, Known)
    assert answer.value.phase is phase


def test_a_view_holds_what_people_need() -> None:
    assert queue(QUEUE["requeued"]) == Known(
        JobView("5", Phase.WAITING, "PENDING", "BeginTime", "", "aisimc-r-requeue")
    )
    assert queue(QUEUE["running"]) == Known(JobView("3", Phase.RUNNING, "RUNNING", "", "node2", "aisimc-r-to"))


def test_a_separator_in_the_name_belongs_to_the_name() -> None:
    answer = queue("7|RUNNING|None|node1|a|b|c")
    assert isinstance(answer, Known)
    assert answer.value.name == "a|b|c"


def test_a_job_that_the_controller_does_not_know_is_known_to_be_gone() -> None:
    assert parse.queue_answers(["99"], *recorded.NO_SUCH_JOB) == {"99": Known(None)}
    both = parse.queue_answers(["10", "99"], *recorded.SEVERAL_OF_THEM_GONE)
    assert isinstance(both["10"], Known)
    assert both["99"] == Known(None)


@pytest.mark.parametrize(
    "said",
    [
        recorded.AWAY,
        Said(1, "", ""),
        Said(0, "slurm is having a bad day\n"),
        Said(0, "17|RUNNING\n"),
        Said(0, "17|FLOATING|None|node1|x\n"),
        Said(127, "", "squeue: no such file or directory"),
    ],
)
def test_what_cannot_be_read_is_unknown_for_every_job(said: Said) -> None:
    answers = parse.queue_answers(["17", "18"] if "FLOATING" not in said.out else ["17"], *said)
    assert all(isinstance(answer, Unknown) and answer.reason for answer in answers.values())


def test_the_controller_s_words_are_kept() -> None:
    answer = parse.queue_answers(["17"], *recorded.AWAY)["17"]
    assert answer == Unknown("squeue: Unable to contact slurm controller (connect failure)")


def test_one_job_in_two_states_is_contradictory() -> None:
    answers = parse.queue_answers(["7"], 0, "7|RUNNING|None|node1|x\n7|PENDING|None||x\n", "")
    assert answers["7"] == Contradictory("squeue shows job 7 twice, as PENDING and RUNNING")


def test_one_job_listed_twice_alike_is_one_job() -> None:
    line = "7|RUNNING|None|node1|x\n"
    assert isinstance(parse.queue_answers(["7"], 0, line * 2, "")["7"], Known)


@pytest.mark.parametrize(
    ("name", "phase", "may_return"),
    [
        ("running", Phase.RUNNING, False),
        ("completed", Phase.COMPLETED, False),
        ("failed", Phase.FAILED, False),
        ("cancelled", Phase.CANCELLED, False),
        ("requeued just now", Phase.LOST, True),
        ("requeued", Phase.WAITING, False),
        ("requeued and running", Phase.RUNNING, False),
        ("requeued and cancelled", Phase.CANCELLED, False),
        ("node failed", Phase.LOST, True),
        ("node failed and requeued", Phase.WAITING, False),
        ("preempted", Phase.LOST, True),
        ("timeout", Phase.TIME_LIMIT, False),
    ],
)
def test_accounting_counts_the_last_life(name: str, phase: Phase, may_return: bool) -> None:
    answer = account(ACCOUNT[name])
    assert isinstance(answer, Known)
    assert (answer.value.phase, answer.value.may_return) == (phase, may_return)


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        ("5|COMPLETED|n|s|2026-11-30T01:54:13|x\n5|RUNNING|n|s|Unknown|x", "sacct shows job 5 as COMPLETED, and again"),
        ("5|COMPLETED|n|2026-11-30T01:54:13|Unknown|x", "sacct shows job 5 as COMPLETED without an end"),
        ("5|RUNNING|n|s|2026-11-30T01:54:13|x", "sacct shows job 5 as RUNNING, yet ended at 2026-11-30T01:54:13"),
    ],
)
def test_accounting_that_contradicts_itself(lines: str, reason: str) -> None:
    answer = account(lines)
    assert isinstance(answer, Contradictory)
    assert answer.reason.startswith(reason)


@pytest.mark.parametrize("said", [recorded.ACCOUNTING_OFF, recorded.DATABASE_AWAY, Said(0, "garbage\n")])
def test_accounting_that_cannot_be_asked_is_unknown(said: Said) -> None:
    assert isinstance(parse.account_answers(["5"], *said)["5"], Unknown)


def test_accounting_without_the_job_is_known_to_have_nothing() -> None:
    assert parse.account_answers(["5"], 0, "", "") == {"5": Known(None)}


def test_submissions() -> None:
    assert parse.submit_answer(*recorded.TAKEN) == Submitted("17")
    assert parse.submit_answer(*recorded.TAKEN_ON_A_CLUSTER) == Submitted("17")
    assert isinstance(parse.submit_answer(0, "", ""), SubmitUnclear)
    assert isinstance(parse.submit_answer(0, "hello\n", ""), SubmitUnclear)
    assert isinstance(parse.submit_answer(*recorded.SUBMIT_AWAY), SubmitUnclear)
    assert isinstance(parse.submit_answer(*recorded.SUBMIT_TIMED_OUT), SubmitUnclear)
    assert isinstance(parse.submit_answer(*recorded.TOO_MANY_SUBMITTED), SubmitLater)


@pytest.mark.parametrize(
    ("said", "key", "words"),
    [
        (recorded.WRONG_PARTITION, "partition", "invalid partition specified: nope; Invalid partition name specified"),
        (recorded.WRONG_ACCOUNT, "account", "Invalid account or account/partition combination specified"),
        (recorded.TRIAL_WRONG_ACCOUNT, "account", "Invalid account or account/partition combination specified"),
        (recorded.WRONG_QOS, "options", "Invalid qos specification"),
        (recorded.WRONG_FEATURE, "constraint", "Invalid feature specification"),
        (recorded.TOO_MANY_CPUS, "cpus_per_row", "Requested node configuration is not available"),
        (recorded.TOO_MUCH_MEMORY, "memory", "Memory specification can not be satisfied"),
        (recorded.WRONG_RESERVATION, "options", "Requested reservation is invalid"),
        (recorded.WRONG_OPTION, "options", "unrecognized option '--bogus'"),
        (recorded.TOO_LONG_FOR_QOS, "time", "QOSMaxWallDurationPerJobLimit"),
        (Said(1, "", "sbatch: error: something new\n"), None, "something new"),
    ],
)
def test_refusals_name_the_profile_s_key(said: Said, key: str | None, words: str) -> None:
    answer = parse.submit_answer(*said)
    assert isinstance(answer, SubmitRefused)
    assert answer.key == key
    assert answer.reason.startswith(f"sbatch: {words}")
