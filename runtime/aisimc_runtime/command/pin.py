"""`aisimc pin`: fills in commits, wheel hashes and checksums, in place, and says which pins do not hold."""

from __future__ import annotations

import difflib
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

import click

from aisimc_compiler.diagnostics.model import Diagnostic
from aisimc_compiler.source import Source
from aisimc_compiler.syntax.tree import Block, File, Value
from aisimc_runtime.command.exits import Exit
from aisimc_runtime.command.writing import fail, replace_file
from aisimc_runtime.failures import Failure, Refused
from aisimc_runtime.pinning.edits import Edit, apply, laid_out_again
from aisimc_runtime.pinning.findings import Finding, Unpinned, Unverified
from aisimc_runtime.pinning.walk import pins
from aisimc_runtime.pinning.world import RealWorld
from aisimc_runtime.ports.named import regular, unreadable

EPILOG = """\b
Examples:
  aisimc pin nightly.campaign             # fill in what is missing or moving
  aisimc pin nightly.campaign --dry-run   # only show the diff; exit 1 when something would change
  aisimc pin nightly.campaign --refresh   # compute every checksum again, also those that are there

The only command that resolves anything moving; check, plan and run never do. Exit 3 when a place could not be pinned,
or holds a pin that its file, trace or wheel does not agree with.
"""


@click.command(epilog=EPILOG)
@click.argument("specs", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--dry-run", is_flag=True, help="Show the diff and write nothing.")
@click.option("--refresh", is_flag=True, help="Compute again what is pinned already (wheel hashes, files, slices).")
def command(specs: tuple[Path, ...], dry_run: bool, refresh: bool) -> None:
    """Fill in pins that are missing or moving, and verify the others.

    A branch, tag or short id becomes the full commit; a wheel version gets its hash from the index that pip uses; an
    input file gets its SHA-256, row count and slice checksum; the embedded engine and patches get the digest of what
    lies there now. The file is edited in place, comments and layout kept, and so are the files it imports.

    A pin that is there is left as it is, and held against the bytes where they are at hand: beside the campaign, in the
    store, in a folder of AISIMC_INPUTS. One that does not hold is shown; --refresh mends it.
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
    """Pin one file; whether something would change in it, and whether something is wrong with it."""
    file = _parse(path)
    world = RealWorld(path.resolve().parent, lambda line: click.echo(f"{path}: {line}", err=True))
    found = list(pins(file, world, refresh=refresh))
    before = file.source.text
    edits = [edit for edit in found if isinstance(edit, Edit)]
    after = laid_out_again(before, apply(before, edits)) if edits else before
    wrong = _say_what_is_wrong(path, found)
    if before != after:
        _show(path, before, after)
        if not dry_run:
            replace_file(path, after)
    _conclude(path, found, changed=before != after, wrong=wrong)
    return before != after, wrong


def _say_what_is_wrong(path: Path, found: Sequence[Finding]) -> bool:
    diagnostics = [item for item in found if isinstance(item, Diagnostic)]
    problems = [item for item in found if isinstance(item, Unpinned)]
    if diagnostics:
        from aisimc_runtime.command.checking import show
        from aisimc_runtime.command.terminal import wants_colour

        show(diagnostics, "text", wants_colour("auto", sys.stderr), lambda text: click.echo(text, err=True, nl=False))
    for problem in problems:
        click.echo(problem.failure.text(f"{path}: {problem.place}: "), err=True, nl=False)
    return bool(diagnostics or problems)


def _conclude(path: Path, found: Sequence[Finding], *, changed: bool, wrong: bool) -> None:
    unverified = [item.place for item in found if isinstance(item, Unverified)]
    if not changed:
        held = "everything is pinned, and what could be verified here holds" if unverified else "every pin holds"
        click.echo(f"{path}: {'not changed' if wrong else held}")
    if unverified:
        click.echo(f"{path}: not verified, the pinned bytes are not here: {', '.join(unverified)}")


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
        if path.resolve() in seen or (path not in specs and not path.is_file()):
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
        with regular(path, str(path)).open(encoding="utf-8", newline="") as stream:
            text = stream.read()
    except OSError as reason:
        raise unreadable(path, reason) from reason
    except UnicodeDecodeError as reason:
        help_ = f"`aisimc check {shlex.quote(str(path))}` says where"
        raise Refused(f"{path} cannot be read: it is not UTF-8 text", help=help_) from reason
    file, diagnostics = parse(Source(str(path), text))
    if diagnostics:
        line, column = diagnostics[0].span.source.position(diagnostics[0].span.start)
        raise Refused(
            f"{path}:{line}:{column}: {diagnostics[0].message}",
            help=f"`aisimc check {shlex.quote(str(path))}` shows all syntax errors",
        )
    return file
