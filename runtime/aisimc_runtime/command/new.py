"""`aisimc new`: a campaign to start from, after a few questions or from flags."""

from __future__ import annotations

import shlex
from dataclasses import replace
from itertools import islice
from pathlib import Path

import click
from click.shell_completion import CompletionItem

from aisimc_runtime.command.asking import Asker
from aisimc_runtime.command.writing import fail, write_new_file
from aisimc_runtime.failures import Failure, Refused
from aisimc_runtime.scaffold import rows as matrix_rows
from aisimc_runtime.scaffold.campaign import Outline, TraceInput, text
from aisimc_runtime.scaffold.revisions import FORMS, checked
from aisimc_runtime.scaffold.rows import ROWS

LONG_ROWS = 5_000
"""Rows of a window from which a corpus is `long`."""

EPILOG = """\b
Examples:
  aisimc new nightly --baseline aisimulate==V1 --candidate aisimulate==V2 --trace traces/window.jsonl
  aisimc new mine --baseline REPO@main --candidate REPO@my-branch --relation ancestor \\
      --trace conversation.jsonl --window 0:5000 --matrix authoritative
  aisimc new                       # asks
"""


def complete(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The rows that begin with what is typed; for the shell."""
    return [CompletionItem(row, help=ROWS[row].topology) for row in ROWS if row.startswith(incomplete)]


@click.command(epilog=EPILOG)
@click.argument("name", required=False)
@click.option("--baseline", help="aisimulate==VERSION, REPOSITORY@COMMIT, or embedded.")
@click.option("--candidate", help="The same forms; embedded+PATCHFILE for a patched engine.")
@click.option("--relation", help="`ancestor` (two checkouts), or how the revisions are related, in words.")
@click.option("--trace", help="A Mooncake trace file, its path relative to the campaign.")
@click.option("--upstream", help="Instead of --trace: repository of an upstream trace.")
@click.option("--commit", help="With --upstream: commit, branch or tag (`aisimc pin` makes it exact).")
@click.option("--path", help="With --upstream: path in the repository.")
@click.option("--window", help="START:ROWS, one contiguous window of the trace; `all` for the whole of it.")
@click.option("--row", "rows", multiple=True, metavar="ROW", shell_complete=complete,
              help=f"A row of the matrix (repeatable), or `all`: {', '.join(ROWS)}.")  # fmt: skip
@click.option("--matrix", type=click.Choice(["authoritative", "focused"]), default=None)
@click.option("--corpus", type=click.Choice(["long", "preflight"]), default=None)
@click.option("--purpose", help="What the campaign is to find out, in one sentence.")
@click.option("-o", "--output", type=click.Path(dir_okay=False, path_type=Path), help="File to write; - for stdout.")
def command(
    name: str | None,
    baseline: str | None,
    candidate: str | None,
    relation: str | None,
    trace: str | None,
    upstream: str | None,
    commit: str | None,
    path: str | None,
    window: str | None,
    rows: tuple[str, ...],
    matrix: str | None,
    corpus: str | None,
    purpose: str | None,
    output: Path | None,
) -> None:
    """Write a campaign to start from.

    Asks for what was not given (on a terminal). Writes what the method asks for and leaves the checksums to
    `aisimc pin`, which computes them.
    """
    try:
        asker = Asker()
        revisions = [None if text is None else checked(text) for text in (baseline, candidate)]
        given = None if window is None else _window(window)
        named = matrix_rows.chosen(" ".join(rows)) if rows else None
        name = name or asker.ask("NAME", "name of the campaign", str, "qualification")
        baseline = revisions[0] or asker.ask("--baseline", f"baseline revision ({FORMS})", checked)
        candidate = revisions[1] or asker.ask("--candidate", "candidate revision (the same forms)", checked)
        relation = relation or asker.ask(
            "--relation", "how the candidate is related to the baseline", str, "the next build of the same line"
        )
        source = _trace(asker, trace, upstream, commit, path)
        authoritative = matrix == "authoritative"
        chosen = tuple(ROWS) if authoritative else named or _ask_rows(asker)
        if given is None and asker.asked:
            given = _ask_window(asker, source)
        source = replace(source, window=given or None)
        outline = Outline(
            name=name,
            purpose=purpose or "Does the candidate replay this window byte for byte as the baseline does?",
            baseline=baseline,
            candidate=candidate,
            relation=relation,
            trace=source,
            rows=chosen,
            authoritative=authoritative,
            corpus=corpus or ("long" if source.window and source.window[1] >= LONG_ROWS else "preflight"),
        )
        _write(outline, output)
    except Failure as failure:
        fail(failure)


def _write(outline: Outline, output: Path | None) -> None:
    content = text(outline)
    if output is not None and str(output) == "-":
        click.echo(content, nl=False)
        return
    target = output or Path(f"{outline.name}.campaign")
    write_new_file(target, content)
    click.echo(f"wrote {target}")
    typed = shlex.quote(str(target))
    click.echo(f"next: aisimc pin {typed}    (computes the checksums that are still missing)")
    click.echo(f"then: aisimc check {typed}")
    click.echo(f"then: aisimc requalify {typed} {outline.rows[0]}")
    click.echo("      (the capacities are placeholders from another trace; this finds one that fits, for each row)")


def _trace(asker: Asker, trace: str | None, upstream: str | None, commit: str | None, path: str | None) -> TraceInput:
    if upstream is not None:
        if trace is not None:
            raise Refused("--trace and --upstream are two sources for one input", help="give one of them")
        if path is None:
            raise Refused("--upstream needs --path", help="the trace's path in that repository")
        return TraceInput("trace", upstream=upstream, commit=commit or "HEAD", path=path)
    file = trace or asker.ask("--trace", "trace file (Mooncake format), relative to the campaign", str)
    return TraceInput("trace", file=file)


def _window(text: str) -> tuple[int, int] | tuple[()]:
    """The first row and the number of rows; nothing for the whole trace. Raises `Refused`."""
    if text == "all":
        return ()
    start, colon, rows = text.replace("_", "").partition(":")
    if not (colon and start.isascii() and start.isdigit() and rows.isascii() and rows.isdigit() and int(rows) > 0):
        raise Refused(f"the window `{text}` is not START:ROWS", help="for example --window 0:5000, or all")
    return int(start), int(rows)


def _ask_window(asker: Asker, source: TraceInput) -> tuple[int, int] | tuple[()]:
    """A window of the trace; by default what a long corpus takes, and the whole of a trace that is shorter."""
    short = source.file is not None and _has_fewer_rows(Path(source.file), LONG_ROWS)
    question = "window of the trace: its first row and how many, START:ROWS, or all"
    return asker.ask("--window", question, _window, "all" if short else f"0:{LONG_ROWS}")


def _has_fewer_rows(file: Path, rows: int) -> bool:
    """Whether the file can be read, from here, and ends before so many rows."""
    try:
        if not file.is_file():
            return False
        with file.open("rb") as stream:
            return sum(1 for _ in islice(stream, rows)) < rows
    except OSError:
        return False


def _ask_rows(asker: Asker) -> tuple[str, ...]:
    return asker.ask(
        "--row", "rows of the matrix, separated by blanks, or all", matrix_rows.chosen, "vllm-aggregated",
        before=matrix_rows.table(),
    )  # fmt: skip
