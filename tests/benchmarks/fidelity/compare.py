"""Comparing two answers: the whole report, and where the requests' times first part."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

WALL_CLOCK = frozenset({"wall_time_ms", "processed_tokens_per_s", "processed_output_tokens_per_s"})
TIMES = ("first_token_ms", "last_token_ms", "terminal_time_ms")


@dataclass(frozen=True, slots=True)
class Parting:
    """The earliest virtual time (ms) at which two records differ."""

    at_ms: float
    request: str
    field: str
    ours: Any
    theirs: Any


@dataclass(frozen=True, slots=True)
class Comparison:
    """What differs between two reports."""

    requests: int
    equal_times: int
    equal_records: int
    summary_keys: tuple[str, ...]
    parting: Parting | None

    @property
    def is_equal(self) -> bool:
        """Whether everything but the wall clock is equal, bit for bit."""
        return not self.summary_keys and self.requests == self.equal_records


def compare(ours: dict[str, Any], theirs: dict[str, Any]) -> Comparison:
    """Compare two reports of ``run_replay_json``'s form."""
    mine = {name_of(record): record for record in ours["per_request"]}
    yours = {name_of(record): record for record in theirs["per_request"]}
    names = mine.keys() | yours.keys()
    partings = [found for name in names if (found := _part(name, mine.get(name), yours.get(name)))]
    keys = (ours.keys() | theirs.keys()) - WALL_CLOCK - {"per_request"}
    absent = object()
    return Comparison(
        requests=len(names),
        equal_times=sum(_same_times(mine.get(name), yours.get(name)) for name in names),
        equal_records=sum(mine.get(name) == yours.get(name) for name in names),
        summary_keys=tuple(sorted(key for key in keys if ours.get(key, absent) != theirs.get(key, absent))),
        parting=min(partings, key=lambda parting: (parting.at_ms, parting.request), default=None),
    )


def name_of(record: dict[str, Any]) -> str:
    """Name of a record's request."""
    return str(record.get("request_id") or f"{record['session_id']}#{record['turn_index']}")


def _same_times(ours: dict[str, Any] | None, theirs: dict[str, Any] | None) -> bool:
    return ours is not None and theirs is not None and all(ours[key] == theirs[key] for key in TIMES)


def _part(name: str, ours: dict[str, Any] | None, theirs: dict[str, Any] | None) -> Parting | None:
    if ours == theirs:
        return None
    if ours is None or theirs is None:
        return Parting(0.0, name, "record", ours is not None, theirs is not None)
    mine, yours = dict(_times(ours)), dict(_times(theirs))
    found = [
        Parting(min(x for x in (a, b) if x is not None), name, key, a, b)
        for key in mine.keys() | yours.keys()
        if (a := mine.get(key)) != (b := yours.get(key))
    ]
    if found:
        return min(found, key=lambda parting: (parting.at_ms, parting.field))
    keys = [key for key in ours.keys() | theirs.keys() if ours.get(key) != theirs.get(key)]
    key = min(keys)
    return Parting(float("inf"), name, key, ours.get(key), theirs.get(key))


def _times(record: dict[str, Any]) -> list[tuple[str, float]]:
    times = [(key, record[key]) for key in record if key.endswith(("_ms",)) and record[key] is not None]
    lengths = {"ttft_ms", "ttst_ms", "itl_ms", "e2e_latency_ms"}
    stamps = [(key, value) for key, value in times if key not in lengths]
    return stamps + [
        (f"admission_history[{index}].at_ms", entry["at_ms"]) for index, entry in enumerate(record["admission_history"])
    ]
