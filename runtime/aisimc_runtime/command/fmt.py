"""`aisimc fmt`: one layout for all campaigns."""

from __future__ import annotations

import click

from aisimc_runtime.command.choices import COLOURS
from aisimc_runtime.command.formatting import format_files

EPILOG = """\b
Examples:
  aisimc fmt nightly.campaign
  aisimc fmt --check campaigns/*.campaign
  aisimc fmt - < nightly.campaign
"""


@click.command(epilog=EPILOG)
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option("--check", is_flag=True, help="Change nothing; end with status 1 if something would change.")
@click.option("--diff", is_flag=True, help="Change nothing; show what would change, and end as --check does.")
@click.option("--color", "colour", type=click.Choice(COLOURS), default="auto", show_default=True, help="Colours.")
def command(files: tuple[str, ...], check: bool, diff: bool, colour: str) -> None:
    """Format campaign files in place; `-` formats standard input to standard output.

    Blanks, line ends and optional commas change; comments stay, and what the campaign means stays. A file with syntax
    errors is left alone. Exit status: 0 formatted, 1 (--check, --diff) would change, 2 refused.
    """
    raise SystemExit(format_files(files, check=check, diff=diff, colour=colour))
