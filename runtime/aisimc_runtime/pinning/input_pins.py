"""The pins of an `input` block: its upstream commit, and checksum, row count and slice checksum of its trace."""

from __future__ import annotations

from dataclasses import dataclass

from aisimc_compiler.diagnostics.model import Label
from aisimc_compiler.rules.addresses import address_fault
from aisimc_compiler.rules.inputs import SOURCES, beyond, file_fault
from aisimc_compiler.rules.refusal import refuse
from aisimc_compiler.syntax.tree import Attribute, Block
from aisimc_runtime.pinning.blocks import Attributes, digest, inner, integer, named_at, placed, string, title, write
from aisimc_runtime.pinning.commits import FULL
from aisimc_runtime.pinning.edits import attributes, grouped, quoted
from aisimc_runtime.pinning.files import FileFacts
from aisimc_runtime.pinning.findings import Effort, Findings, Unverified, Wanted, World, broken


@dataclass(frozen=True, slots=True)
class _Trace:
    """An input's pins as they stand."""

    given: Attributes
    anchor: str
    """The attribute behind which new ones go."""
    slice: Block | None
    sliced: Attributes
    window: tuple[int, int] | None
    sha256: str | None
    rows: int | None
    slice_sha256: str | None

    @property
    def complete(self) -> bool:
        return None not in (self.sha256, self.rows) and (self.window is None or self.slice_sha256 is not None)


def input_pins(block: Block, world: World, refresh: bool) -> Findings:
    """The edits and findings of one input, by its source."""
    given = attributes(block)
    if "upstream" in given and (upstream := string(given, "upstream")):
        yield from _upstream(block, given, upstream, world, refresh)
    elif "file" in given and (file := string(given, "file")):
        if fault := file_fault(placed(given, "file")):
            yield fault
            return
        yield from _pinned(block, given, {"kind": "file", "file": file}, "file", world, refresh)
    elif generators := list(inner(block, "generator")):
        values = attributes(generators[0])
        source: dict[str, object] = {
            "kind": "generator",
            "seed": integer(values, "seed"),
            "rows": integer(values, "rows"),
            "block_size": integer(given, "block_size"),
        }
        yield from _pinned(block, given, source, "block_size", world, refresh)
    else:
        yield refuse(
            "name.missing",
            named_at(block),
            f"{title(block)} names no source, so there is nothing to pin",
            label="where does the trace come from?",
            help=SOURCES,
        )


def _upstream(block: Block, given: Attributes, upstream: str, world: World, refresh: bool) -> Findings:
    if fault := address_fault("input.upstream", placed(given, "upstream")):
        yield fault
        return
    named = string(given, "commit") or "HEAD"
    commit = named if FULL.fullmatch(named) else world.commit(upstream, named)
    yield from write(given, "upstream", "commit", quoted(commit), f"{named} today")
    source: dict[str, object] = {
        "kind": "upstream",
        "repository": upstream,
        "commit": commit,
        "path": string(given, "path"),
    }
    yield from _pinned(block, given, source, "path" if "path" in given else "upstream", world, refresh)


def _pinned(
    block: Block, given: Attributes, source: dict[str, object], anchor: str, world: World, refresh: bool
) -> Findings:
    trace = _read(block, given, anchor)
    if trace.slice is not None and trace.window is None:
        yield refuse(
            "input.slice",
            trace.slice.keyword.span,
            "the slice says no whole window, so there is nothing to pin",
            label="takes `start` and `rows`",
            help="for example `start = 0` and `rows = 5_000`",
        )
    effort = Effort.REFRESH if refresh else Effort.VERIFY if trace.complete else Effort.FILL
    facts = world.trace(Wanted(source, trace.sha256, trace.rows, trace.window, effort))
    if facts is None:
        yield Unverified(title(block))
    elif trace.sha256 not in (None, facts.sha256) and not refresh:
        counted = "" if trace.rows in (None, facts.rows) else f" It has {facts.rows:,} rows, {trace.rows:,} are pinned."
        message = f"{facts.place} is not what is pinned: it hashes to {facts.sha256}.{counted}".removesuffix(".")
        because = Label(given[anchor].value.span, "what it is of") if anchor in given else None
        yield broken("input.checksum", given["sha256"], message, quoted(facts.sha256),
                     label="of other bytes", because=because)  # fmt: skip
    else:
        yield from _whole(trace, facts, refresh)
        yield from _window(trace, facts, refresh)


def _read(block: Block, given: Attributes, anchor: str) -> _Trace:
    window = next(inner(block, "slice"), None)
    sliced = attributes(window) if window is not None else {}
    start, rows = integer(sliced, "start"), integer(sliced, "rows")
    whole = start is not None and rows is not None and start >= 0 and rows > 0
    return _Trace(
        given=given,
        anchor=anchor,
        slice=window,
        sliced=sliced,
        window=(start, rows) if whole and start is not None and rows is not None else None,
        sha256=digest(given, "sha256"),
        rows=integer(given, "rows"),
        slice_sha256=digest(sliced, "sha256"),
    )


def _whole(trace: _Trace, facts: FileFacts, refresh: bool) -> Findings:
    given = trace.given
    if trace.sha256 != facts.sha256:
        yield from write(given, trace.anchor, "sha256", quoted(facts.sha256), "the file's bytes")
    if trace.rows == facts.rows:
        return
    if refresh or trace.rows is None:
        behind = "sha256" if "sha256" in given else trace.anchor
        yield from write(given, behind, "rows", grouped(facts.rows), "its rows")
    else:
        yield broken(
            "input.checksum",
            given["rows"],
            f"{facts.place} has {facts.rows:,} rows, and {trace.rows:,} are pinned",
            grouped(facts.rows),
            label="not what was counted",
            because=None,
        )


def _window(trace: _Trace, facts: FileFacts, refresh: bool) -> Findings:
    if trace.window is None or trace.slice_sha256 == facts.slice_sha256 is not None:
        return
    start, rows = trace.window
    if facts.slice_sha256 is None:
        at: Attribute = trace.sliced["start" if start else "rows"]
        yield beyond(at.value.span, start, rows, facts.rows, facts.place)
    elif refresh or trace.slice_sha256 is None:
        yield from write(trace.sliced, "rows", "sha256", quoted(facts.slice_sha256), "the window's bytes")
    else:
        first, last = trace.sliced["start"], trace.sliced["rows"]
        yield broken(
            "input.slice",
            trace.sliced["sha256"],
            f"rows {start:,} to {start + rows - 1:,} of {facts.place} hash to {facts.slice_sha256}",
            quoted(facts.slice_sha256),
            label="of another window",
            because=Label((first if first.span.start < last.span.start else last).value.span, "this window"),
        )
