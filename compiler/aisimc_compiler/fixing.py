"""`check --fix`: puts in the replacements that cannot change what a campaign means, until there are none left."""

from __future__ import annotations

import os

from aisimc_compiler.api import CheckResult, check_file, check_source
from aisimc_compiler.diagnostics.model import Diagnostic, Replacement
from aisimc_compiler.records import NamedTuple
from aisimc_compiler.source import Source

_MAX_ROUNDS = 20


class Fixed(NamedTuple):
    """A mended text, and how many replacements it took."""

    text: str
    mends: int


def fix_file(path: str) -> Fixed | None:
    """Mend the text of a file (which is not written here). None where the file cannot be read."""
    result = check_file(path)
    if result.unreadable is not None:
        return None
    return fix_checked(result, os.path.dirname(path))  # noqa: PTH120 - as in api


def fix_checked(result: CheckResult, folder: str) -> Fixed:
    """Mend the first file of a check. Each round is checked again; one that makes things worse is taken back."""
    source, count = result.files[0], 0
    for _ in range(_MAX_ROUNDS):
        chosen = applicable(result.diagnostics, source)
        if not chosen:
            break
        mended = Source(source.name, apply(source.text, chosen))
        again = check_source(mended, folder)
        if len(_errors(again)) > len(_errors(result)) and len(chosen) == 1:
            break
        count += len(chosen)
        source, result = mended, again
    return Fixed(source.text, count)


def _errors(result: CheckResult) -> list[Diagnostic]:
    return [d for d in result.diagnostics if d.severity == "error"]


def applicable(diagnostics: tuple[Diagnostic, ...], source: Source) -> list[Replacement]:
    """The replacements in a source that may be put in unasked; of two that overlap, the first."""
    chosen: list[Replacement] = []
    end = -1
    for replacement in sorted(
        (d.replacement for d in diagnostics if d.replacement is not None and d.replacement.applicable),
        key=lambda r: (r.span.start, r.span.end),
    ):
        if replacement.span.source is source and replacement.span.start >= end:
            if replacement.span.start == end and chosen and chosen[-1].span.start == end:
                continue
            chosen.append(replacement)
            end = max(replacement.span.end, replacement.span.start)
    return chosen


def apply(text: str, replacements: list[Replacement]) -> str:
    """The text with replacements put in; they do not overlap and are in order."""
    pieces: list[str] = []
    done = 0
    for replacement in replacements:
        pieces += [text[done : replacement.span.start], replacement.text]
        done = replacement.span.end
    pieces.append(text[done:])
    return "".join(pieces)
