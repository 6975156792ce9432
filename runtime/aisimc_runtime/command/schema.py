"""`aisimc schema`: the JSON Schemas of the files and outputs that programs read."""

from __future__ import annotations

import click
from click.shell_completion import CompletionItem

from aisimc_runtime.command.writing import print_json
from aisimc_runtime.failures import Refused
from aisimc_runtime.schemas.catalogue import CATALOGUE, bundled

EPILOG = """\b
Examples:
  aisimc schema                       # every schema in a line
  aisimc schema report > report.schema.json
  aisimc schema gate-samples          # of each line of a JSON Lines file
"""


def _complete(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    return [
        CompletionItem(name, help=entry.describes) for name, entry in CATALOGUE.items() if name.startswith(incomplete)
    ]


@click.command("schema", epilog=EPILOG)
@click.argument("name", required=False, shell_complete=_complete)
def command(name: str | None) -> None:
    """Print the JSON Schema NAME (draft 2020-12), complete in itself; without NAME, list them all."""
    if name is None:
        click.echo(listing(), nl=False)
        return
    wanted = name.strip().lower().removesuffix(".json").removesuffix(".schema")
    if wanted not in CATALOGUE:
        raise Refused(f"there is no schema `{name}`", help=_help(wanted))
    print_json(bundled(wanted))


def listing() -> str:
    """One line for each schema: its name and what it describes."""
    width = max(map(len, CATALOGUE))
    return "".join(f"{name:<{width}}  {entry.describes}\n" for name, entry in CATALOGUE.items())


def _help(wanted: str) -> str:
    from difflib import get_close_matches

    near = get_close_matches(wanted, CATALOGUE, n=2, cutoff=0.5)
    if near:
        return f"did you mean {' or '.join(f'`{one}`' for one in near)}?"
    return "`aisimc schema` lists them all"
