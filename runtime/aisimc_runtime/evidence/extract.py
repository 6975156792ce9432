"""The compact evidence of one canonical record: "aisimc.evidence/1".

Streams over the file: the record array is never in memory as a whole. Run as
`python -m aisimc_runtime.evidence.extract CANONICAL OUT` it writes the extract of one record.
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from typing import Any

import orjson

from aisimc_runtime.compare.sameness import sha256
from aisimc_runtime.compare.scan import Document
from aisimc_runtime.evidence.barrier import GroupPasses
from aisimc_runtime.evidence.record import (
    COLUMNS,
    Readmission,
    first_reuse_of,
    handoff_in_order,
    handoff_of,
    name_of,
    ranks_of,
    readmissions_of,
)

SCHEMA = "aisimc.evidence/1"

MAX_READMISSIONS = 20_000
"""So many readmissions are listed one by one; all are counted."""


def extract(canonical: Path) -> dict[str, Any]:
    """The evidence of a canonical record. Raises OSError, compare.NotJson, orjson.JSONDecodeError.

    Columns are arrays in the record's order, which is authored order; times in virtual milliseconds.
    """
    gather = _Gather()
    with Document(canonical) as document:
        for position, text in enumerate(document.each_record()):
            gather.record(orjson.loads(text), position)
        outside = {name: document.member(name) for name in ("coverage", "metadata", "planner", "summary")}
    members = {name: orjson.loads(text) if text is not None else None for name, text in outside.items()}
    return {
        "schema": SCHEMA,
        "canonical_sha256": sha256(canonical),
        "canonical_bytes": canonical.stat().st_size,
        "planner": _planner(outside["planner"]),
        "metadata": members["metadata"],
        "summary": members["summary"],
        "pressure": _pressure(members["coverage"]),
        **gather.result(),
    }


def _planner(text: bytes | None) -> str:
    """`null` where the record says that no planner ran, `absent` or `present` otherwise."""
    if text is None:
        return "absent"
    return "null" if text == b"null" else "present"


def _pressure(coverage: Any) -> dict[str, Any] | None:
    """The revision's own pressure evidence, when it gives any."""
    found = coverage.get("pressure") if isinstance(coverage, dict) else None
    return found if isinstance(found, dict) else None


class _Gather:
    """Everything that is summed up over the records."""

    def __init__(self) -> None:
        self.columns: dict[str, list[Any]] = {name: [] for name in ("session_id", *COLUMNS)}
        self.ranks: dict[str, list[Any]] = {"prefill_dp_rank": [], "decode_dp_rank": []}
        self.handoffs = Counter({"complete": 0, "partial": 0, "none": 0})
        self.order = Counter({"source_first": 0, "destination_first": 0, "neither": 0})
        self.out_of_order: list[str] = []
        self.readmissions: list[Readmission] = []
        self.readmitted = 0
        self.most_readmissions = 0
        self.standing: list[str] = []
        self.first_reuse = 0
        self.routing: Counter[str] = Counter()
        self.passes = GroupPasses()

    def record(self, record: dict[str, Any], position: int) -> None:
        name = name_of(record, position)
        self.columns["session_id"].append(name)
        for column, field in COLUMNS.items():
            self.columns[column].append(record.get(field))
        ranks = ranks_of(record)
        self.ranks["prefill_dp_rank"].append(ranks.get("prefill", (None, None))[1])
        self.ranks["decode_dp_rank"].append(ranks.get("decode", ranks.get("agg", (None, None)))[1])
        self.passes.record(record, ranks, name)
        for entry in record.get("routing_history") or ():
            self.routing[f"{entry.get('pool')}_{entry.get('outcome')}"] += 1
        self.first_reuse += first_reuse_of(record) > 0
        self._handoff(record, name)
        self._readmissions(record, name, position)

    def _handoff(self, record: dict[str, Any], name: str) -> None:
        state = handoff_of(record)
        self.handoffs[state] += 1
        if state != "complete":
            return
        source_first, destination_first = handoff_in_order(record)
        self.order["source_first"] += source_first
        self.order["destination_first"] += destination_first
        if not source_first and not destination_first:
            self.order["neither"] += 1
            if len(self.out_of_order) < 20:
                self.out_of_order.append(name)

    def _readmissions(self, record: dict[str, Any], name: str, position: int) -> None:
        found = readmissions_of(record, name, position)
        if not found:
            return
        self.readmitted += len(found)
        self.most_readmissions = max(self.most_readmissions, len(found))
        stamps = [(one.pool, one.at_ms) for one in found]
        if len(set(stamps)) < len(stamps) and len(self.standing) < 20:
            self.standing.append(name)
        if len(self.readmissions) < MAX_READMISSIONS:
            self.readmissions.extend(found)

    def result(self) -> dict[str, Any]:
        return {
            "requests": len(self.columns["session_id"]),
            "columns": self.columns | self.ranks,
            "handoffs": dict(self.handoffs),
            "handoff_order": dict(self.order) | {"out_of_order": self.out_of_order},
            "readmissions": [
                one._asdict() for one in sorted(self.readmissions, key=lambda r: (r.at_ms or 0.0, r.position))
            ],
            "readmissions_in_all": self.readmitted,
            "most_readmissions_of_one_request": self.most_readmissions,
            "readmitted_twice_at_one_time": self.standing,
            "requests_with_first_admission_reuse": self.first_reuse,
            "routing_counts": dict(sorted(self.routing.items())),
            "group_passes": self.passes.result(),
        }


def main(arguments: list[str]) -> int:
    """Write the extract of one canonical record to a file, whole or not at all."""
    if len(arguments) != 2:
        sys.stderr.write("usage: python -m aisimc_runtime.evidence.extract CANONICAL OUT\n")
        return 2
    out = Path(arguments[1])
    temporary = out.with_name(out.name + ".partial")
    temporary.write_bytes(orjson.dumps(extract(Path(arguments[0])), option=orjson.OPT_APPEND_NEWLINE))
    temporary.replace(out)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
