"""`aisimc requalify`: the nearest stable capacity of a row, on the baseline only."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from aisimc_runtime.command.exits import Exit
from aisimc_runtime.command.writing import fail, print_json
from aisimc_runtime.failures import Blocked, Failure, Refused

if TYPE_CHECKING:
    from aisimc_runtime.requalify.bench import Bench
    from aisimc_runtime.requalify.search import Observation, Outcome
    from aisimc_runtime.requalify.telling import Asked

EPILOG = """\b
Examples:
  aisimc requalify nightly.campaign sglang-disaggregated
  aisimc requalify nightly.campaign vllm-disaggregated-adp2-4 --dimension decode.num_gpu_blocks

What was observed is kept: the same command continues where it was, and a finished search answers at once.
"""


@click.command(epilog=EPILOG)
@click.argument("spec", type=click.Path(path_type=Path))
@click.argument("row")
@click.option("--dimension", default="num_gpu_blocks", show_default=True,
              help="The one dimension that moves; prefill.… or decode.… for one pool alone.")  # fmt: skip
@click.option("--start", type=click.IntRange(min=1), help="Value to start from (default: the row's own).")
@click.option("--resolution", type=click.IntRange(min=1), default=1, show_default=True,
              help="How near to a neighbour that does not qualify the point must come.")  # fmt: skip
@click.option("--budget", type=click.IntRange(min=2), default=48, show_default=True, help="Observations at most.")
@click.option("--profile", "profile_file", type=click.Path(path_type=Path), help="Executor, CPUs and limits (YAML).")
@click.option("--folder", type=click.Path(path_type=Path), default=Path(".aisimc/requalify"), show_default=True,
              help="Where observations are kept.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="The outcome as one JSON object on standard output.")
def command(
    spec: Path,
    row: str,
    dimension: str,
    start: int | None,
    resolution: int,
    budget: int,
    profile_file: Path | None,
    folder: Path,
    as_json: bool,
) -> None:
    """Find ROW's capacity edge again after the baseline of SPEC drifted.

    Moves one capacity dimension, on the baseline only, to the value nearest to the start with bounded pressure (one to
    three events, or the row's own bounds; none on TRT-LLM), every output whole and two processes agreeing. Writes
    nothing into the campaign: it says what to write.
    """
    try:
        with ExitStack() as stack:
            bench, first, least, most = _prepare(stack, spec, row, dimension, profile_file, folder, quiet=as_json)
            from aisimc_runtime.requalify.dimension import minimum, place_of
            from aisimc_runtime.requalify.search import search
            from aisimc_runtime.requalify.telling import Asked

            declared = bench.campaign.plan.data["rows"][row]
            asked = Asked(dimension, start or first, (least, most), place_of(declared, dimension), resolution)

            def say(purpose: str) -> None:
                if not as_json:
                    click.echo(f"  {purpose}")

            outcome = search(
                asked.start, bench.observe, least=least, most=most,
                minimum=minimum(dimension), resolution=resolution, budget=budget, say=say,
            )  # fmt: skip
            if outcome.point is not None:
                say(f"do two more processes at {outcome.point.value:_} agree?")
            stable = outcome.point is not None and bench.is_stable(outcome.point.value)
        _tell(outcome, stable, row, asked, as_json)
    except Failure as failure:
        fail(failure)
    sys.exit(int(Exit.OK if stable else Exit.FAILED))


def _prepare(
    stack: ExitStack, spec: Path, row: str, dimension: str, profile_file: Path | None, folder: Path, *, quiet: bool
) -> tuple[Bench, int, int, int]:
    from aisimc_runtime.journal.journal import Journal
    from aisimc_runtime.ports.processes import Processes
    from aisimc_runtime.requalify.bench import Bench, baseline_only, bounds_of, key_of
    from aisimc_runtime.requalify.dimension import current
    from aisimc_runtime.requalify.telling import line
    from aisimc_runtime.run.campaign import Campaign
    from aisimc_runtime.run.folder import RunFolder
    from aisimc_runtime.run.loading import load
    from aisimc_runtime.run.profile import Profile, load_profile
    from aisimc_runtime.run.progress import Progress
    from aisimc_runtime.run.signals import interruptible
    from aisimc_runtime.store.content import open_store

    whole = load(spec)
    if whole is None:
        raise Refused(f"{spec} is refused by the compiler", help="mend what is said above first")
    plan = baseline_only(whole, row)
    declared = plan.data["rows"][row]
    first = current(declared, dimension)
    least, most = bounds_of(declared)
    profile = Profile() if profile_file is None else load_profile(profile_file)
    place = RunFolder((folder / f"{plan.name}-{row}-{key_of(plan, row, dimension)}").absolute())
    _make(place.path)
    processes = Processes()
    stack.enter_context(interruptible(processes.end_all))
    stack.enter_context(place.locked())
    journal = Journal(place.journal)
    stack.callback(journal.close)
    campaign = Campaign(plan, place, open_store(profile.store), profile, Progress(), journal, processes)
    stack.enter_context(campaign.store.in_use())
    campaign.acquire()
    campaign.build()

    def tell(seen: Observation, known: bool) -> None:
        if not quiet:
            click.echo(line(seen, dimension, known, seen.fit(least, most).value))

    return Bench(campaign, row, dimension, place.path / "observations.jsonl", tell), first, least, most


def _make(folder: Path) -> None:
    """Make the folder of the observations. Raises `Blocked` where nothing can be written there."""
    import tempfile

    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):  # a folder that is there may be read-only, too
            pass
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        raise Blocked(
            f"the observations cannot be kept in {folder}: {why}",
            help="name a folder that can be written with --folder",
        ) from error


def _tell(outcome: Outcome, stable: bool, row: str, asked: Asked, as_json: bool) -> None:
    if as_json:
        from aisimc_runtime.requalify.telling import margins

        entry = {"row": row, "dimension": asked.dimension, "start": asked.start, "bounds": list(asked.bounds),
                 "stable": stable, "margins": margins(outcome), **asdict(outcome)}  # fmt: skip
        print_json(entry)
        return
    from aisimc_runtime.requalify.telling import told

    for line in told(outcome, stable, row, asked):
        click.echo(line)
