"""`aisimc run`: carry out a campaign or a saved plan, or continue one, and give its verdict."""

from __future__ import annotations

import re
import shlex
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from aisimc_runtime.command.exits import Exit
from aisimc_runtime.command.writing import print_json
from aisimc_runtime.executors.registry import EXECUTORS
from aisimc_runtime.failures import Failure, Refused

if TYPE_CHECKING:
    from aisimc_runtime.run.folder import RunFolder
    from aisimc_runtime.run.plan import Plan
    from aisimc_runtime.run.profile import Profile
    from aisimc_runtime.run.progress import Progress


EPILOG = """\b
Examples:
  aisimc run nightly.campaign               # a run that was ended is continued by the same command
  aisimc run nightly.campaign --again       # a fresh run beside the earlier one
  aisimc run nightly.campaign --json --quiet > verdict.json
  aisimc run plan.json --executor slurm --profile cluster.yaml
"""


@click.command("run", epilog=EPILOG, short_help="Run a campaign, or continue one, and give its verdict")
@click.argument("spec", type=click.Path(path_type=Path))
@click.option("--profile", "profile_file", type=click.Path(path_type=Path), help="Executor, CPUs and limits (YAML).")
@click.option(
    "--executor", type=click.Choice(list(EXECUTORS)), help="Where rows are replayed (default: the profile's)."
)
@click.option("--runs", type=click.Path(path_type=Path), help="Where run folders stand (default: .aisimc/runs).")
@click.option(
    "--store", "store_folder", type=click.Path(path_type=Path), help="The content store (default: AISIMC_STORE)."
)
@click.option("--jobs", type=click.IntRange(min=1), help="Replays at once here; on a cluster, allocations in flight.")
@click.option("--again", is_flag=True, help="Start a fresh run beside an earlier one.")
@click.option("--quiet", is_flag=True, help="No progress, only the verdict.")
@click.option("--json", "as_json", is_flag=True, help="The verdict as one JSON object on standard output.")
def command(
    spec: Path,
    profile_file: Path | None,
    executor: str | None,
    runs: Path | None,
    store_folder: Path | None,
    jobs: int | None,
    again: bool,
    quiet: bool,
    as_json: bool,
) -> None:
    """Carry out SPEC, a campaign file or a saved plan.

    An unfinished run of the same plan is continued; a finished one shows its verdict. The exit status is 0 for a
    pass, 1 for a failure, 2 when SPEC is refused, 3 when it could not be carried out, 4 when the gate is undecided.
    """
    try:
        status = _run(spec, profile_file, executor, runs, store_folder, jobs, again, quiet, as_json)
    except Failure as failure:
        sys.stderr.write(failure.text())
        status = failure.exit
        if as_json:
            print_json(failed(failure))
    sys.stdout.flush()
    sys.exit(int(status))


def failed(failure: Failure) -> dict[str, Any]:
    """What `--json` prints when there is no verdict."""
    state = {Exit.REFUSED: "refused", Exit.INTERRUPTED: "interrupted"}.get(failure.exit, "blocked")
    return {"state": state, "semantic": None, "exit_status": int(failure.exit), "message": failure.message,
            "help": failure.help}  # fmt: skip


def _run(
    spec: Path, profile_file: Path | None, executor: str | None, runs: Path | None, store_folder: Path | None,
    jobs: int | None, again: bool, quiet: bool, as_json: bool,
) -> Exit:  # fmt: skip
    from aisimc_runtime.run.loading import load

    plan = load(spec)
    if plan is None:
        if as_json:
            typed = shlex.quote(str(spec))
            told = Refused(f"{spec} is refused", help=f"`aisimc check --format json {typed}` gives every error")
            print_json(failed(told))
        return Exit.REFUSED
    from aisimc_runtime.run.folder import DEFAULT_RUNS, is_finished, read_report, run_folder

    profile = _profile(profile_file, executor, store_folder, jobs)
    folder = run_folder(plan, runs or DEFAULT_RUNS, again=again)
    if is_finished(folder):
        report = read_report(folder)
        _say_nothing_ran(report, folder)
    else:
        report = _carry_out(plan, folder, profile, _progress(quiet, as_json))
    return _show(report, folder, as_json)


