"""What `aisimc check` does, without click: the fast path and the click command both call this."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence

from aisimc_compiler.api import CheckResult, check_bytes, check_file
from aisimc_compiler.diagnostics.model import Diagnostic
from aisimc_runtime.command.terminal import wants_colour

STDIN = "-"

Write = Callable[[str], object]


def check(files: Sequence[str], form: str = "text", colour: str = "auto", fix: bool = False) -> int:
    """Check files and show what is wrong on standard output; the exit status (0 valid, 2 refused).

    A file that cannot be read is one line on standard error. With `fix`, replacements that cannot change the
    meaning are put into the files first.
    """
    if fix and STDIN in files:
        sys.stderr.write("aisimc: error: --fix changes files, and `-` is none\n")
        return 2
    results: list[tuple[str, CheckResult]] = []
    for file in dict.fromkeys(files):
        if fix:
            _fix(file)
        results.append((file, _check(file)))
    diagnostics = distinct(d for _, result in results for d in result.diagnostics)
    show(diagnostics, form, wants_colour(colour, sys.stdout), sys.stdout.write)
    for _, result in results:
        if result.unreadable:
            sys.stderr.write(f"aisimc: error: {result.unreadable.name} cannot be read: {result.unreadable.reason}\n")
            sys.stderr.write(what_is_meant(result.unreadable.name))
    if form == "text":
        _conclude(results, diagnostics)
    return 0 if all(result.ok for _, result in results) else 2


def _check(file: str) -> CheckResult:
    if file != STDIN:
        return check_file(file)
    return check_bytes(sys.stdin.buffer.read(), "<stdin>")


def what_is_meant(name: str) -> str:
    """A line with the file that a misspelt name most likely means; nothing where there is none."""
    from aisimc_runtime.ports.named import meant

    mend = meant(name)
    return f"  help: {mend}\n" if mend else ""


def _fix(file: str) -> None:
    from pathlib import Path

    from aisimc_compiler.fixing import fix_file
    from aisimc_runtime.command.writing import replace_file

    fixed = fix_file(file)
    if fixed is not None and fixed.mends:
        replace_file(Path(file), fixed.text)
        sys.stderr.write(f"{file}: {fixed.mends} {'mend' if fixed.mends == 1 else 'mends'} applied\n")


def distinct(diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Diagnostics without those that another file's check has found too, in a file that both import."""
    unique: dict[tuple[object, ...], Diagnostic] = {}
    for d in diagnostics:
        unique.setdefault((d.span.source.name, d.span.start, d.span.end, d.rule, d.message), d)
    return list(unique.values())


def show(diagnostics: Sequence[Diagnostic], form: str, colour: bool, write: Write) -> None:
    """Write diagnostics in one of `FORMATS`; text and github write nothing where there is nothing to say."""
    if form == "text":
        from aisimc_compiler.diagnostics.render import text

        if diagnostics:
            for block in text.render(diagnostics, code_of, colour=colour):
                write(block)
    elif form == "json":
        from aisimc_compiler.diagnostics.render import json

        write(json.render(diagnostics, code_of))
    elif form == "github":
        from aisimc_compiler.diagnostics.render import github

        for line in github.render(diagnostics, code_of):
            write(line)
    else:
        from aisimc_compiler.diagnostics.render import sarif
        from aisimc_runtime import __version__

        write(sarif.render(diagnostics, _describe, __version__))


def code_of(rule: str) -> str:
    """A rule's stable code."""
    from aisimc_compiler.rules import RULES

    return RULES[rule].code if rule in RULES else ""


def _describe(rule: str) -> tuple[str, str, str]:
    from aisimc_compiler.rules import RULES

    return (RULES[rule].code, RULES[rule].title, RULES[rule].reason) if rule in RULES else ("", rule, "")


def _conclude(results: list[tuple[str, CheckResult]], diagnostics: list[Diagnostic]) -> None:
    from aisimc_compiler.diagnostics.render.text import summary

    for _, result in results:
        if result.fragment and result.ok:
            name = result.files[0].name
            sys.stdout.write(f"{name}: a fragment, valid as far as it goes; `plan` and `run` need a `campaign` block\n")
    counted = summary(diagnostics)
    if counted:
        sys.stdout.write(counted + "\n")
    elif all(result.ok for _, result in results):
        whole = [result for _, result in results if not result.fragment]
        if whole:
            sys.stdout.write(f"{len(whole)} {'campaign is' if len(whole) == 1 else 'campaigns are'} valid\n")
