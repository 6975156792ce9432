"""The TextMate grammar keeps to the vocabulary of the language, and its expressions colour what they should."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from aisimc_compiler.model.vocabulary import BLOCKS
from aisimc_compiler.syntax.keywords import INNER, STATEMENTS, TOP_LEVEL


@pytest.fixture
def grammar(root: Path) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads((root / "docs/editors/campaign.tmLanguage.json").read_text(encoding="utf-8"))
    return loaded


def test_the_parsers_keywords_are_those_of_the_vocabulary() -> None:
    top = set(BLOCKS["file"].blocks)
    inner = {keyword for key, block in BLOCKS.items() if key != "file" for keyword in block.blocks}
    assert top == TOP_LEVEL
    assert inner == INNER
    assert top | inner >= STATEMENTS


def test_the_grammar_names_every_block(grammar: dict[str, Any]) -> None:
    outer, inner = (rule["match"] for rule in grammar["repository"]["block"]["patterns"])
    assert set(re.findall(r"[a-z_]{4,}|row", outer.split(")")[0])) == TOP_LEVEL
    assert set(re.findall(r"[a-z_]{4,}", inner.split(")")[0])) == INNER


@pytest.mark.parametrize(
    ("text", "scope"),
    [
        ("100 GB/s", "keyword.other.unit.campaign"),
        ("1..3", "keyword.operator.range.campaign"),
        ("5_000", "constant.numeric.campaign"),
        ("true", "constant.language.boolean.campaign"),
        ("/per_request/*/at_ms", "string.unquoted.pointer.campaign"),
        ("canonical_v1", "constant.other.word.campaign"),
    ],
)
def test_values_are_coloured(grammar: dict[str, Any], text: str, scope: str) -> None:
    for rule in grammar["repository"]["value"]["patterns"]:
        if "match" in rule and re.fullmatch(rule["match"], text):
            scopes = {rule.get("name"), *(capture["name"] for capture in rule.get("captures", {}).values())}
            assert scope in scopes
            return
    raise AssertionError(f"nothing colours {text}")
