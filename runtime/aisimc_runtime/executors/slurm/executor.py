"""The Slurm executor: the cluster loop, with Slurm's commands and a profile's `slurm` section."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from aisimc_runtime.executors.base import RowEvent
from aisimc_runtime.executors.cluster.loop import Loop
from aisimc_runtime.executors.cluster.memory import Terms
from aisimc_runtime.executors.cluster.port import Request, SubmitRefused
from aisimc_runtime.executors.cluster.script import Surroundings
from aisimc_runtime.executors.cluster.shared import open_campaign
from aisimc_runtime.executors.slurm.client import SlurmScheduler, missing_commands
from aisimc_runtime.executors.slurm.settings import SlurmSettings, key_line, slurm_settings
from aisimc_runtime.failures import Blocked
from aisimc_runtime.run.job import RowJob
from aisimc_runtime.run.profile import Profile

ATTEMPT = "${SLURM_JOB_ID}.${SLURM_RESTART_COUNT:-0}"
NODE = "${SLURMD_NODENAME:-$(hostname)}"
NAME = "${SLURM_JOB_NAME}"


class SlurmExecutor:
    """One allocation per row."""

    name = "slurm"

    def check(self, profile: Profile) -> None:
        """Refuse a profile that Slurm refuses, before anything is acquired or built. Raises `Refused`, `Blocked`."""
        settings = slurm_settings(profile)
        if missing := missing_commands():
            raise Blocked(
                f"Slurm's `{missing[0]}` is not on this machine's PATH",
                help="run aisimc on a login node of the cluster",
            )
        _check_shared(settings, profile)
        scheduler = SlurmScheduler(settings)
        trial = Request(
            "aisimc-probe", "aisimc", Path("/bin/true"), Path("/dev/null"), settings.shared, settings.cpus_per_row
        )
        refused = scheduler.probe(trial)
        if refused is not None:
            raise explain(refused, profile, scheduler)

    def scheduler(self) -> SlurmScheduler:
        """Slurm as this user reaches it here; enough to find jobs and to cancel them."""
        return SlurmScheduler(SlurmSettings(shared=Path("/")))

    def run(self, jobs: Sequence[RowJob], profile: Profile) -> Iterator[RowEvent]:
        """Carry out the rows; closing the iterator cancels this campaign's jobs and no others."""
        if not jobs:
            return
        settings = slurm_settings(profile)
        scheduler = SlurmScheduler(settings)
        campaign = open_campaign(jobs[0].folder.parent.parent, settings.shared, self.name)
        around = Surroundings(
            attempt=ATTEMPT,
            node=NODE,
            name=NAME,
            python=settings.python or sys.executable,
            local_storage=settings.local_storage,
            setup=settings.setup,
            beat_s=settings.patience.beat_s,
            cpus=settings.cpus_per_row,
        )
        terms = Terms(
            around=around,
            explain=lambda refused: explain(refused, profile, scheduler),
            in_flight=settings.jobs,
            cpus=settings.cpus_per_row,
            poll_s=settings.poll_s,
            give_up_s=settings.give_up_s,
            reruns=settings.reruns,
            patience=settings.patience,
        )
        yield from Loop(jobs, campaign, scheduler, terms).run()


def _check_shared(settings: SlurmSettings, profile: Profile) -> None:
    if not settings.shared.is_absolute():
        raise Blocked(f"{key_line(profile, 'shared')}: slurm.shared must be an absolute path, not {settings.shared}")
    if not settings.shared.is_dir():
        raise Blocked(
            f"{key_line(profile, 'shared')}: the shared folder {settings.shared} is not there",
            help="make it, on a file system that the compute nodes see under the same name",
        )


def explain(refused: SubmitRefused, profile: Profile, scheduler: SlurmScheduler) -> Blocked:
    """A refusal in one line: Slurm's own words, the profile's line, and what there is to choose from."""
    key = refused.key
    if key is None:
        return Blocked(
            f"Slurm refuses the allocation: {refused.reason}", help="sbatch's own words; see the `slurm` section"
        )
    value = profile.slurm.get(key)
    given = f" (slurm.{key} is {value!r})" if value is not None else f" (slurm.{key} is not set)"
    choice = ""
    if key == "partition" and (known := scheduler.partitions()):
        choice = "partitions here: " + ", ".join(known)
    elif key == "account":
        choice = "`sacctmgr show associations user=$USER format=account,partition` lists yours"
    return Blocked(f"{key_line(profile, key)}: Slurm refuses the allocation: {refused.reason}{given}", help=choice)
