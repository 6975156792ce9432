"""`aisimc golden record`: golden points from a qualified run."""

from __future__ import annotations

import datetime
from pathlib import Path

import click

from aisimc_runtime.command.writing import fail, replace_file
from aisimc_runtime.failures import Failure
from aisimc_runtime.ports.named import folder_of_a_run


@click.group()
def command() -> None:
    """Keep golden points: expected counters of rows, in YAML, written from runs that qualified them."""


EPILOG = """\b
Examples:
  aisimc golden record .aisimc/runs/nightly-0123456789ab -o golden/nightly.yaml
  aisimc golden record RUN -o golden/nightly.yaml --row vllm-aggregated --digest

A row then takes its expectations from there: golden = "golden/nightly.yaml".
"""


@command.command(epilog=EPILOG)
@click.argument("run", type=click.Path(path_type=Path))
@click.option("-o", "--output", type=click.Path(dir_okay=False, path_type=Path), required=True,
              help="The golden file; one that is there keeps its comments and other rows.")  # fmt: skip
@click.option("--row", "rows", multiple=True, help="A row to record (repeatable; default: every row that passed).")
@click.option("--digest", is_flag=True, help="Bind the canonical digest too; it holds for this revision only.")
def record(run: Path, output: Path, rows: tuple[str, ...], digest: bool) -> None:
    """Write the points of a run's rows into a golden file."""
    try:
        from aisimc_runtime.golden.points import left_out, points_of
        from aisimc_runtime.golden.writing import merged

        qualified, points = points_of(folder_of_a_run(run), rows, digest=digest)
        today = datetime.datetime.now(datetime.UTC).date().isoformat()
        content = merged(output, qualified, points, on=today)
        output.parent.mkdir(parents=True, exist_ok=True)
        replace_file(output, content)
        for point in points:
            click.echo(f"recorded {point.row} in {output}")
        for reason in () if rows else left_out(run):
            click.echo(f"not recorded: {reason}")
    except Failure as failure:
        fail(failure)
