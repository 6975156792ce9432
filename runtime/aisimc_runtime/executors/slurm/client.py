"""Slurm through its own commands: sbatch, squeue, sacct, scancel, sinfo. Reading them is `parse.py`'s part."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Mapping, Sequence

from aisimc_runtime.executors.cluster.port import (
    Answer,
    JobAnswer,
    JobView,
    Known,
    Request,
    SubmitAnswer,
    SubmitRefused,
    SubmitUnclear,
    Unknown,
)
from aisimc_runtime.executors.slurm import parse
from aisimc_runtime.executors.slurm.settings import SlurmSettings
from aisimc_runtime.ports.processes import Finished, Processes

Runner = Callable[[Sequence[str], float], Finished]
COMMAND_TIMEOUT_S = 120.0
"""Above the longest that Slurm's commands wait for an answer by themselves (MessageTimeout, a few tries)."""
FILTERS = ("SQUEUE_", "SACCT_", "SCANCEL_", "SINFO_")
"""Variables that would narrow or reformat answers behind our back."""
KEPT = ("SLURM_CONF", "SLURM_CLUSTERS", "SLURM_JWT")
ACCOUNTING_OFF = "accounting storage is disabled"


class SlurmScheduler:
    """The port of `executors/cluster/port.py`, over Slurm's commands. `run` starts one command."""

    title = "Slurm"

    def __init__(self, settings: SlurmSettings, run: Runner | None = None) -> None:
        self._settings = settings
        self._run = run or _command
        self._no_accounting = ""

    def probe(self, request: Request) -> SubmitRefused | None:
        """Let Slurm judge the request without taking it; a request that no node could ever hold shows here too."""
        arguments = [*self._arguments(request)[:-1], "--wrap=true"]  # the request's own script is not written yet
        said = self._ask(["sbatch", "--test-only", *arguments])
        if said.status == 0:
            return None
        answer = parse.submit_answer(said.status, "", said.stderr or said.stdout)
        return answer if isinstance(answer, SubmitRefused) else None

    def submit(self, request: Request) -> SubmitAnswer:
        """`sbatch --parsable`. An answer that did not come leaves it unclear whether the job was taken."""
        said = self._ask(["sbatch", "--parsable", *self._arguments(request)])
        if said.timed_out:
            return SubmitUnclear("sbatch did not answer in time")
        return parse.submit_answer(said.status, said.stdout, said.stderr)

    def _arguments(self, request: Request) -> list[str]:
        settings = self._settings
        chosen = {
            "--partition": settings.partition,
            "--account": settings.account,
            "--constraint": settings.constraint,
            "--mem": f"{settings.memory_mib}M" if settings.memory_mib else None,
        }
        return [
            *(f"{name}={value}" for name, value in chosen.items() if value is not None),
            f"--time={settings.time_min}",
            "--nodes=1",
            "--ntasks=1",
            f"--cpus-per-task={request.cpus}",
            *settings.options,
            f"--job-name={request.name}",
            f"--comment={request.comment}",
            f"--output={request.log}",
            "--open-mode=append",
            f"--chdir={request.folder}",
            # a row may begin again at any time, so Slurm may restart it after a node failure or a preemption,
            # and an administrator may requeue it, also while the harness is away
            "--requeue",
            "--export=ALL",
            str(request.script),
        ]

    def queue(self, jobs: Sequence[str]) -> Mapping[str, JobAnswer]:
        """One squeue for all jobs."""
        said = self._ask(["squeue", "-h", "-a", "-t", "all", "-o", parse.QUEUE_FORMAT, "-j", ",".join(jobs)])
        if said.timed_out:
            return {job: Unknown("squeue did not answer in time") for job in jobs}
        return parse.queue_answers(jobs, said.status, said.stdout, said.stderr)

    def accounting(self, jobs: Sequence[str]) -> Mapping[str, JobAnswer]:
        """One sacct for all jobs; not asked again in this run where the cluster keeps no accounts."""
        if self._no_accounting:
            return {job: Unknown(self._no_accounting) for job in jobs}
        said = self._ask(["sacct", "-n", "-P", "-X", "-D", "-o", parse.ACCOUNT_FIELDS, "-j", ",".join(jobs)])
        if said.timed_out:
            return {job: Unknown("sacct did not answer in time") for job in jobs}
        if ACCOUNTING_OFF in said.stderr.lower() or said.status == 127:
            self._no_accounting = parse.complaint("sacct", said.status, said.stderr)
        return parse.account_answers(jobs, said.status, said.stdout, said.stderr)

    def find(self, names: Sequence[str]) -> Answer[tuple[JobView, ...]]:
        """One squeue for jobs of these names, of this user only."""
        said = self._ask(
            [
                "squeue",
                "-h",
                "-a",
                "-t",
                "all",
                "-o",
                parse.QUEUE_FORMAT,
                f"--user={os.getuid()}",
                "--name=" + ",".join(names),
            ]
        )
        if said.timed_out:
            return Unknown("squeue did not answer in time")
        return parse.found_jobs(said.status, said.stdout, said.stderr)

    def cancel(self, jobs: Sequence[str]) -> Answer[None]:
        """`scancel` of exactly these ids. A job that has ended meanwhile is what was asked for."""
        said = self._ask(["scancel", *jobs])
        if said.timed_out:
            return Unknown("scancel did not answer in time")
        if said.status != 0 and parse.UNKNOWN_JOB not in said.stderr:
            return Unknown(parse.complaint("scancel", said.status, said.stderr))
        return Known(None)

    def partitions(self) -> tuple[str, ...]:
        """The partitions that sinfo lists, for a message; empty when it says nothing."""
        said = self._ask(["sinfo", "-h", "-o", "%R"])
        return tuple(dict.fromkeys(said.stdout.split())) if said.status == 0 else ()

    def _ask(self, argv: Sequence[str]) -> Finished:
        return self._run(argv, COMMAND_TIMEOUT_S)


def missing_commands() -> tuple[str, ...]:
    """The commands of Slurm that must be on this machine's PATH and are not."""
    return tuple(name for name in ("sbatch", "squeue", "scancel") if shutil.which(name) is None)


def command_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """The environment of Slurm's commands: no filters, no formats, no traces of an allocation the harness is in."""
    kept = {name: value for name, value in environment.items() if not name.startswith(FILTERS)}
    inside = [name for name in kept if name.startswith(("SLURM_", "SLURMD_", "SRUN_")) and name not in KEPT]
    for name in inside:
        del kept[name]
    return {**kept, "LC_ALL": "C", "SLURM_TIME_FORMAT": "standard"}


def _command(argv: Sequence[str], timeout_s: float) -> Finished:
    """Run one command. In a session of its own, so that Ctrl-C in the terminal cannot cut a submission in two."""
    try:
        return Processes().run(argv, env=command_environment(os.environ), timeout_s=timeout_s)
    except OSError as error:
        return Finished(127, "", f"{argv[0]}: {os.strerror(error.errno or 0).lower()}")
