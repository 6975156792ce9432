"""What the records show of attention-DP group passes: ranks of one worker end together, an empty rank waits.

A worker with several ranks runs one pass at a time over all of them, and everything becomes visible at the pass's
shared end. So stamps that stand at pass ends (tokens, held sources) fall on the same double on different ranks, which
ranks that ran by themselves would hardly ever do; and a request that comes to an empty rank while another rank works is
admitted later than it came, though nothing but the group's end could hold it up.
"""

from __future__ import annotations

from typing import Any, NamedTuple


class _Stay(NamedTuple):
    """A request on one rank: when it came, was admitted, and was done there (virtual milliseconds)."""

    came: float
    admitted: float
    done: float
    rank: int


_Group = tuple[str, int]


class GroupPasses:
    """Collects stays and pass ends by pool and logical worker."""

    def __init__(self) -> None:
        self._stays: dict[_Group, list[_Stay]] = {}
        self._ends: dict[_Group, dict[int, set[float]]] = {}

    def record(self, record: dict[str, Any], ranks: dict[str, tuple[int | None, int | None]], name: str) -> None:
        """Take one request's stays."""
        for pool, (worker, rank) in ranks.items():
            if worker is None or rank is None:
                continue
            group = (pool, worker)
            ends = self._ends.setdefault(group, {}).setdefault(rank, set())
            ends.update(stamp for stamp in _pass_ends(record, pool) if stamp is not None)
            came, admitted, done = _stay(record, pool)
            if came is not None and admitted is not None and done is not None:
                self._stays.setdefault(group, []).append(_Stay(came, admitted, done, rank))

    def result(self) -> list[dict[str, Any]]:
        """One entry for each worker with more than one rank, in order of pool and worker."""
        return [
            {
                "pool": pool,
                "worker": worker,
                "ranks": sorted(ends),
                "pass_ends": len(set().union(*ends.values())),
                "shared_pass_ends": _shared(ends),
                "ranks_that_share": _sharing(ends),
                **_empty_ranks(self._stays.get((pool, worker), []), ends),
            }
            for (pool, worker), ends in sorted(self._ends.items())
            if len(ends) > 1 or max(ends) > 0
        ]


def _pass_ends(record: dict[str, Any], pool: str) -> tuple[float | None, ...]:
    if pool == "prefill":
        return (record.get("source_held_ms"),)
    return (record.get("first_token_ms"), record.get("last_token_ms"))


def _stay(record: dict[str, Any], pool: str) -> tuple[float | None, float | None, float | None]:
    if pool == "prefill":
        came = [record.get("arrival_time_ms")]
        reserved, admitted = record.get("destination_reserved_ms"), record.get("prefill_admit_ms")
        if reserved is not None and admitted is not None and reserved <= admitted:
            came.append(reserved)
        stamps = [stamp for stamp in came if stamp is not None]
        return max(stamps, default=None), admitted, record.get("source_held_ms")
    if pool == "decode":
        return record.get("destination_activated_ms"), record.get("decode_admit_ms"), record.get("last_token_ms")
    return record.get("arrival_time_ms"), record.get("first_admit_ms"), record.get("terminal_time_ms")


def _shared(ends: dict[int, set[float]]) -> int:
    seen: set[float] = set()
    shared: set[float] = set()
    for stamps in ends.values():
        shared |= seen & stamps
        seen |= stamps
    return len(shared)


def _sharing(ends: dict[int, set[float]]) -> list[int]:
    """Ranks that have a pass end in common with another rank of the worker."""
    return [
        rank
        for rank, stamps in sorted(ends.items())
        if any(other != rank and not stamps.isdisjoint(theirs) for other, theirs in ends.items())
    ]


def _empty_ranks(stays: list[_Stay], ends: dict[int, set[float]]) -> dict[str, int]:
    """How often a request came to an empty rank of a working group, and was held up or admitted on the spot.

    An arrival at the very end of a pass is neither.
    """
    last: dict[int, _Stay] = {}
    waited = at_once = 0
    pass_ends = set().union(*ends.values())
    for stay in sorted(stays):
        own = last.get(stay.rank)
        empty = own is None or own.done <= stay.came
        working = any(rank != stay.rank and other.admitted <= stay.came < other.done for rank, other in last.items())
        if empty and working and stay.came not in pass_ends:
            waited += stay.admitted > stay.came
            at_once += stay.admitted == stay.came
        if own is None or stay.done > own.done:
            last[stay.rank] = stay
    return {"empty_rank_waits": waited, "empty_rank_admitted_at_once": at_once}
