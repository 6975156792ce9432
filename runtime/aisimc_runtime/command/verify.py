"""`aisimc verify`: every kept digest and the verdict of a run, checked again from its folder alone."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import click

from aisimc_runtime.command.exits import Exit
from aisimc_runtime.command.writing import fail, print_json
from aisimc_runtime.failures import Failure
from aisimc_runtime.ports.named import folder_of_a_run

if TYPE_CHECKING:
    from aisimc_runtime.report.verification import Check


@click.command("verify")
@click.argument("run", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="One JSON object with every check.")
@click.option("--format", "style", type=click.Choice(["text", "json"]), default="text", help="How to print.")
@click.option("-v", "--verbose", is_flag=True, help="List what is right, too.")
def command(run: Path, as_json: bool, style: str, verbose: bool) -> None:
    """Check RUN again: every digest that is kept, everything that follows from what is kept, and the verdict.

    Nothing is run, fetched or written. Ends with 0 when all of it holds, 1 when something does not.
    """
    from aisimc_runtime.report.verification import Outcome, verify

    try:
        checks = verify(folder_of_a_run(run))
    except Failure as failure:
        if as_json or style == "json":
            from aisimc_runtime.command.run import failed

            print_json(failed(failure))
        fail(failure)
    bad = any(check.outcome is Outcome.WRONG for check in checks)
    if as_json or style == "json":
        _json(checks, bad)
    else:
        _text(checks, bad, verbose)
    raise SystemExit(int(Exit.FAILED if bad else Exit.OK))


def _json(checks: list[Check], bad: bool) -> None:
    entries = [check._asdict() | {"outcome": str(check.outcome)} for check in checks]
    document = {"schema": "aisimc.verification/1", "verified": not bad, "checks": entries}
    print_json(document)


def _text(checks: list[Check], bad: bool, verbose: bool) -> None:
    from aisimc_runtime.report.verification import Outcome
    from aisimc_runtime.report.verification.rows import CANONICAL

    shown = {Outcome.WRONG: "wrong", Outcome.NOTED: "note", Outcome.GONE: "gone", Outcome.RIGHT: "right"}
    for outcome, word in shown.items():
        if outcome is Outcome.RIGHT and not verbose:
            continue
        found = [check for check in checks if check.outcome is outcome]
        records = [check for check in found if outcome is Outcome.GONE and check.what.endswith(CANONICAL)]
        for check in found:
            if verbose or check not in records:
                click.echo(f"{word}: {check.what}: {check.message}")
        if records and not verbose:
            click.echo(f"{word}: {len(records)} canonical records: only their digests were kept, because they match")
    counts = Counter(check.outcome for check in checks)
    summary = f"{counts[Outcome.RIGHT]} right, {counts[Outcome.WRONG]} wrong, {counts[Outcome.GONE]} no longer there"
    click.echo(f"{'not verified' if bad else 'verified'}: {summary}")
