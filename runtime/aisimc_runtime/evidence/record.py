"""What one per-request record says, read into the few values that evidence is made of."""

from __future__ import annotations

from typing import Any, NamedTuple

HANDOFF_STAMPS = (
    "prefill_admit_ms",
    "source_held_ms",
    "destination_reserved_ms",
    "destination_activated_ms",
    "decode_admit_ms",
    "source_released_ms",
)
"""The six stamps of a handoff; a request has all of them, some, or none."""

COLUMNS: dict[str, str] = {
    "arrival_ms": "arrival_time_ms",
    "first_admit_ms": "first_admit_ms",
    "first_token_ms": "first_token_ms",
    "last_token_ms": "last_token_ms",
    "terminal_ms": "terminal_time_ms",
    "status": "terminal_status",
    "input_tokens": "input_length",
    "requested_output_tokens": "requested_output_length",
    "output_tokens": "output_length",
    "reused_tokens": "reused_input_tokens",
    "prefill_worker": "prefill_worker_idx",
    "decode_worker": "decode_worker_idx",
}
"""Column of the extract: field of the record. `prefill_worker` and `decode_worker` hold scheduler ids
(worker x dp + rank); an aggregated run has its workers in `decode_worker`."""


class Readmission(NamedTuple):
    """One admission after the first one to the same pool: the request had been put out in between."""

    request: str
    position: int
    pool: str
    at_ms: float
    after_first_token: bool


def name_of(record: dict[str, Any], position: int) -> str:
    """The request's session name as the records have it; its id where it has none."""
    for key in ("session_id", "request_id", "uuid"):
        value = record.get(key)
        if isinstance(value, str):
            return value
    return f"record {position}"


def readmissions_of(record: dict[str, Any], name: str, position: int) -> list[Readmission]:
    """The record's readmissions, in order."""
    first_token = record.get("first_token_ms")
    return [
        Readmission(
            name,
            position,
            str(admission.get("pool")),
            admission.get("at_ms"),
            first_token is not None and admission.get("at_ms") is not None and admission["at_ms"] > first_token,
        )
        for admission in record.get("admission_history") or ()
        if admission.get("is_readmission")
    ]


def handoff_of(record: dict[str, Any]) -> str:
    """Whether the request's handoff is `complete`, `partial` or there is `none`."""
    stamped = sum(record.get(stamp) is not None for stamp in HANDOFF_STAMPS)
    if stamped == len(HANDOFF_STAMPS):
        return "complete"
    return "none" if stamped == 0 else "partial"


def handoff_in_order(record: dict[str, Any]) -> tuple[bool, bool]:
    """Whether a complete handoff's stamps are in source-first and in destination-first order.

    Source first (vLLM, TRT-LLM): the prefill holds its blocks before the destination is reserved. Destination first
    (SGLang): the destination is reserved before the prefill is admitted. Both: held and reserved, then activated,
    then admitted to decode; the source is released at or after the activation.
    """
    prefill, held, reserved, activated, decode, released = (record[stamp] for stamp in HANDOFF_STAMPS)
    shared = prefill <= held and max(held, reserved) <= activated <= decode and activated <= released
    return shared and held <= reserved, shared and reserved <= prefill


def first_reuse_of(record: dict[str, Any]) -> int:
    """Prompt tokens found in the cache at the request's very first admission, before any work of its own."""
    history = record.get("admission_history") or ()
    return int(history[0].get("reused_input_tokens") or 0) if history else 0


def ranks_of(record: dict[str, Any]) -> dict[str, tuple[int | None, int | None]]:
    """Pool: (logical worker, attention-DP rank) of the last routing of the request to that pool."""
    return {
        str(entry.get("pool")): (entry.get("logical_worker_id"), entry.get("dp_rank"))
        for entry in record.get("routing_history") or ()
    }
