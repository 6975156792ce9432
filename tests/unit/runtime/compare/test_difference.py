"""Whole comparisons of small records: what is found, where they part, and what equal bytes cost."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest

from aisimc_runtime.compare import NotJson, difference
from aisimc_runtime.compare import difference as compare_records
from tests.builders import records


def compare(tmp_path: Path, a: Any, b: Any, **options: Any) -> Any:
    paths = []
    for name, what in (("a", a), ("b", b)):
        path = tmp_path / f"{name}.jsonl"
        path.write_bytes(what if isinstance(what, bytes) else records.encode(what))
        paths.append(path)
    return compare_records(*paths, **options)


def changes(found: Any) -> set[tuple[str, str]]:
    return {(entry["pattern"], entry["change"]) for entry in found["classes"]}


def test_equal_bytes_are_not_parsed(tmp_path: Path) -> None:
    assert compare(tmp_path, b"\x00 this is no JSON", b"\x00 this is no JSON") is None


def test_one_value_is_found_with_its_place_and_both_literals(tmp_path: Path) -> None:
    a = records.vllm_record()
    b = records.changed(a)
    b["per_request"][4]["first_token_ms"] += 0.25
    found = compare(tmp_path, a, b)
    assert changes(found) == {("/per_request/*/first_token_ms", "value")}
    parting = found["first_parting"]
    assert (parting["at_ms"], parting["request"], parting["field"]) == (60.5, "request_5", "/first_token_ms")
    assert (parting["a"], parting["b"]) == ("60.5", "60.75")
    assert parting["pointer"] == "/per_request/4/first_token_ms"
    assert found["requests"]["differing"] == 1
    assert found["classes"][0]["in"] == "4"
    assert found["classes"][0]["largest_delta"] == 0.25


@pytest.mark.parametrize(
    ("field", "old", "new", "change"),
    [
        ("input_length", b"104", b"104.0", "integer or decimal"),
        ("ttft_ms", b"20.5", b"20.500000000000004", "last bits only"),
        ("arrival_time_ms", b"40.0", b"4e1", "spelling of a number"),
        ("turn_index", b"0", b"-0", "sign of zero"),
        ("terminal_status", b'"completed"', b'"failed"', "text"),
        ("itl_ms", b"2.25", b"NaN", "type"),
        ("prefill_worker_idx", b"null", b"1", "type"),
    ],
)
def test_kinds_of_change(tmp_path: Path, field: str, old: bytes, new: bytes, change: str) -> None:
    whole = records.encode(records.vllm_record())
    start = whole.index(b'"session_id":"request_5"')
    start = whole.rindex(b'{"admission_count"', 0, start)
    end = whole.index(b'"uuid"', start)
    key = f'"{field}":'.encode()
    record = whole[start:end]
    assert key + old in record
    found = compare(tmp_path, whole, whole[:start] + record.replace(key + old, key + new, 1) + whole[end:])
    assert changes(found) == {(f"/per_request/*/{field}", change)}


def test_parting_is_the_smallest_of_the_smaller_values(tmp_path: Path) -> None:
    a = records.vllm_record()
    b = records.changed(a)
    b["per_request"][6]["first_admit_ms"] = 1.5  # smaller on the other side, and later in the file
    b["per_request"][2]["terminal_time_ms"] += 1.0
    parting = compare(tmp_path, a, b)["first_parting"]
    assert (parting["at_ms"], parting["request"]) == (1.5, "request_7")


def test_ties_go_to_the_authored_order_then_to_the_field(tmp_path: Path) -> None:
    a = records.vllm_record()
    b = records.changed(a)
    for index in (5, 3):
        b["per_request"][index]["terminal_time_ms"] = 7.0
        b["per_request"][index]["last_token_ms"] = 7.0
    parting = compare(tmp_path, a, b)["first_parting"]
    assert (parting["request"], parting["field"]) == ("request_4", "/last_token_ms")


def test_lengths_of_time_are_no_points_in_time(tmp_path: Path) -> None:
    a = records.vllm_record()
    b = records.changed(a)
    b["per_request"][0]["ttft_ms"] = 0.5
    b["per_request"][0]["e2e_latency_ms"] = 0.5
    b["per_request"][0]["routing_history"][0]["queue_wait_ms"] = 0.5
    found = compare(tmp_path, a, b)
    assert found["first_parting"] is None
    assert len(found["classes"]) == 3


def test_a_key_more_is_added_once_for_each_request(tmp_path: Path) -> None:
    a = records.vllm_record()
    b = records.changed(a)
    for entry in b["per_request"]:
        entry["first_admission_reused_input_tokens"] = 0
    found = compare(tmp_path, a, b)
    assert changes(found) == {("/per_request/*/first_admission_reused_input_tokens", "added")}
    assert found["classes"][0]["count"] == found["classes"][0]["requests"] == 8
    assert compare(tmp_path, b, a)["classes"][0]["change"] == "removed"


def test_one_admission_more_parts_at_its_time(tmp_path: Path) -> None:
    a = records.vllm_record(preemptions=0)
    b = records.changed(a)
    records.readmit(b["per_request"][2], at_ms=41.0)
    found = compare(tmp_path, a, b)
    assert ("/per_request/*/admission_history/*", "added") in changes(found)
    assert found["first_parting"]["at_ms"] == 41.0
    assert found["first_parting"]["a"] is None
    assert {place["path"] for place in found["places"]} >= {"/per_request/*/admission_history/1/at_ms"}


def test_a_list_that_was_empty(tmp_path: Path) -> None:
    a = records.vllm_record()
    b = records.changed(a)
    b["per_request"][1]["pressure_record_ordinals"] = [3]
    assert changes(compare(tmp_path, a, b)) == {("/per_request/*/pressure_record_ordinals/*", "added")}
    b["per_request"][1]["pressure_record_ordinals"] = {}
    assert changes(compare(tmp_path, a, b)) == {("/per_request/*/pressure_record_ordinals", "value")}


def test_requests_on_one_side_only(tmp_path: Path) -> None:
    a = records.vllm_record()
    b = records.changed(a)
    del b["per_request"][2]
    found = compare(tmp_path, a, b)
    assert found["requests"]["only_a"] == ["request_3"]
    assert found["requests"]["order"] == "same"
    assert found["first_parting"]["request"] == "request_3"
    assert {entry["pattern"] for entry in found["classes"]} == {"/per_request/*"}


def test_another_order_is_a_difference_of_its_own(tmp_path: Path) -> None:
    a = records.vllm_record()
    b = records.changed(a)
    b["per_request"][2:4] = reversed(b["per_request"][2:4])
    found = compare(tmp_path, a, b)
    assert found["requests"]["order"] == "different"
    assert changes(found) == {("/per_request", "order")}
    assert found["first_parting"] is None


def test_another_name_at_the_same_place_is_the_same_request(tmp_path: Path) -> None:
    a = records.vllm_record()
    b = records.changed(a)
    b["per_request"][2]["session_id"] = "renamed"
    assert changes(compare(tmp_path, a, b)) == {("/per_request/*/session_id", "text")}


def test_random_identities_are_matched_by_session(tmp_path: Path) -> None:
    a = records.vllm_record()
    b = records.changed(a)
    for index, entry in enumerate(b["per_request"]):
        entry["uuid"] = f"{7 - index:032x}"
    b["per_request"].sort(key=lambda entry: entry["uuid"])
    found = compare(tmp_path, a, b)
    assert changes(found) == {("/per_request", "order"), ("/per_request/*/uuid", "text")}


def test_white_space_and_key_order_alone_are_the_same_values(tmp_path: Path) -> None:
    a = records.vllm_record()
    b = orjson.dumps(dict(reversed(a.items())), option=orjson.OPT_INDENT_2)
    found = compare(tmp_path, a, b)
    assert found["same_values"]
    assert found["classes"] == []


def test_duplicate_keys_are_a_difference(tmp_path: Path) -> None:
    text = records.encode(records.vllm_record(1))
    other = text.replace(b'"turn_index":0', b'"turn_index":0,"turn_index":1')
    assert changes(compare(tmp_path, text, other)) == {("/per_request/*/turn_index (2)", "added")}


def test_keys_that_look_like_values_are_read_right(tmp_path: Path) -> None:
    a = records.vllm_record(2)
    for entry in a["per_request"]:
        entry["a:1,2"] = {"x:{": [1, 2, "b:3"]}
    b = records.changed(a)
    b["per_request"][1]["a:1,2"]["x:{"][1] = 5
    assert changes(compare(tmp_path, a, b)) == {("/per_request/*/a:1,2/x:{/*", "value")}


def test_a_list_that_was_empty_under_such_a_key(tmp_path: Path) -> None:
    a = records.vllm_record(2)
    for entry in a["per_request"]:
        entry["x:1,2"] = []
    b = records.changed(a)
    b["per_request"][1]["x:1,2"] = [None]
    assert changes(compare(tmp_path, a, b)) == {("/per_request/*/x:1,2/*", "added")}


def test_outside_the_records(tmp_path: Path) -> None:
    a = records.vllm_record()
    b = records.changed(a)
    b["metadata"]["schema_version"] = "x"
    b["planner"] = {"html_report_path": "p"}
    b["summary"]["power"] = {"phases": [], "watts": None}
    found = compare(tmp_path, a, b)
    assert changes(found) == {
        ("/metadata/schema_version", "text"),
        ("/planner", "removed"),
        ("/planner", "added"),
        ("/summary/power", "added"),
    }
    assert found["requests"]["differing"] == 0


def test_events_around_the_parting_are_those_next_to_it(tmp_path: Path) -> None:
    a = records.vllm_record()
    b = records.changed(a)
    b["per_request"][4]["first_token_ms"] += 0.25
    events = compare(tmp_path, a, b)["first_parting"]["events"]
    assert [event["at_ms"] for event in events["a"]["before"]] == sorted(
        event["at_ms"] for event in events["a"]["before"]
    )
    assert max(event["at_ms"] for event in events["a"]["before"]) < 60.5
    assert {"at_ms": 60.5, "request": "request_5", "what": "first token"} in events["a"]["from"]
    assert {"at_ms": 60.75, "request": "request_5", "what": "first token"} in events["b"]["from"]


def test_limit_bounds_what_is_listed_not_what_is_counted(tmp_path: Path) -> None:
    a = records.vllm_record()
    b = records.changed(a)
    for field in ("ttft_ms", "itl_ms", "ttst_ms"):
        b["per_request"][0][field] += 1.0
    found = difference(*(records.write(r, tmp_path / n) for r, n in ((a, "a"), (b, "b"))), limit_classes=1)
    assert found is not None
    assert len(found["classes"]) == 1
    assert found["classes_in_all"] == 3
    assert found["values"] == 3


def test_a_place_outside_the_records_is_not_mixed_up_with_one_inside(tmp_path: Path) -> None:
    a = records.vllm_record(2)
    for entry in a["per_request"]:
        entry["summary"] = {"mean_ttft_ms": 1.0}
    b = records.changed(a)
    b["per_request"][1]["summary"]["mean_ttft_ms"] = 2.0
    b["summary"]["mean_ttft_ms"] = 3.0
    found = compare(tmp_path, a, b)
    assert changes(found) == {("/per_request/*/summary/mean_ttft_ms", "value"), ("/summary/mean_ttft_ms", "value")}
    assert {place["path"]: place["requests"] for place in found["places"]} == {
        "/per_request/*/summary/mean_ttft_ms": "1",
        "/summary/mean_ttft_ms": "",
    }


@pytest.mark.parametrize(
    "hostile",
    [b"9" * 5000, b"-" + b"9" * 5000, b"1" + b"0" * 400_000 + b".5", b'"\\ud800"', b'"\\q"', b"1e99999", b"NaN"],
)
@pytest.mark.parametrize("place", [b'"session_id":"a"', b'"turn":0', b'"x":1'])
def test_a_value_beyond_the_ordinary_is_a_difference_like_any(tmp_path: Path, hostile: bytes, place: bytes) -> None:
    text = b'{"per_request":[{"session_id":"a","turn":0}],"summary":{"x":1}}\n'
    key = place.partition(b":")[0]
    found = compare(tmp_path, text, text.replace(place, key + b":" + hostile))
    assert found["first_parting"] is None
    assert len(found["classes"]) == 1


@pytest.mark.parametrize("text", [b"[" * 100_000 + b"]" * 100_000, b'{"a":' * 5000 + b"1" + b"}" * 5000])
@pytest.mark.parametrize("where", [b'{"per_request":[%s]}\n', b'{"per_request":[],"summary":%s}\n'])
def test_a_value_nested_beyond_reading_is_not_json(tmp_path: Path, text: bytes, where: bytes) -> None:
    with pytest.raises(NotJson):
        compare(tmp_path, where % b"[1]", where % text)
