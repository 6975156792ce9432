"""Where two records first part in virtual time, and what happens around it on both sides (decisions: Differences)."""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import orjson

from aisimc_runtime.compare.classes import Found, shown
from aisimc_runtime.compare.flatten import Path, flatten, pointer
from aisimc_runtime.compare.literals import number
from aisimc_runtime.compare.scan import RECORDS, Document
from aisimc_runtime.compare.times import is_stamp

AROUND = 6
"""So many events are shown before and after the parting, on each side."""


class Parting(NamedTuple):
    """The first place in virtual time where the two sides differ; compares in the order that decides."""

    at_ms: float
    request: int
    field: str
    a: str | None
    b: str | None


class Earliest:
    """Keeps the earliest parting seen; ties go to the earlier request, then to the field path."""

    def __init__(self) -> None:
        self.parting: Parting | None = None

    def see(self, found: Found) -> None:
        """Consider one difference."""
        if not found.slot.stamp or found.request is None:
            return
        times = [time for time in (number(found.a), number(found.b)) if time is not None and math.isfinite(time)]
        if not times:
            return
        at_ms = min(times)
        if self.parting is not None and at_ms > self.parting.at_ms:
            return
        candidate = Parting(at_ms, found.request, pointer(found.slot.path), shown(found.a), shown(found.b))
        if self.parting is None or candidate[:3] < self.parting[:3]:
            self.parting = candidate


class _Event(NamedTuple):
    at_ms: float
    order: int
    what: str
    request: str


def describe(
    parting: Parting, a: Document, b: Document, names: tuple[str, str], spans: tuple[int, int]
) -> dict[str, Any]:
    """The parting with the request's own records and the events around it on both sides.

    `names` are the request's session on both sides, `spans` its positions in the two files (-1 where it is absent).
    """
    return {
        "at_ms": parting.at_ms,
        "request": names[0] or names[1],
        "position": parting.request,
        "field": parting.field,
        "pointer": pointer((RECORDS, parting.request)) + parting.field,
        "a": parting.a,
        "b": parting.b,
        "record": {"a": _stamps(a, spans[0]), "b": _stamps(b, spans[1])},
        "events": {"a": _around(a, parting.at_ms), "b": _around(b, parting.at_ms)},
    }


def _stamps(document: Document, position: int) -> dict[str, str | None] | None:
    """The record's points in virtual time and a few figures, as literals."""
    if position < 0:
        return None
    leaves = flatten(document.read(document.records[position]))
    return {pointer(leaf.path): shown(leaf.literal) for leaf in leaves if is_stamp(leaf.path) or _figure(leaf.path)}


_FIGURES = frozenset(
    {
        "input_length",
        "output_length",
        "reused_input_tokens",
        "readmission_count",
        "terminal_status",
        "prefill_worker_idx",
        "decode_worker_idx",
        "is_readmission",
        "pool",
    }
)


def _figure(path: Path) -> bool:
    return len(path) in (1, 3) and path[-1] in _FIGURES


def _around(document: Document, at_ms: float) -> dict[str, list[dict[str, Any]]]:
    """The last events before a time and the first from it on, over all requests."""
    events = list(_near(document, at_ms))
    before = heapq.nlargest(AROUND, (event for event in events if event.at_ms < at_ms))
    after = heapq.nsmallest(AROUND, (event for event in events if event.at_ms >= at_ms))
    return {"before": [_event(event) for event in reversed(before)], "from": [_event(event) for event in after]}


def _event(event: _Event) -> dict[str, Any]:
    return {"at_ms": event.at_ms, "request": event.request, "what": event.what}


def _near(document: Document, at_ms: float) -> Iterator[_Event]:
    """Events in a window that narrows as more of them are seen."""
    window = _Window(at_ms)
    for order, text in enumerate(document.each_record()):
        try:
            record = orjson.loads(text)
        except orjson.JSONDecodeError:
            continue  # a token such as NaN: the difference itself is reported, this is only its surroundings
        for event in events_of(record, order) if isinstance(record, dict) else ():
            if window.wants(event.at_ms):
                yield event


class _Window:
    """The times next to one instant, so many on each side."""

    def __init__(self, at_ms: float) -> None:
        self._at = at_ms
        self._before: list[float] = []
        self._after: list[float] = []

    def wants(self, time: float) -> bool:
        """Whether an event at this time can still be among the nearest."""
        distance = time - self._at
        side = self._after if distance >= 0 else self._before
        if len(side) < AROUND:
            heapq.heappush(side, -abs(distance))
            return True
        if abs(distance) <= -side[0]:
            heapq.heapreplace(side, -abs(distance))
            return True
        return False


_NAMES = {
    "arrival_time_ms": "arrives",
    "first_token_ms": "first token",
    "last_token_ms": "last token",
    "terminal_time_ms": "ends",
    "source_held_ms": "source held",
    "destination_reserved_ms": "destination reserved",
    "destination_activated_ms": "destination activated",
    "source_released_ms": "source released",
}


def events_of(record: dict[str, Any], order: int) -> Iterable[_Event]:
    """The events of one record in virtual time, named for people."""
    name = str(record.get("session_id") or record.get("request_id") or record.get("uuid") or order)
    for field, what in _NAMES.items():
        time = record.get(field)
        if isinstance(time, int | float):
            yield _Event(float(time), order, what, name)
    history = record.get("admission_history")
    for admission in history if isinstance(history, list) else ():
        time = admission.get("at_ms") if isinstance(admission, dict) else None
        if isinstance(time, int | float):
            verb = "readmitted" if admission.get("is_readmission") else "admitted"
            yield _Event(float(time), order, f"{verb} ({admission.get('pool')})", name)
