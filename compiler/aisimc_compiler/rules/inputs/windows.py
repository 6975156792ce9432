"""Which window of a trace is replayed, and whether it is long enough (`input.slice`, `input.long`)."""

from __future__ import annotations

from collections.abc import Iterator

from aisimc_compiler.diagnostics.model import Diagnostic, Label
from aisimc_compiler.model import closed
from aisimc_compiler.model.campaign import Campaign, Input, Slice
from aisimc_compiler.rules.digests import is_hex, sha256_fault
from aisimc_compiler.source import Span


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
        place = (start if start.value else rows).span
        yield beyond(place, start.value, rows.value, full.value, secondary=(Label(full.span, "rows of the file"),))
    elif start.value == 0 and rows.value == full.value:
        yield from _whole(entry, window)


def beyond(
    place: Span, start: int, rows: int, whole: int, file: str = "the file", secondary: tuple[Label, ...] = ()
) -> Diagnostic:
    """A refusal of a window that is not wholly inside its file of `whole` rows; `file` is what to call that."""
    from aisimc_compiler.rules.refusal import refuse

    return refuse(
        "input.slice",
        place,
        f"the slice ends at row {start + rows:,}, and {file} has {whole:,}",
        label="leads beyond the file",
        help=f"with {rows:,} rows it can start at row {whole - rows:,} at the latest"
        if rows <= whole
        else f"the file has no more than {whole:,} rows",
        secondary=secondary,
    )


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
