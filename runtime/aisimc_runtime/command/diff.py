"""`aisimc diff`: where two records first part in virtual time, and how they differ."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Any

import click

from aisimc_runtime.command.exits import Exit
from aisimc_runtime.command.writing import fail, print_json
from aisimc_runtime.failures import Blocked, Failure, Refused
from aisimc_runtime.ports.named import why


@click.command("diff")
@click.argument("places", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="A [B]")
@click.option("--row", help="The row, where A or B is a run's folder.")
@click.option(
    "--arm",
    type=click.Choice(["baseline", "candidate"]),
    default="candidate",
    show_default=True,
    help="The arm, where A and B are both runs or rows.",
)
@click.option("--limit", type=click.IntRange(min=0), default=20, show_default=True, help="Classes to list (0: all).")
@click.option("--json", "as_json", is_flag=True, help="One JSON object (aisimc.difference/1).")
@click.option("--format", "style", type=click.Choice(["text", "json"]), default="text", help="How to print.")
def command(places: tuple[Path, ...], row: str | None, arm: str, limit: int, as_json: bool, style: str) -> None:
    """Show where A and B first part in virtual time, then every difference in classes.

    A and B are canonical records, raw reports of a build, row folders, or runs (with --row). With A alone, a row or a
    run, its baseline is compared with its candidate. Ends with 0 when there is no difference, 1 when there is one.
    """
    try:
        found, names = _compare(places, row, arm, limit or None)
    except Failure as failure:
        fail(failure)
    again = shlex.join(
        [
            "aisimc",
            "diff",
            *map(str, places),
            *(["--row", row] if row else []),
            *(["--arm", arm] if len(places) == 2 else []),
            "--limit",
            "0",
        ]
    )
    _print(found, names, limit, again, as_json or style == "json")
    raise SystemExit(int(Exit.OK if found is None or found["same_values"] else Exit.FAILED))


def _compare(
    places: tuple[Path, ...], row: str | None, arm: str, limit: int | None
) -> tuple[dict[str, Any] | None, tuple[str, str]]:
    from aisimc_runtime.compare import NotJson, difference
    from aisimc_runtime.compare.subjects import find, left_out

    if len(places) > 2:
        raise Refused("diff takes two places, or one row or run")
    if len(places) == 1:
        sides = [find(places[0], row, name) for name in ("baseline", "candidate")]
        names = ("baseline", "candidate")
        if sides[0].digest is None:
            raise Refused(f"{places[0]} is one record: name another one to compare it with")
    else:
        sides = [find(place, row, arm) for place in places]
        names = ("A", "B")
    a, b = sides
    if a.digest is not None and a.digest == b.digest:
        return None, names
    for side in sides:
        if not side.there:
            text = f"{side.path} was not kept: a row's records are deleted where its digests match"
            raise Blocked(text, help="run the campaign again, or compare rows that differ")
    try:
        return difference(a.path, b.path, limit_classes=limit, leave_out=left_out(a.path, b.path)), names
    except NotJson as error:
        raise Blocked(f"a side is not one JSON object: {error} at byte {error.offset}") from error
    except OSError as error:
        raise Blocked(f"cannot read {error.filename}: {why(error)}") from error


def _print(found: dict[str, Any] | None, names: tuple[str, str], limit: int, again: str, as_json: bool) -> None:
    if as_json:
        document = found if found is not None else {"schema": "aisimc.difference/1", "equal": True}
        print_json(document)
        return
    if found is None:
        click.echo("no difference: the bytes are the same")
        return
    from aisimc_runtime.command.console import console
    from aisimc_runtime.report.terminal import difference

    difference(
        found, names, console(sys.stdout),
        classes=limit or len(found["classes"]), all_of_them=again, events=True,
    )  # fmt: skip
    if found["left_out"]:
        click.echo(f"  not compared: {', '.join(found['left_out'])} (wall clock)")
