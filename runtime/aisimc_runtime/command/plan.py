"""`aisimc plan`: what a campaign would do, before it does anything."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from aisimc_runtime.command.choices import COLOURS
from aisimc_runtime.command.exits import Exit
from aisimc_runtime.failures import Blocked, Failure

if TYPE_CHECKING:
    from aisimc_runtime.run.plan import Plan

EPILOG = """\b
Examples:
  aisimc plan nightly.campaign
  aisimc plan nightly.campaign -o plan.json
  aisimc plan nightly.campaign --graph dot | dot -Tsvg > plan.svg
"""


@click.command("plan", epilog=EPILOG, short_help="Show what a campaign would do (dry run)")
@click.argument("spec", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="The plan itself, in canonical JSON; short for --format json.")
@click.option("--format", "form", type=click.Choice(("text", "json")), default="text", show_default=True)
@click.option("--graph", "picture", type=click.Choice(("dot", "mermaid")), help="The actions as a graph.")
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Save the plan, for `aisimc run FILE`.")
@click.option(
    "--store", "store_folder", type=click.Path(path_type=Path), help="The content store (default: AISIMC_STORE)."
)
@click.option(
    "--color", "colour", type=click.Choice(COLOURS), default="auto", show_default=True, help="Colours in text."
)
def command(
    spec: Path,
    as_json: bool,
    form: str,
    picture: str | None,
    output: Path | None,
    store_folder: Path | None,
    colour: str,
) -> None:
    """Show what SPEC, a campaign file or a saved plan, would do. Nothing is run, fetched or (but for -o) written.

    Exit status: 0 there is a plan, 2 SPEC is refused.
    """
    from aisimc_runtime.command.writing import fail
    from aisimc_runtime.run.loading import load

    try:
        plan = load(spec)
        if plan is None:
            raise SystemExit(int(Exit.REFUSED))
        if output is not None:
            _save(plan, output)
        if as_json or form == "json":
            sys.stdout.buffer.write(plan.raw)
        elif picture is not None:
            _write(_picture(plan, picture))
        else:
            _write(_text(plan, store_folder, colour))
            if output is not None:
                sys.stdout.write(f"\nsaved as {output}: `aisimc run {shlex.quote(str(output))}` runs exactly this\n")
        sys.stdout.flush()
    except Failure as failure:
        fail(failure)


def _save(plan: Plan, output: Path) -> None:
    from aisimc_runtime.ports.files import write_atomic

    try:
        write_atomic(output, plan.raw)
    except OSError as error:
        raise Blocked(f"{output} cannot be written: {(error.strerror or str(error)).lower()}") from error


def _write(lines: Iterable[str]) -> None:
    sys.stdout.writelines(f"{line}\n" for line in lines)


def _picture(plan: Plan, kind: str) -> Iterable[str]:
    from aisimc_runtime.planview import graph

    return graph.dot(plan.data) if kind == "dot" else graph.mermaid(plan.data)


def _text(plan: Plan, store_folder: Path | None, colour: str) -> Iterable[str]:
    from aisimc_runtime.command.terminal import wants_colour
    from aisimc_runtime.planview.supplies import supplies
    from aisimc_runtime.planview.text import render
    from aisimc_runtime.store.content import open_store

    store = open_store(store_folder)
    found = list(supplies(plan.data, store.has))
    if not wants_colour(colour, sys.stdout):
        return render(plan.data, plan.digest, found)
    return render(
        plan.data,
        plan.digest,
        found,
        strong=lambda text: f"\x1b[1m{text}\x1b[0m",
        faint=lambda text: f"\x1b[2m{text}\x1b[0m",
    )
