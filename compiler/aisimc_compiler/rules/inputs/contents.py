"""What a trace must be: its format, its checksum and its rows (`input.format`, `input.checksum`)."""

from __future__ import annotations

from collections.abc import Iterator

from aisimc_compiler.diagnostics.model import Diagnostic
from aisimc_compiler.model.campaign import Campaign, Given
from aisimc_compiler.rules.digests import sha256_fault

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
    from aisimc_compiler.rules.refusal import did_you_mean, refuse_value

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
        help=did_you_mean(meant),
        replace=meant,
    )


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
