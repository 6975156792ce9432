"""`aisimc pin`: fills in commits, wheel hashes and checksums, in place, and shows what it changed."""

from __future__ import annotations

import difflib
from pathlib import Path

import click

from aisimc_compiler.source import Source
from aisimc_compiler.syntax.tree import Block, File, Value
from aisimc_runtime.command.exits import Exit
from aisimc_runtime.command.writing import fail, replace_file
from aisimc_runtime.failures import Failure, Refused
from aisimc_runtime.pinning.edits import Edit, apply
from aisimc_runtime.pinning.walk import Unpinned, pins
from aisimc_runtime.pinning.world import RealWorld

EPILOG = """\b
Examples:
  aisimc pin nightly.campaign             # fill in what is missing or moving
  aisimc pin nightly.campaign --dry-run   # only show the diff; exit 1 when something would change
  aisimc pin nightly.campaign --refresh   # compute every checksum again, also those that are there

The only command that resolves anything moving; check, plan and run never do.
"""


@click.command(epilog=EPILOG)
@click.argument("specs", nargs=-1, required=True, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--dry-run", is_flag=True, help="Show the diff and write nothing.")
@click.option("--refresh", is_flag=True, help="Compute again what is pinned already (wheel hashes, files, slices).")
def command(specs: tuple[Path, ...], dry_run: bool, refresh: bool) -> None:
    """Fill in pins that are missing or moving.

    A branch, tag or short id becomes the full commit; a wheel version gets its hash from the index that pip uses; an
    input file gets its SHA-256, row count and slice checksum; the embedded engine and patches get the digest of what
    lies there now. The file is edited in place, comments and layout kept, and so are the files it imports.
    """
    changed = unpinned = False
    try:
        for path in _with_imports(specs):
            edited, problems = _pin(path, dry_run=dry_run, refresh=refresh)
            changed, unpinned = changed or edited, unpinned or problems
    except Failure as failure:
        fail(failure)
    if unpinned:
        raise SystemExit(int(Exit.BLOCKED))
    if dry_run and changed:
        raise SystemExit(int(Exit.FAILED))


def _pin(path: Path, *, dry_run: bool, refresh: bool) -> tuple[bool, bool]:
    file = _parse(path)
    edits: list[Edit] = []
    problems: list[Unpinned] = []
    for found in pins(file, RealWorld(path.resolve().parent), refresh=refresh):
        if isinstance(found, Edit):
            edits.append(found)
        else:
            problems.append(found)
    before, after = file.source.text, apply(file.source.text, edits)
    if before == after:
        click.echo(f"{path}: everything that could be pinned is pinned" if not problems else f"{path}: not changed")
    else:
        _show(path, before, after)
        if not dry_run:
            replace_file(path, after)
    for problem in problems:
        click.echo(f"aisimc: error: {path}: {problem.place}: {problem.failure.message}", err=True)
        if problem.failure.help:
            click.echo(f"  help: {problem.failure.help}", err=True)
    return before != after, bool(problems)


def _show(path: Path, before: str, after: str) -> None:
    colours = {"+": "green", "-": "red", "@": "cyan"}
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), str(path), str(path), lineterm="", n=1)
    for line in lines:
        click.echo(click.style(line, fg=colours.get(line[:1])))


def _with_imports(specs: tuple[Path, ...]) -> list[Path]:
    """The files and everything they import, each once; imports that cannot be read are `check`'s business."""
    found: list[Path] = []
    waiting = list(specs)
    seen: set[Path] = set()
    while waiting:
        path = waiting.pop(0)
        if path.resolve() in seen or not path.is_file():
            continue
        seen.add(path.resolve())
        found.append(path)
        for block in _parse(path).body:
            if isinstance(block, Block) and block.keyword.text == "import" and block.labels:
                label = block.labels[0]
                if isinstance(label, Value) and isinstance(label.value, str):
                    waiting.append(path.parent / label.value)
    return found


def _parse(path: Path) -> File:
    from aisimc_compiler.syntax.parser import parse

    try:
        with path.open(encoding="utf-8", newline="") as stream:
            text = stream.read()
    except (OSError, UnicodeDecodeError) as reason:
        raise Refused(f"{path} cannot be read: {reason}") from reason
    file, diagnostics = parse(Source(str(path), text))
    if diagnostics:
        line, column = diagnostics[0].span.source.position(diagnostics[0].span.start)
        raise Refused(
            f"{path}:{line}:{column}: {diagnostics[0].message}", help=f"`aisimc check {path}` shows all syntax errors"
        )
    return file
