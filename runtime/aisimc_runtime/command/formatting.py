"""What `aisimc fmt` does, without click."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence

from aisimc_compiler.diagnostics.model import Diagnostic
from aisimc_compiler.loading import Unreadable, decode, read_bytes
from aisimc_compiler.source import Source
from aisimc_compiler.syntax.format import FormatterError, format_source
from aisimc_runtime.command.terminal import wants_colour

STDIN = "-"

OK, WOULD_CHANGE, REFUSED = 0, 1, 2


def format_files(files: Sequence[str], *, check: bool = False, diff: bool = False, colour: str = "auto") -> int:
    """Format files in place (`-`: standard input to standard output); the exit status.

    With `check` or `diff` nothing is written, and a file that would change makes the status 1. A file with syntax
    errors is left alone and its errors are shown: status 2.
    """
    return max((_format(file, check, diff, colour) for file in dict.fromkeys(files)), default=OK)


def _format(file: str, check: bool, diff: bool, colour: str) -> int:
    source = _read(file)
    if isinstance(source, Unreadable):
        from aisimc_runtime.command.checking import what_is_meant

        sys.stderr.write(f"aisimc: error: {source.name} cannot be read: {source.reason}\n{what_is_meant(source.name)}")
        return REFUSED
    try:
        formatted = format_source(source)
    except FormatterError as error:
        sys.stderr.write(f"aisimc: error: {error}; it is left as it is\n")
        return REFUSED
    if formatted.text is None:
        _refuse(formatted.diagnostics, colour)
        return REFUSED
    if formatted.fragment:
        sys.stderr.write(f"{source.name}: a fragment (it has no `campaign` block)\n")
    changed = formatted.text != source.text
    if diff and changed:
        sys.stdout.writelines(_diff(source, formatted.text, wants_colour(colour, sys.stdout)))
    if check or diff:
        if check and changed and not diff:
            sys.stdout.write(f"{source.name} would change\n")
        return WOULD_CHANGE if changed else OK
    if file == STDIN:
        sys.stdout.write(formatted.text)
    elif changed:
        _write(file, formatted.text)
        sys.stderr.write(f"{source.name}: formatted\n")
    return OK


def _read(file: str) -> Source | Unreadable:
    if file == STDIN:
        return decode(sys.stdin.buffer.read(), "<stdin>")
    data = read_bytes(file, file)
    return data if isinstance(data, Unreadable) else decode(data, file)


def _refuse(diagnostics: list[Diagnostic], colour: str) -> None:
    from aisimc_compiler.diagnostics.render.text import summary
    from aisimc_runtime.command.checking import show

    show(diagnostics, "text", wants_colour(colour, sys.stderr), sys.stderr.write)
    sys.stderr.write(f"{summary(diagnostics)}: not formatted\n")


def _write(file: str, text: str) -> None:
    from pathlib import Path

    from aisimc_runtime.command.writing import replace_file

    replace_file(Path(file), text)


def _diff(source: Source, text: str, colour: bool) -> Iterator[str]:
    """A unified diff; a missing line end at the end of the file is said."""
    from difflib import unified_diff

    before, after = source.text.splitlines(keepends=True), text.splitlines(keepends=True)
    for line in unified_diff(before, after, source.name, f"{source.name} (formatted)"):
        body = line.rstrip("\r\n")
        end = "\n" if line.endswith("\n") else "\n\\ No newline at end of file\n"
        style = {"+": "32", "-": "31", "@": "36"}.get(body[:1]) if colour else None
        yield f"\x1b[{style}m{body}\x1b[0m{end}" if style else body + end
