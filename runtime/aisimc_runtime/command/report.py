"""`aisimc report`: the report of a run again, from its folder alone."""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path
from typing import Any

import click

from aisimc_runtime.command.writing import fail, replace_file
from aisimc_runtime.failures import Blocked, Failure
from aisimc_runtime.ports.named import folder_of_a_run

FORMATS = ("text", "json", "md", "html", "junit", "statement")
MODULES = {"md": "markdown", "html": "html", "junit": "junit", "statement": "statement"}
"""Format: module of `aisimc_runtime.report` whose `render` makes it."""


@click.command("report")
@click.argument("run", type=click.Path(path_type=Path))
@click.option("--format", "style", type=click.Choice(FORMATS), default="text", show_default=True, help="What to write.")
@click.option("-o", "--output", type=click.Path(path_type=Path, dir_okay=False), help="Write to this file.")
def command(run: Path, style: str, output: Path | None) -> None:
    """Write the report of RUN again: everything is recomputed from the run's folder, nothing is run.

    Ends with the exit status of the campaign's verdict.
    """
    try:
        report = _built(folder_of_a_run(run))
        if style == "text" and output is None:
            from aisimc_runtime.command.console import console
            from aisimc_runtime.report.terminal import summary

            summary(report, console(sys.stdout))
        else:
            text = _render(report, style)
            if output is None:
                click.echo(text, nl=False)
            else:
                replace_file(output, text)
    except Failure as failure:
        fail(failure)
    raise SystemExit(int(report["verdict"]["exit_status"]))


def _built(run: Path) -> dict[str, Any]:
    """The report object. Raises `Blocked`, also where a file holds other JSON than a run writes."""
    from aisimc_runtime.report.model import build
    from aisimc_runtime.report.verification.listed import check_manifest
    from aisimc_runtime.report.verification.outcome import Outcome

    for check in check_manifest(run):
        if check.outcome is Outcome.WRONG:
            raise Blocked(
                f"{run / check.what}: {check.message}: a report of this folder would not be the run's",
                help=f"`aisimc verify {shlex.quote(str(run))}` checks everything that is kept",
            )
    try:
        return build(run)
    except (LookupError, TypeError, AttributeError) as error:
        if os.environ.get("AISIMC_TRACEBACK"):
            raise
        raise Blocked(
            f"a file of {run} is not what a run writes: {type(error).__name__}: {error}",
            help="`aisimc verify` says which files were changed",
        ) from error


def _render(report: dict[str, Any], style: str) -> str:
    import importlib

    if style == "json":
        from aisimc_runtime.report.writing import encode

        return encode(report).decode()
    if style == "text":
        return _plain(report)
    renderer = importlib.import_module(f"aisimc_runtime.report.{MODULES[style]}")
    text: str = renderer.render(report)
    return text


def _plain(report: dict[str, Any]) -> str:
    import io

    from rich.console import Console

    from aisimc_runtime.report.terminal import summary

    stream = io.StringIO()
    summary(report, Console(file=stream, width=120, color_system=None))
    return stream.getvalue()
