"""`aisimc new`: a campaign to start from, after a few questions or from flags."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from aisimc_runtime.command.writing import fail, write_new_file
from aisimc_runtime.failures import Failure, Refused
from aisimc_runtime.scaffold.campaign import Outline, TraceInput, text
from aisimc_runtime.scaffold.rows import ROWS

EPILOG = """\b
Examples:
  aisimc new nightly --baseline aisimulate==V1 --candidate aisimulate==V2 --trace traces/window.jsonl
  aisimc new mine --baseline REPO@main --candidate REPO@my-branch --relation ancestor \\
      --trace conversation.jsonl --window 0:5000 --matrix authoritative
  aisimc new                       # asks
"""


@click.command(epilog=EPILOG)
@click.argument("name", required=False)
@click.option("--baseline", help="aisimulate==VERSION, REPOSITORY@COMMIT, or embedded.")
@click.option("--candidate", help="The same forms; embedded+PATCHFILE for a patched engine.")
@click.option("--relation", help="`ancestor` (two checkouts), or how the revisions are related, in words.")
@click.option("--trace", help="A Mooncake trace file, its path relative to the campaign.")
@click.option("--upstream", help="Instead of --trace: repository of an upstream trace.")
@click.option("--commit", help="With --upstream: commit, branch or tag (`aisimc pin` makes it exact).")
@click.option("--path", help="With --upstream: path in the repository.")
@click.option("--window", help="START:ROWS, one contiguous window of the trace.")
@click.option("--row", "rows", multiple=True, type=click.Choice(list(ROWS)), help="A row of the matrix (repeatable).")
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
        name = name or _ask("Name of the campaign", "qualification")
        baseline = baseline or _ask("Baseline revision (aisimulate==VERSION, REPOSITORY@COMMIT or embedded)")
        candidate = candidate or _ask("Candidate revision")
        relation = relation or _ask("How is the candidate related to the baseline", "the next build of the same line")
        source = _trace(trace, upstream, commit, path, _window(window))
        authoritative = matrix == "authoritative"
        chosen = tuple(ROWS) if authoritative else (rows or tuple(_ask_rows()))
        outline = Outline(
            name=name,
            purpose=purpose or "Does the candidate replay this window byte for byte as the baseline does?",
            baseline=baseline,
            candidate=candidate,
            relation=relation,
            trace=source,
            rows=chosen,
            authoritative=authoritative,
            corpus=corpus or ("long" if source.window and source.window[1] >= 5_000 else "preflight"),
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
    click.echo(f"next: aisimc pin {target}    (computes the checksums that are still missing)")
    click.echo(f"then: aisimc check {target}")


def _trace(
    trace: str | None,
    upstream: str | None,
    commit: str | None,
    path: str | None,
    window: tuple[int, int] | None,
) -> TraceInput:
    if upstream is not None:
        if trace is not None:
            raise Refused("--trace and --upstream are two sources for one input", help="give one of them")
        if path is None:
            raise Refused("--upstream needs --path", help="the trace's path in that repository")
        return TraceInput("trace", upstream=upstream, commit=commit or "HEAD", path=path, window=window)
    return TraceInput("trace", file=trace or _ask("Trace file (Mooncake format)"), window=window)


def _window(text: str | None) -> tuple[int, int] | None:
    if text is None:
        return None
    start, colon, rows = text.replace("_", "").partition(":")
    if not (colon and start.isascii() and start.isdigit() and rows.isascii() and rows.isdigit() and int(rows) > 0):
        raise Refused(f"--window {text!r} is not START:ROWS", help="for example --window 0:5000")
    return int(start), int(rows)


def _ask(question: str, default: str | None = None) -> str:
    if not sys.stdin.isatty():
        raise Refused(f"{question}: not given, and there is no terminal to ask on", help="see aisimc new --help")
    answer: str = click.prompt(question, default=default, type=str)
    return answer


def _ask_rows() -> list[str]:
    answer = _ask(f"Rows, separated by spaces ({', '.join(ROWS)})", "vllm-aggregated")
    rows = answer.replace(",", " ").split()
    unknown = [row for row in rows if row not in ROWS]
    if unknown:
        raise Refused(f"{', '.join(unknown)}: not a row of the matrix", help=f"the rows are {', '.join(ROWS)}")
    return rows
