"""Where a trace comes from: a file beside the campaign, a commit of a repository, or a generator (`input.upstream`)."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator

from aisimc_compiler.diagnostics.model import Diagnostic, Label
from aisimc_compiler.model.campaign import Campaign, Given, Input
from aisimc_compiler.rules.addresses import address_fault
from aisimc_compiler.rules.digests import blank, is_hex
from aisimc_compiler.source import Span

_SOURCES = ("file", "upstream", "generator")
SOURCES = "one of `file`, `upstream` + `commit` + `path`, or `generator { seed rows }`"
"""What an input without a source is told."""


def source(campaign: Campaign) -> Iterator[Diagnostic]:
    """`input.upstream`: one source; an external trace names repository, commit and path."""
    from aisimc_compiler.rules.refusal import refuse

    for entry in campaign.inputs.values():
        named = [name for name in _SOURCES if _source_name(entry, name) is not None]
        if not entry.touched & {*_SOURCES}:
            if "commit" in entry.touched or "path" in entry.touched:
                message, lacks = "the trace's commit or path is given without its repository", "`upstream`"
                rule = "input.upstream"
            else:
                message, lacks = f"input `{entry.name.value}` names no source", "`file`, `upstream` or `generator`"
                rule = "name.missing"
            yield refuse(
                rule,
                entry.name.span,
                message,
                label=f"{lacks} is missing",
                help=SOURCES,
            )
        elif len(named) > 1:
            yield _two_sources(entry, named)
        elif named:
            yield from _source(entry, named[0])


def _two_sources(entry: Input, named: list[str]) -> Diagnostic:
    from aisimc_compiler.rules.refusal import refuse

    spans = [span for name in named if (span := _source_name(entry, name)) is not None]
    spans.sort(key=lambda span: span.start)
    span = spans[-1]
    secondary = tuple(Label(other, "another source") for other in spans[:-1])
    return refuse(
        "input.upstream",
        span,
        f"input `{entry.name.value}` names {len(named)} sources",
        label="one is enough",
        help="keep one of `file`, `upstream` and `generator`",
        secondary=secondary,
    )


def _source_name(entry: Input, name: str) -> Span | None:
    if name == "generator":
        return entry.generator.keyword if entry.generator else None
    given = entry.file if name == "file" else entry.upstream
    return given.name if given else None


def _source(entry: Input, name: str) -> Iterator[Diagnostic]:
    from aisimc_compiler.rules.refusal import refuse_name

    if name == "upstream":
        yield from _upstream(entry)
        return
    for given in (entry.commit, entry.path):
        if given is not None:
            yield refuse_name(
                "input.upstream",
                given,
                f"a commit and a path belong to an `upstream` trace, and this one has a `{name}`",
                label="of which repository?",
                help="name the repository in `upstream`, or remove it",
            )
            break
    if name == "file" and entry.file is not None and (fault := file_fault(entry.file)):
        yield fault
    if name == "generator":
        yield from _generator(entry)


def file_fault(given: Given[str]) -> Diagnostic | None:
    """A refusal of a trace's path that leads to a place of one machine."""
    text = given.value
    if text.startswith(("/", "~", "\\")) or "://" in text or (len(text) > 2 and text[1:3] in (":\\", ":/")):
        from aisimc_compiler.rules.refusal import refuse_value

        return refuse_value(
            "input.upstream",
            given,
            f"`{text}` names a place on one machine",
            label="not relative to the campaign",
            help="name the file relative to the campaign; `aisimc store add` and AISIMC_INPUTS find it by its checksum",
        )
    return None


def _generator(entry: Input) -> Iterator[Diagnostic]:
    from aisimc_compiler.rules.refusal import refuse_value

    generator = entry.generator
    if generator is None:
        return
    if generator.seed is not None and generator.seed.value < 0:
        yield refuse_value("input.format", generator.seed, "a seed is not negative", label="takes 0 or more")
    if generator.rows is None:
        return
    if generator.rows.value < 1:
        yield refuse_value("input.checksum", generator.rows, "a trace has at least one row", label="takes 1 or more")
    elif entry.rows is not None and entry.rows.value >= 1 and entry.rows.value != generator.rows.value:
        yield refuse_value(
            "input.checksum",
            entry.rows,
            f"the generator makes {generator.rows.value:,} rows, and the input declares {entry.rows.value:,}",
            label="not what is generated",
            help=f"write `{generator.rows.value}`",
            secondary=(Label(generator.rows.span, "generated"),),
        )


def _upstream(entry: Input) -> Iterator[Diagnostic]:
    from aisimc_compiler.rules.pinning.revisions import commit_fault
    from aisimc_compiler.rules.refusal import listed, refuse_value

    upstream = entry.upstream
    if upstream is None:
        return
    if blank(upstream.value):
        yield refuse_value("input.upstream", upstream, "the upstream repository is empty", label="says nothing")
    elif fault := address_fault("input.upstream", upstream):
        yield fault
    missing = [name for name in ("commit", "path") if name not in entry.touched]
    if missing:
        lacks = listed(missing, last="and")
        yield refuse_value(
            "input.upstream",
            upstream,
            f"the upstream trace is named without its {lacks}",
            label=f"{lacks} {'is' if len(missing) == 1 else 'are'} missing",
            help="a trace is found again by repository, full commit id and path",
        )
    if entry.commit is not None and not is_hex(entry.commit.value, 40, 64):
        yield commit_fault("input.upstream", entry.commit)
    if entry.path is not None:
        yield from _path(entry.path)


def _path(given: Given[str]) -> Iterator[Diagnostic]:
    from aisimc_compiler.rules.refusal import refuse_value

    text = given.value
    if blank(text):
        message = "the path of the trace is empty"
    elif text != text.strip() or text.startswith("/") or "\\" in text or text.endswith("/"):
        message = f"`{text}` is no path of a file in a repository"
    elif posixpath.normpath(text).startswith("..") or "*" in text:
        message = f"`{text}` does not name one file of the repository"
    else:
        return
    yield refuse_value("input.upstream", given, message, label="takes a path such as `traces/window.jsonl`")
