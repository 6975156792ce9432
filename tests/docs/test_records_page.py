"""docs/records.md names every field of a record and every event of a parting, as the code has them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from aisimc_compiler.model.closed import EXCLUSIONS, RECORD_KEYS
from aisimc_runtime.compare.parting import events_of
from aisimc_runtime.evidence.record import COLUMNS, HANDOFF_STAMPS


@pytest.fixture(scope="module")
def page(root: Path) -> str:
    return (root / "docs" / "records.md").read_text("utf-8")


def fields_of(source: str, name: str) -> set[str]:
    """The fields of a public Rust structure."""
    body = source.split(f"pub struct {name} {{")[1].split("\n}")[0]
    return set(re.findall(r"^    pub (\w+):", body, re.MULTILINE))


def test_every_field_of_a_request_is_there(page: str, root: Path) -> None:
    records = (root / "runner-rust/reference-core/src/replay/record.rs").read_text("utf-8")
    named = set(re.findall(r"`([a-z0-9_]+)`", page))
    assert fields_of(records, "PerRequestRecord") - named <= {"metadata"}  # inline requests alone have it
    assert fields_of(records, "AdmissionRecord") <= named
    assert {*COLUMNS.values(), *HANDOFF_STAMPS} <= named
    assert set(RECORD_KEYS) <= named


def test_the_events_of_a_handoff_are_called_as_the_reports_call_them(page: str) -> None:
    at = {stamp: float(number) for number, stamp in enumerate(HANDOFF_STAMPS)}
    history = [{"at_ms": 0.0, "pool": "prefill"}, {"at_ms": 4.0, "pool": "decode"}]
    record = {**at, "session_id": "request_1", "admission_history": history}
    called = {event.what for event in events_of(record, 0)}
    rows = dict(re.findall(r"^\| ([a-z ()]+) \| `(\w+)` \|", page, re.MULTILINE))
    assert set(rows) == called
    assert set(rows.values()) == set(HANDOFF_STAMPS)


def test_the_exclusions_are_the_closed_list(page: str) -> None:
    last = {pointer.rpartition("/")[2] for pointer in EXCLUSIONS if pointer.startswith("/summary/")}
    assert all(f"`{name}`" in page for name in last)
    assert "`/planner/html_report_path`" in page
