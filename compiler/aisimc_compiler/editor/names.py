"""Names of families, inputs, rows and exceptions: where they are defined, and where they are used."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator

from aisimc_compiler.records import NamedTuple
from aisimc_compiler.source import Source, Span
from aisimc_compiler.syntax import tree
from aisimc_compiler.syntax.parser import parse

DEFINES = {"family": "family", "input": "input", "row": "row", "fixture": "row", "exception": "exception"}
"""Keyword of a block → the kind of name that its label defines."""

_USES = {
    ("row", "family"): "family",
    ("fixture", "family"): "family",
    ("row", "input"): "input",
    ("fixture", "input"): "input",
    ("family", "input"): "input",
    ("exception", "row"): "row",
    ("performance", "rows"): "row",
}


class Occurrence(NamedTuple):
    """A name at a place, as a definition or a use. `block` is the whole block of a definition."""

    kind: str  # family, input, row, exception, import
    name: str
    span: Span
    defines: bool
    block: Span | None = None


def kind_of_value(keyword: str, attribute: str) -> str | None:
    """The kind of name that an attribute of a top-level block takes, or None."""
    return _USES.get((keyword, attribute))


def occurrences(files: Iterable[Source]) -> list[Occurrence]:
    """Every name in some files, in reading order."""
    return [found for source in files for found in _in_file(source)]


def _in_file(source: Source) -> Iterator[Occurrence]:
    for item in parse(source)[0].body:
        if not isinstance(item, tree.Block):
            continue
        keyword = item.keyword.text
        for label in item.labels:
            if keyword == "import" and isinstance(label, tree.Value) and label.kind == "string":
                yield Occurrence("import", str(label.value), label.span, False)
            elif isinstance(label, tree.Name) and keyword in DEFINES:
                yield Occurrence(DEFINES[keyword], label.text, label.span, True, item.span)
            elif isinstance(label, tree.Name) and keyword == "unsupported":
                yield Occurrence("row", label.text, label.span, False)
        for part in item.body:
            if isinstance(part, tree.Attribute) and (kind := kind_of_value(keyword, part.name.text)):
                for value in _words(part.value):
                    yield Occurrence(kind, str(value.value), value.span, False)


def _words(value: tree.Value) -> Iterator[tree.Value]:
    if value.kind == "word":
        yield value
    elif value.kind == "list" and isinstance(value.value, tuple):
        for part in value.value:
            yield from _words(part)


def at(found: Iterable[Occurrence], source: Source, offset: int) -> Occurrence | None:
    """The occurrence that an offset stands in, or right behind."""
    for one in found:
        if one.span.source is source and one.span.start <= offset <= one.span.end:
            return one
    return None


def same(found: Iterable[Occurrence], one: Occurrence) -> list[Occurrence]:
    """All occurrences of one name."""
    return [other for other in found if (other.kind, other.name) == (one.kind, one.name)]


def imported(one: Occurrence) -> str:
    """The path of the file that an import names, as seen from where the importing file's own path starts."""
    return posixpath.normpath(posixpath.join(posixpath.dirname(one.span.source.name), one.name))
