"""`aisimc cancel RUN`: end the cluster jobs that a run submitted, and no others."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, cast

import click

from aisimc_runtime.command.writing import fail
from aisimc_runtime.failures import Blocked, Failure
from aisimc_runtime.ports.named import folder_of_a_run

if TYPE_CHECKING:
    from aisimc_runtime.executors.cluster.port import ClusterExecutor


@click.command("cancel", help="End the cluster jobs that a run submitted, and no others.")
@click.argument("run", type=click.Path(path_type=Path))
def command(run: Path) -> None:
    """RUN is a run's folder, as `aisimc run` names it (or its name under .aisimc/runs)."""
    try:
        click.echo(cancel(run))
    except Failure as failure:
        fail(failure)


def cancel(run: Path) -> str:
    """Cancel and say what was done, in one line. Raises `Refused` for no run, `Blocked` without an answer."""
    import time

    from aisimc_runtime.executors.cluster.cancel import cancel_tries
    from aisimc_runtime.executors.cluster.shared import CANCELLED_FILE, read_campaign
    from aisimc_runtime.executors.cluster.submit import end_try
    from aisimc_runtime.executors.registry import executor_for
    from aisimc_runtime.ports.files import write_atomic

    folder = run if run.is_dir() else Path(".aisimc/runs") / run
    if not (folder / "plan.json").is_file():
        folder_of_a_run(run)
    campaign = read_campaign(folder.resolve())
    if campaign is None:
        return f"{folder.name} has submitted nothing to a cluster"
    write_atomic(campaign.run_folder / CANCELLED_FILE, b"cancelled\n")  # a harness that watches the run stops at this
    scheduler = cast("ClusterExecutor", executor_for(campaign.executor)).scheduler()
    outcome = cancel_tries(campaign, scheduler, campaign.rows(), time.sleep)
    if outcome.unclear:
        raise Blocked(
            f"it is not known whether the jobs of {folder.name} ended: {outcome.unclear}",
            help=f"`aisimc cancel {shlex.quote(str(run))}` again when {scheduler.title} answers",
        )
    stamp = time.strftime("%Y-%m-%dT%H:%M:%S%z")
    for place, known in outcome.ended:
        end_try(place, known.name, "cancelled by `aisimc cancel`", stamp)
    if not outcome.jobs:
        return f"{folder.name} has no job in the queue"
    return (
        f"cancelled {len(outcome.jobs)} job{'s' * (len(outcome.jobs) > 1)} of {folder.name}: {', '.join(outcome.jobs)}"
    )
