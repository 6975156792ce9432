"""`aisimc import`: a folder of AI Simulate's qualification configurations becomes a campaign."""

from __future__ import annotations

from pathlib import Path

import click

from aisimc_runtime.command.writing import fail, write_new_file
from aisimc_runtime.failures import Failure
from aisimc_runtime.scaffold.configurations import read, text

EPILOG = """\b
Examples:
  aisimc import configs/ --baseline REPO@v1 --candidate REPO@main --relation ancestor
  aisimc import configs/ --baseline aisimulate==V1 --candidate aisimulate==V2 -o adopted.campaign
"""


@click.command("import", epilog=EPILOG)
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--baseline", required=True, help="aisimulate==VERSION, REPOSITORY@COMMIT, or embedded.")
@click.option("--candidate", required=True, help="The same forms.")
@click.option("--relation", default="stated by the importer", show_default=True,
              help="`ancestor` (two checkouts), or how the revisions are related, in words.")  # fmt: skip
@click.option("--name", help="Name of the campaign; the folder's name when not given.")
@click.option("-o", "--output", type=click.Path(dir_okay=False, path_type=Path), help="File to write; - for stdout.")
def command(folder: Path, baseline: str, candidate: str, relation: str, name: str | None, output: Path | None) -> None:
    """Turn a folder of AI Simulate configurations into a campaign.

    Each *.json becomes a row that takes the file as it is (`frozen`, pinned by its SHA-256); rows that replay the
    same trace window share one input.
    """
    try:
        title = name or folder.resolve().name
        target = output if output is not None and str(output) != "-" else folder.resolve().parent / f"{title}.campaign"
        content = text(title, read(folder, target.parent), baseline, candidate, relation)
        if output is not None and str(output) == "-":
            click.echo(content, nl=False)
            return
        write_new_file(target, content)
        click.echo(f"wrote {target}")
        click.echo(f"next: aisimc pin {target}, then aisimc check {target}")
    except Failure as failure:
        fail(failure)