def _say_nothing_ran(report: dict[str, Any], folder: RunFolder) -> None:
    """An old verdict must not be taken for a new one: neither the profile nor a test's script is part of the plan."""
    from aisimc_runtime.journal.journal import finished

    ended = finished(folder.journal) or {}
    sys.stderr.write(
        f"note: this run ended {str(ended.get('at', ''))[:16].replace('T', ' ')} UTC and nothing was run now; "
        "`--again` starts another beside it\n"
    )
    limits = limits_hit(report)
    if limits:
        words = " and ".join(limits)
        more = "a larger one" if len(limits) == 1 else "larger ones"
        sys.stderr.write(f"note: replays were ended by {words} of the profile; with {more}, run it with `--again`\n")


def limits_hit(report: dict[str, Any]) -> list[str]:
    """The limits that ended replays, with their sizes: `the memory limit (512 MiB)`."""
    replays = (replay for row in report["rows"] for arm in row["arms"].values() for replay in arm["replays"])
    found = set()
    for replay in replays:
        if replay["limit"]:
            size = re.match(r"(?:more than|no end after) (\S+ \S+)", replay["error"] or "")
            name = str(replay["limit"]).replace("processes", "process")
            found.add(f"the {name} limit" + (f" ({size[1].rstrip(':')})" if size else ""))
    return sorted(found)


def _profile(file: Path | None, executor: str | None, store: Path | None, jobs: int | None) -> Profile:
    from dataclasses import replace

    from aisimc_runtime.run.profile import Profile, load_profile

    profile = Profile() if file is None else load_profile(file)
    if executor is not None and executor != profile.executor:
        # a cluster's section means nothing to another executor, and is no mistake when the choice was made here
        profile = replace(profile, executor=executor, slurm=profile.slurm if executor == "slurm" else {})
    if store is not None:
        profile = replace(profile, store=store)
    return profile if jobs is None else replace(profile, jobs=jobs)


def _progress(quiet: bool, as_json: bool) -> Progress:
    from aisimc_runtime.run.progress import Lines, Progress, Table

    stream = sys.stderr if as_json else sys.stdout
    if quiet:
        return Progress()
    if not stream.isatty():
        return Lines(stream)
    from aisimc_runtime.command.console import console

    return Table(console(stream))


def _carry_out(plan: Plan, folder: RunFolder, profile: Profile, progress: Progress) -> dict[str, Any]:
    from aisimc_runtime.journal.journal import Journal
    from aisimc_runtime.ports.processes import Processes
    from aisimc_runtime.run.campaign import Campaign
    from aisimc_runtime.run.folder import prepare
    from aisimc_runtime.run.signals import interruptible
    from aisimc_runtime.store.content import open_store

    store = open_store(profile.store)  # refused before anything is made
    processes = Processes()
    with ExitStack() as stack:
        stack.enter_context(progress)
        stack.enter_context(interruptible(processes.end_all))
        resumed = prepare(folder, plan)
        stack.enter_context(folder.locked())
        journal = Journal(folder.journal)
        stack.callback(journal.close)
        journal.append("resumed" if resumed else "started", plan_digest=plan.digest)
        campaign = Campaign(plan, folder, store, profile, progress, journal, processes)
        return campaign.carry_out()


def _show(report: dict[str, Any], folder: RunFolder, as_json: bool) -> Exit:
    if as_json:
        shown = {
            "campaign": report["campaign"]["name"],
            "plan_digest": report["plan_digest"],
            "report_digest": report["digest"],
            "run": str(folder.path),
            **dict(sorted(report["verdict"].items())),
        }
        print_json(shown)
    else:
        from aisimc_runtime.command.console import console
        from aisimc_runtime.report.terminal import summary

        shown_on = console(sys.stdout)
        summary(report, shown_on)
        shown_on.print(f"{folder.path}", style="dim", soft_wrap=True)
    return Exit(report["verdict"]["exit_status"])
