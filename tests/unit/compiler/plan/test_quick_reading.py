"""The readers that spare a check the YAML library and the schema validator agree with both, or do not answer."""

from __future__ import annotations

import copy
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from aisimc_compiler.plan.plain_yaml import plain_yaml
from aisimc_compiler.plan.yaml import read_yaml
from aisimc_compiler.schemas.problems import schema
from aisimc_compiler.schemas.quick import accepts

GOLDEN = Path(__file__).resolve().parents[4] / "golden" / "published-5000.yaml"

PIECES = [
    *(
        "a: 1",
        "b: x",
        "  c: 2.5",
        "  d:",
        "    e: true",
        "f: {g: 1, h: [1, 2], i j: {}}",
        "k: []",
        "l: 2026-11-29",
        "m: 1:20",
    ),
    *(
        "n: yes",
        "o: 0x1f",
        "p: 1e5",
        "q: 'r'",
        's: "t # u"',
        "v: w # x",
        "# y",
        "",
        "z: - 1",
        "- a",
        "aa: &b 1",
        "bb: *b",
    ),
    *(
        "cc: |",
        "dd: 1.2.3",
        "ee: " + "9" * 64,
        "ff: " + "1e" * 20,
        "gg: https://a.b/c",
        "hh: ~",
        "ii: null",
        "jj: 007",
        "a: 2",
    ),
    *(
        "kk: .5",
        "ll: +1",
        "mm: 1_000",
        "nn: inf",
        'oo: "p',
        "qq: {a: 1",
        "rr: [1, 2,]",
        "ss: {a: b: c}",
        "on: off",
        '"on": 1',
    ),
    "tt: 12:30:45",
    "uu: 2026-11-29 10:00:00",
    "vv: a: b",
    "ww : 1",
    "xx:1",
    "yy: ! 1",
    "zz: 1 2 3",
    "--- ",
    "...",
]


def parted(text: str) -> str:
    """Where the plain reader's answer is not the library's; empty where it is, or where there was none."""
    plain = plain_yaml(text.encode())
    if plain is None:
        return ""
    document = read_yaml(text.encode())
    if document.faults:
        return f"{plain!r}, where the library finds {document.faults}"
    # By their spelling, too: 1 and true, 1 and 1.0 are equal.
    same = plain == document.value and repr(plain) == repr(document.value)
    return "" if same else f"{plain!r} is not {document.value!r}"


def test_a_published_golden_file_is_read() -> None:
    text = GOLDEN.read_text(encoding="utf-8")
    assert plain_yaml(text.encode()) is not None
    assert parted(text) == ""


@settings(max_examples=1500, deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=5))
def test_any_lines(lines: list[str]) -> None:
    assert parted("\n".join(lines) + "\n" if lines else "a: 1") == ""


@pytest.mark.parametrize("piece", PIECES)
def test_each_line_alone(piece: str) -> None:
    assert parted(piece + "\n") == ""


@settings(max_examples=300, deadline=None)
@given(st.text(st.characters(max_codepoint=0x17F), max_size=20))
def test_any_scalar(text: str) -> None:
    assert parted(f"key: {text}\nnext: 1\n") == ""
    assert parted(f"key: [{text}, 1]\n") == ""


def damaged(value: Any, randoms: random.Random) -> Any:
    """The value with one thing in it changed, removed or added."""
    value = copy.deepcopy(value)
    place: Any = value
    for _ in range(randoms.randrange(1, 6)):
        keys = list(place) if isinstance(place, dict) else list(range(len(place)))
        if not keys:
            break
        key = randoms.choice(keys)
        if isinstance(place[key], dict | list) and randoms.random() < 0.8:
            place = place[key]
            continue
        other = randoms.choice([None, True, 1, -1, 1.0, 0.5, "", "x", " ", [], [1, 1], [1, True], {}, {"x": 1}])
        if randoms.random() < 0.3:
            del place[key]
        elif randoms.random() < 0.3 and isinstance(place, dict):
            place["unknown"] = other
        else:
            place[key] = other
        break
    return value


@settings(max_examples=400, deadline=None)
@given(st.randoms(use_true_random=False), st.integers(0, 3))
def test_what_is_accepted_is_valid(randoms: random.Random, times: int) -> None:
    value = read_yaml(GOLDEN.read_bytes()).value
    for _ in range(times):
        value = damaged(value, randoms)
    valid = Draft202012Validator(schema("golden")).is_valid(value)
    accepted = accepts(schema("golden"), value)
    assert valid or not accepted
    if times == 0:
        assert accepted


@pytest.mark.parametrize(
    ("rules", "value"),
    [
        ({"type": "integer"}, 1.0),
        ({"type": "integer"}, True),
        ({"type": "number"}, True),
        ({"type": ["null", "string"]}, None),
        ({"const": 1}, True),
        ({"enum": [0, "a"]}, False),
        ({"uniqueItems": True}, [1, True]),
        ({"uniqueItems": True}, [1, 1.0]),
        ({"oneOf": [{"type": "integer"}, {"minimum": 0}]}, 1),
        ({"anyOf": [{"type": "integer"}, {"minimum": 0}]}, 1),
        ({"properties": {"a": {"type": "string"}}, "additionalProperties": False, "required": ["a"]}, {"a": "b"}),
        ({"properties": {"a": {"type": "string"}}, "additionalProperties": False}, {"b": "b"}),
        ({"pattern": "^a"}, "ba"),
        ({"pattern": "a"}, 5),
        ({"exclusiveMinimum": 0}, 0),
        ({"minItems": 1, "maxItems": 2, "items": {"type": "integer"}}, [1, 2]),
        (True, 1),
        (False, 1),
    ],
)
def test_each_keyword(rules: Any, value: Any) -> None:
    assert accepts({"anyOf": [rules]}, value) == (Draft202012Validator(rules).is_valid(value))


@pytest.mark.parametrize(
    "rules", [{"not": {}}, {"patternProperties": {}}, {"const": [1]}, {"$ref": "other"}, {"type": "text"}]
)
def test_what_is_not_known_is_not_accepted(rules: dict[str, Any]) -> None:
    assert not accepts(rules, [1])
