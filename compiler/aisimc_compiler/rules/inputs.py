"""Inputs: where a trace comes from, what it must be, and which window of it is replayed."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator

from aisimc_compiler.diagnostics.model import Diagnostic, Label
from aisimc_compiler.model import closed
from aisimc_compiler.model.campaign import Campaign, Given, Input, Slice
from aisimc_compiler.rules.addresses import address_fault
from aisimc_compiler.rules.digests import blank, is_hex, sha256_fault
from aisimc_compiler.rules.language import Rule
from aisimc_compiler.source import Span

_UNSUPPORTED_FORMATS = {
    "multi_turn": "multi-turn traces are",
    "multiturn": "multi-turn traces are",
    "multi-turn": "multi-turn traces are",
    "agentic": "agentic traces are",
    "applied_compute": "agentic traces are",
    "weka": "agentic traces are",
    "mooncake_multi_turn": "multi-turn traces are",
    "mooncake-multi-turn": "multi-turn traces are",
    "mooncake_agentic": "agentic traces are",
    "session": "multi-turn traces are",
    "sessions": "multi-turn traces are",
    "conversation": "multi-turn traces are",
    "synthetic": "synthetic workloads are",
}
_SOURCES = ("file", "upstream", "generator")


def format_(campaign: Campaign) -> Iterator[Diagnostic]:
    """`input.format`: a Mooncake trace with its block size."""
    from aisimc_compiler.rules.refusal import refuse_value

    for entry in campaign.inputs.values():
        given = entry.format
        if given is not None and given.value != "mooncake":
            yield _format_fault(given)
        if entry.block_size is not None and entry.block_size.value < 1:
            yield refuse_value(
                "input.format",
                entry.block_size,
                f"a trace block of {entry.block_size.value} tokens holds nothing",
                label="takes a positive integer",
            )


def _format_fault(given: Given[str]) -> Diagnostic:
    from aisimc_compiler.model.nearest import nearest
    from aisimc_compiler.rules.refusal import refuse_value

    planned = _UNSUPPORTED_FORMATS.get(given.value.lower())
    meant = None if planned else nearest(given.value, ("mooncake",))
    if planned:
        message = f"{planned} not yet supported: version 1 replays single-turn Mooncake traces at their timestamps"
    else:
        message = f"there is no trace format `{given.value}`"
    return refuse_value(
        "input.format",
        given,
        message,
        label="`mooncake` is the only format",
        help=f"did you mean `{meant}`?" if meant else "",
        replace=meant,
    )


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
                help="one of `file`, `upstream` + `commit` + `path`, or `generator { seed rows }`",
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


def checksum(campaign: Campaign) -> Iterator[Diagnostic]:
    """`input.checksum`: the full file's SHA-256 and row count."""
    from aisimc_compiler.rules.refusal import refuse, refuse_value

    for entry in campaign.inputs.values():
        if "sha256" not in entry.touched:
            yield refuse(
                "input.checksum",
                entry.name.span,
                f"input `{entry.name.value}` has no SHA-256 of the full file",
                label="`sha256` is missing",
                help='add `sha256 = "…"`; `aisimc pin` computes it',
            )
        fault = sha256_fault("input.checksum", entry.sha256, "the full file")
        if fault:
            yield fault
        if entry.rows is not None and entry.rows.value < 1:
            yield refuse_value(
                "input.checksum",
                entry.rows,
                f"a trace of {entry.rows.value} rows replays nothing",
                label="takes a positive integer",
            )


def slice_(campaign: Campaign) -> Iterator[Diagnostic]:
    """`input.slice`: one contiguous window inside the file, with its own checksum."""
    for entry in campaign.inputs.values():
        if entry.slice is not None:
            yield from _slice(entry, entry.slice)


def _slice(entry: Input, window: Slice) -> Iterator[Diagnostic]:
    from aisimc_compiler.rules.refusal import refuse, refuse_value

    if "sha256" not in window.touched:
        yield refuse(
            "input.slice",
            window.keyword,
            "the slice has no SHA-256 of its own",
            label="`sha256` is missing",
            help='add `sha256 = "…"`; `aisimc pin` computes it',
        )
    fault = sha256_fault("input.slice", window.sha256, "the slice")
    if fault:
        yield fault
    start, rows = window.start, window.rows
    if start is not None and start.value < 0:
        yield refuse_value("input.slice", start, "a slice starts at row 0 or later", label="before the file")
        return
    if rows is not None and rows.value < 1:
        yield refuse_value(
            "input.slice", rows, f"a slice of {rows.value} rows replays nothing", label="takes a positive integer"
        )
        return
    full = entry.rows
    if start is None or rows is None or full is None or full.value < 1:
        return
    if start.value + rows.value > full.value:
        beyond = start if start.value else rows
        yield refuse_value(
            "input.slice",
            beyond,
            f"the slice ends at row {start.value + rows.value:,}, and the file has {full.value:,}",
            label="leads beyond the file",
            help=f"with {rows.value:,} rows it can start at row {full.value - rows.value:,} at the latest"
            if rows.value <= full.value
            else f"the file has no more than {full.value:,} rows",
            secondary=(Label(full.span, "rows of the file"),),
        )
    elif start.value == 0 and rows.value == full.value:
        yield from _whole(entry, window)


def _whole(entry: Input, window: Slice) -> Iterator[Diagnostic]:
    """A slice of the whole file has the file's checksum."""
    from aisimc_compiler.rules.refusal import refuse_value

    if window.sha256 is None or entry.sha256 is None or not is_hex(entry.sha256.value, 64):
        return
    if is_hex(window.sha256.value, 64) and window.sha256.value.lower() != entry.sha256.value.lower():
        yield refuse_value(
            "input.slice",
            window.sha256,
            "the slice is the whole file, and has another SHA-256",
            label="not the file's",
            secondary=(Label(entry.sha256.span, "the file's"),),
        )


def long(campaign: Campaign) -> Iterator[Diagnostic]:
    """`input.long`: the rows of a `long` corpus replay at least 5,000 requests."""
    if campaign.corpus is None or campaign.corpus.value != "long":
        return
    from aisimc_compiler.rules.refusal import refuse_value

    for row in campaign.rows:
        if row.kind != "row" or row.input is None:
            continue
        entry = campaign.inputs.get(row.input.value)
        if entry is None or (entry.slice is None and "slice" in entry.touched):
            continue
        rows = entry.slice.rows if entry.slice else entry.rows
        if rows is None or not 0 < rows.value < closed.LONG_CORPUS_ROWS:
            continue
        yield refuse_value(
            "input.long",
            rows,
            f"a `long` corpus has at least {closed.LONG_CORPUS_ROWS:,} requests in every row, not {rows.value:,}",
            label="too short for a long corpus",
            help="take a longer window, or say `corpus = preflight`",
            secondary=(
                Label(campaign.corpus.span, "declared here"),
                Label(row.name.span, "replayed by this row"),
            ),
        )


CHECKS: tuple[tuple[str, Rule], ...] = (
    ("input.format", format_),
    ("input.upstream", source),
    ("input.checksum", checksum),
    ("input.slice", slice_),
    ("input.long", long),
)
