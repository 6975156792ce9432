"""Which commands are run, and what becomes of a cluster that keeps no accounts or does not answer."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from aisimc_runtime.executors.cluster.port import (
    JobView,
    Known,
    Phase,
    Request,
    SubmitRefused,
    Submitted,
    SubmitUnclear,
    Unknown,
)
from aisimc_runtime.executors.slurm.client import SlurmScheduler, command_environment
from aisimc_runtime.executors.slurm.settings import SlurmSettings
from aisimc_runtime.ports.processes import Finished
from tests.unit.runtime.cluster import recorded
from tests.unit.runtime.cluster.recorded import QUEUE, Said

REQUEST = Request("aisimc-t-a-1", "aisimc run=r row=a", Path("/s/row.sh"), Path("/s/log.txt"), Path("/s"), 4)


class Commands:
    """Remembers what was run and answers from a list."""

    def __init__(self, *answers: Said | Finished) -> None:
        self.answers = list(answers)
        self.run: list[list[str]] = []

    def __call__(self, argv: Sequence[str], timeout_s: float) -> Finished:
        self.run.append(list(argv))
        answer = self.answers.pop(0)
        return answer if isinstance(answer, Finished) else Finished(*answer)


def scheduler(commands: Commands, **settings: object) -> SlurmScheduler:
    return SlurmScheduler(SlurmSettings(shared=Path("/s"), **settings), commands)  # type: ignore[arg-type]


def test_a_submission_carries_the_profile_and_its_own_name() -> None:
    commands = Commands(recorded.TAKEN)
    chosen = {"partition": "main", "account": "lab", "memory_mib": 512, "options": ("--qos=night",), "time_min": 90}
    assert scheduler(commands, **chosen).submit(REQUEST) == Submitted("17")
    (argv,) = commands.run
    assert argv[:2] == ["sbatch", "--parsable"]
    assert {"--partition=main", "--account=lab", "--mem=512M", "--qos=night", "--time=90", "--requeue"} <= set(argv)
    assert {"--nodes=1", "--ntasks=1", "--cpus-per-task=4", "--job-name=aisimc-t-a-1"} <= set(argv)
    assert argv[-1] == "/s/row.sh"
    assert argv.index("--qos=night") < argv.index("--job-name=aisimc-t-a-1"), "what aisimc sets comes last and wins"


def test_a_submission_without_an_answer_is_unclear() -> None:
    assert isinstance(scheduler(Commands(Finished(-9, "", "", True))).submit(REQUEST), SubmitUnclear)


def test_a_probe_refuses_only_what_slurm_refuses() -> None:
    assert isinstance(scheduler(Commands(recorded.TOO_MANY_CPUS)).probe(REQUEST), SubmitRefused)
    assert scheduler(Commands(recorded.SUBMIT_AWAY)).probe(REQUEST) is None
    commands = Commands(Said(0, "", "sbatch: Job 14 to start at ..."))
    assert scheduler(commands).probe(REQUEST) is None
    assert commands.run[0][-1] == "--wrap=true"


def test_all_jobs_are_one_question() -> None:
    commands = Commands(Said(0, f"{QUEUE['running']}\n{QUEUE['completed']}\n"))
    answers = scheduler(commands).queue(["3", "1", "9"])
    assert commands.run[0][-2:] == ["-j", "3,1,9"]
    assert answers["9"] == Known(None)


def test_a_command_that_never_answers_is_unknown() -> None:
    late = Finished(-9, "", "", True)
    assert isinstance(scheduler(Commands(late)).queue(["3"])["3"], Unknown)
    assert isinstance(scheduler(Commands(late)).accounting(["3"])["3"], Unknown)
    assert isinstance(scheduler(Commands(late)).find(["x"]), Unknown)
    assert isinstance(scheduler(Commands(late)).cancel(["3"]), Unknown)


def test_a_cluster_without_accounts_is_asked_once() -> None:
    commands = Commands(recorded.ACCOUNTING_OFF)
    slurm = scheduler(commands)
    expected = {"3": Unknown("sacct: Slurm accounting storage is disabled")}
    assert slurm.accounting(["3"]) == expected
    assert slurm.accounting(["3"]) == expected
    assert len(commands.run) == 1


def test_a_database_that_is_away_is_asked_again() -> None:
    commands = Commands(recorded.DATABASE_AWAY, Said(0, ""))
    slurm = scheduler(commands)
    assert isinstance(slurm.accounting(["3"])["3"], Unknown)
    assert slurm.accounting(["3"]) == {"3": Known(None)}


def test_jobs_are_found_by_name_among_this_user_s() -> None:
    commands = Commands(Said(0, QUEUE["running"] + "\n"))
    found = scheduler(commands).find(["aisimc-r-to", "other"])
    assert found == Known((JobView("3", Phase.RUNNING, "RUNNING", "", "node2", "aisimc-r-to"),))
    assert "--name=aisimc-r-to,other" in commands.run[0]
    assert any(word.startswith("--user=") for word in commands.run[0])


def test_cancelling_what_is_gone_is_no_failure() -> None:
    assert scheduler(Commands(recorded.CANCEL_GONE)).cancel(["99"]) == Known(None)
    away = scheduler(Commands(recorded.CANCEL_AWAY)).cancel(["17"])
    assert isinstance(away, Unknown)
    assert "Unable to contact slurm controller" in away.reason


def test_the_environment_of_commands_has_no_filters_and_no_enclosing_allocation() -> None:
    given = {
        "PATH": "/bin",
        "SQUEUE_FORMAT": "%i",
        "SACCT_FORMAT": "jobid",
        "SCANCEL_INTERACTIVE": "1",
        "SLURM_JOB_ID": "12",
        "SLURM_CPUS_PER_TASK": "64",
        "SLURM_CONF": "/etc/slurm.conf",
        "SBATCH_ACCOUNT": "lab",
    }
    assert command_environment(given) == {
        "PATH": "/bin",
        "SLURM_CONF": "/etc/slurm.conf",
        "SBATCH_ACCOUNT": "lab",
        "LC_ALL": "C",
        "SLURM_TIME_FORMAT": "standard",
    }
