"""Diagnostics for people: the sentence, the line with the token underlined, the reason, the mend."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from aisimc_compiler.diagnostics.model import Diagnostic, Replacement
from aisimc_compiler.diagnostics.render.display import one_line
from aisimc_compiler.diagnostics.render.snippet import Mark, Paint, changed_lines, snippet, widest
from aisimc_compiler.source import Source

CodeOf = Callable[[str], str]

_STYLES = {
    "error": "1;31",
    "warning": "1;33",
    "gutter": "1;34",
    "secondary": "1;34",
    "bold": "1",
    "help": "1;36",
    "minus": "31",
    "plus": "32",
}
_MAX_DIFF_LINES = 8


def coloured(style: str, text: str) -> str:
    """Text in a style of this renderer, for terminals."""
    return f"\x1b[{_STYLES[style]}m{text}\x1b[0m" if text else text


def plain(_style: str, text: str) -> str:
    """Text without styles."""
    return text


def render(diagnostics: Iterable[Diagnostic], code_of: CodeOf, *, colour: bool = False) -> Iterator[str]:
    """One block of text for each diagnostic, each ending with an empty line."""
    paint: Paint = coloured if colour else plain
    for diagnostic in diagnostics:
        yield "\n".join(_block(diagnostic, code_of(diagnostic.rule), paint)) + "\n\n"


def _block(diagnostic: Diagnostic, code: str, paint: Paint) -> list[str]:
    source, severity = diagnostic.span.source, diagnostic.severity
    head = f"{severity}[{code}] {diagnostic.rule}" if code else f"{severity} {diagnostic.rule}"
    marks: dict[int, tuple[Source, list[Mark]]] = {id(source): (source, [])}
    span = diagnostic.span
    marks[id(source)][1].append(
        Mark(span.start, _first_line_end(source, span.start, span.end), "^", diagnostic.label, severity)
    )
    for label in diagnostic.secondary:
        other = label.span.source
        end = _first_line_end(other, label.span.start, label.span.end)
        mark = Mark(label.span.start, end, "-", label.message, "secondary")
        marks.setdefault(id(other), (other, []))[1].append(mark)
    gutter = widest([file.position(mark.start)[0] for file, found in marks.values() for mark in found])
    rows = [f"{paint(severity, head)}{paint('bold', ': ' + one_line(diagnostic.message))}"]
    for number, (file, found) in enumerate(marks.values()):
        line, column = file.position(found[0].start)
        arrow = "-->" if number == 0 else ":::"
        rows.append(f"{' ' * gutter}{paint('gutter', arrow)} {one_line(file.name)}:{line}:{column}")
        rows.append(f"{' ' * gutter} {paint('gutter', '|')}")
        rows += snippet(file, found, gutter, paint)
    rows += _remarks(diagnostic, gutter, paint)
    return rows


def _first_line_end(source: Source, start: int, end: int) -> int:
    """The end of a span, or of the first of its lines."""
    line_end = source.text.find("\n", start, end)
    if line_end == -1:
        return end
    return max(line_end - (source.text[line_end - 1 : line_end] == "\r"), start)


def _remarks(diagnostic: Diagnostic, gutter: int, paint: Paint) -> list[str]:
    margin = " " * gutter
    note_head = f"{margin} {paint('gutter', '=')} {paint('bold', 'note')}"
    rows = [f"{note_head}: {one_line(note)}" for note in diagnostic.notes]
    if diagnostic.help:
        rows.append(f"{margin} {paint('gutter', '=')} {paint('help', 'help')}: {one_line(diagnostic.help)}")
    if diagnostic.replacement is not None:
        diff = _diff(diagnostic.replacement, gutter, paint)
        if rows and diff:
            rows.append(f"{margin} {paint('gutter', '|')}")
        rows += diff
    return [f"{margin} {paint('gutter', '|')}", *rows] if rows else []


def _diff(replacement: Replacement, gutter: int, paint: Paint) -> list[str]:
    """The lines before and after the replacement, as a diff shows them."""
    span = replacement.span
    changed = changed_lines(span.source, span.start, span.end, replacement.text)
    if changed is None or len(changed[1]) + len(changed[2]) > _MAX_DIFF_LINES or changed[1] == changed[2]:
        return []
    first, before, after = changed
    while before and after and before[0] == after[0]:
        before, after, first = before[1:], after[1:], first + 1
    rows: list[str] = []
    for sign, style, lines in (("-", "minus", before), ("+", "plus", after)):
        for offset, line in enumerate(lines):
            number = paint("gutter", str(first + offset).rjust(gutter))
            rows.append(f"{number} {paint(style, f'{sign} {line}'.rstrip())}")
    return rows


def summary(diagnostics: Iterable[Diagnostic]) -> str:
    """`2 errors in 1 file`, or an empty text when there is nothing to count."""
    errors = warnings = 0
    files: set[int] = set()
    for diagnostic in diagnostics:
        errors += diagnostic.severity == "error"
        warnings += diagnostic.severity == "warning"
        files.add(id(diagnostic.span.source))
    parts = [f"{n:,} {word}{'' if n == 1 else 's'}" for n, word in ((errors, "error"), (warnings, "warning")) if n]
    return f"{' and '.join(parts)} in {len(files):,} file{'' if len(files) == 1 else 's'}" if parts else ""
