"""`aisimc check`: everything that is wrong with a campaign, before anything runs."""

from __future__ import annotations

import click

from aisimc_runtime.command.checking import check
from aisimc_runtime.command.choices import COLOURS, FORMATS

EPILOG = """\b
Examples:
  aisimc check nightly.campaign
  aisimc check --fix campaigns/*.campaign
  aisimc check --format json - < nightly.campaign
"""


@click.command(epilog=EPILOG)
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option("--format", "form", type=click.Choice(FORMATS), default="text", show_default=True, help="How to say it.")
@click.option(
    "--color", "colour", type=click.Choice(COLOURS), default="auto", show_default=True, help="Colours in text."
)
@click.option("--fix", is_flag=True, help="Put in the replacements that cannot change the meaning.")
def command(files: tuple[str, ...], form: str, colour: str, fix: bool) -> None:
    """Say everything that is wrong with campaign files, before anything runs.

    `-` reads standard input. Nothing is executed, fetched or (without --fix) written. Exit status: 0 valid,
    2 refused.
    """
    raise SystemExit(check(files, form, colour, fix))
