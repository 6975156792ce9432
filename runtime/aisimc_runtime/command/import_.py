"""`aisimc import`: a folder of AI Simulate's qualification configurations becomes a campaign."""

from __future__ import annotations

import shlex
from pathlib import Path

import click

from aisimc_runtime.command.writing import fail, write_new_file
from aisimc_runtime.failures import Failure
from aisimc_runtime.scaffold.configurations import read, text

EPILOG = """\b
Examples:
  aisimc import configs/ --baseline REPO@v1 --candidate REPO@main --relation ancestor
  aisimc import configs/ --baseline aisimulate==V1 --candidate aisimulate==V2 \\
      --relation "the next nightly of the same line" -o adopted.campaign
"""


@click.command("import", epilog=EPILOG)
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--baseline", required=True, help="aisimulate==VERSION, REPOSITORY@COMMIT, or embedded.")
@click.option("--candidate", required=True, help="The same forms.")
@click.option("--relation", required=True,
              help="`ancestor` (two checkouts), or how the revisions are related, in words.")  # fmt: skip
@click.option("--name", help="Name of the campaign; that of the output file, else the folder's, when not given.")
@click.option("-o", "--output", type=click.Path(dir_okay=False, path_type=Path), help="File to write; - for stdout.")
def command(folder: Path, baseline: str, candidate: str, relation: str, name: str | None, output: Path | None) -> None:
    """Turn a folder of AI Simulate configurations into a campaign.

    Each *.json becomes a row that takes the file as it is (`frozen`, pinned by its SHA-256); rows that replay the
    same trace window share one input. What the configurations do not say has to be said here: the two revisions, and
    how they are related.
    """
    try:
        written = output if output is not None and str(output) != "-" else None
        title = name or (written.stem if written else folder.resolve().name)
        target = written or folder.resolve().parent / f"{title}.campaign"
        content = text(title, read(folder, target.parent), baseline, candidate, relation)
        if output is not None and str(output) == "-":
            click.echo(content, nl=False)
            return
        write_new_file(target, content)
        click.echo(f"wrote {target}" + ("" if name else f' (campaign "{title}"; --name gives it another name)'))
        typed = shlex.quote(str(target))
        click.echo(f"next: aisimc pin {typed}, then aisimc check {typed}")
    except Failure as failure:
        fail(failure)
