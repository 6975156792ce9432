"""Values as written and as read."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aisimc_compiler.syntax import tree
from tests.builders.texts import faults_of, tree_of


def value(text: str) -> tree.Value:
    attribute = tree_of(f"a = {text}").body[0]
    assert isinstance(attribute, tree.Attribute)
    return attribute.value


@pytest.mark.parametrize(
    ("text", "kind", "read"),
    [
        ("5_000", "integer", 5000),
        ("-1", "integer", -1),
        ("0", "integer", 0),
        ("2.5", "decimal", 2.5),
        ("1e3", "decimal", 1000.0),
        ("-1.5E-3", "decimal", -0.0015),
        ("1_000.5", "decimal", 1000.5),
        ("true", "boolean", True),
        ("false", "boolean", False),
        ("True", "word", "True"),
        ("canonical_v1", "word", "canonical_v1"),
        ('"a # b"', "string", "a # b"),
        (r'"\"\\\/\b\f\n\r\t\u00e9"', "string", '"\\/\b\f\n\r\té'),
        (r'"\ud83d\ude00"', "string", "😀"),
        ('"😀"', "string", "😀"),
        ("/a/b", "pointer", "/a/b"),
        ("/a~0b/~1c", "pointer", "/a~0b/~1c"),
        ("/per_request/*/at_ms", "pointer", "/per_request/*/at_ms"),
        ("/ä/-", "pointer", "/ä/-"),
        ("/", "pointer", "/"),
    ],
)
def test_scalars(text: str, kind: str, read: object) -> None:
    found = value(text)
    assert (found.kind, found.value, found.raw) == (kind, read, text)
    assert type(found.value) is type(read)


@pytest.mark.parametrize(
    ("text", "number", "unit"),
    [
        ("100 GB/s", 100, "GB/s"),
        ("12.5GB/s", 12.5, "GB/s"),
        ("1 ms", 1, "ms"),
        ("262_144 B", 262144, "B"),
        ("1e3 s", 1000.0, "s"),
        ("3 seconds", 3, "seconds"),
        ("5 MB/s", 5, "MB/s"),
        ("7 kb", 7, "kb"),
    ],
)
def test_quantities(text: str, number: float, unit: str) -> None:
    found = value(text)
    assert found.kind == "quantity"
    assert isinstance(found.value, tree.Value)
    assert (found.value.value, found.unit) == (number, unit)


def test_a_word_before_an_equals_sign_is_no_unit() -> None:
    block = tree_of("x { a = 1 s = 2 b = 3 ms { } }").body[0]
    assert isinstance(block, tree.Block)
    assert [item.keyword.text if isinstance(item, tree.Block) else item.name.text for item in block.body] == [  # type: ignore[union-attr]
        "a",
        "s",
        "b",
        "ms",
    ]


@pytest.mark.parametrize(
    ("text", "ends"), [("1..3", (1, 3)), ("1 .. 3", (1, 3)), ("-2..-1", (-2, -1)), ("3..1", (3, 1))]
)
def test_ranges(text: str, ends: tuple[int, int]) -> None:
    found = value(text)
    assert found.kind == "range"
    low, high = found.value  # type: ignore[misc]
    assert (low.value, high.value) == ends
    assert text[low.span.start - 4 : low.span.end - 4] == low.raw
    assert text[high.span.start - 4 : high.span.end - 4] == high.raw


def test_lists_nest_and_take_a_trailing_comma() -> None:
    found = value('[1, "two", three, [4],]')
    assert found.kind == "list"
    assert [part.kind for part in found.value] == ["integer", "string", "word", "list"]  # type: ignore[attr-defined]
    assert found.raw == '[1, "two", three, [4],]'


@given(
    st.text(
        st.characters(
            exclude_categories=["Cs", "Cc"],
            exclude_characters="\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\u061c",
        )
    )
)
def test_strings_read_as_json_reads_them(text: str) -> None:
    for quoted in (json.dumps(text), json.dumps(text, ensure_ascii=False)):
        assert value(quoted).value == text


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_decimals_read_as_python_reads_them(number: float) -> None:
    assert value(repr(number)).value == number


@pytest.mark.parametrize("digits", [399, 400, 401, 5_000, 100_000])
def test_endless_numbers(digits: int) -> None:
    faults = faults_of("a = " + "9" * digits)
    assert [fault.message for fault in faults] == (
        [] if digits <= 400 else [f"this number is {digits:,} characters long"]
    )


def test_a_decimal_out_of_range() -> None:
    (fault,) = faults_of("a = 1e999")
    assert fault.message == "this number is out of range"


def test_names_hold_what_the_language_says() -> None:
    block = tree_of("row vllm-disaggregated-adp2-4 { a_b-c1 = x }").body[0]
    assert isinstance(block, tree.Block)
    assert block.labels[0].text == "vllm-disaggregated-adp2-4"  # type: ignore[union-attr]
