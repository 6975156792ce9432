"""The language reference cannot drift: its tables are the vocabulary's, and its snippets compile."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from aisimc_compiler.api import check_file
from aisimc_compiler.model.vocabulary import BLOCKS
from aisimc_compiler.source import Source
from aisimc_compiler.syntax.parser import parse
from aisimc_compiler.syntax.tree import Block, Value
from tests.docs import reference

PAGE = reference.PAGE.read_text("utf-8")
SNIPPETS = re.findall(r"```campaign\n(.*?)```", PAGE, re.DOTALL)


def test_the_tables_are_those_of_the_vocabulary() -> None:
    assert reference.with_tables(PAGE) == PAGE, "run: python -m tests.docs.reference"


def test_every_block_of_the_language_has_its_table() -> None:
    shown = set(reference.tables_in(PAGE))
    with_attributes = {key for key, block in BLOCKS.items() if block.attributes}
    assert with_attributes - shown - {"family", "fixture"} == set()


def blocks_of(text: str) -> dict[str, str]:
    """A file's top-level blocks: keyword and label → text."""
    source = Source("snippet", text)
    file, diagnostics = parse(source)
    assert diagnostics == []
    found = {}
    for block in file.body:
        assert isinstance(block, Block)
        label = "".join(label.raw if isinstance(label, Value) else label.text for label in block.labels)
        found[f"{block.keyword.text} {label}"] = text[block.span.start : block.span.end]
    return found


@pytest.mark.parametrize("snippet", SNIPPETS, ids=lambda text: text.split("{")[0].strip())
def test_each_snippet_compiles_in_the_place_of_the_first_ones_blocks(snippet: str, tmp_path: Path) -> None:
    blocks = blocks_of(SNIPPETS[0]) | blocks_of(snippet)
    path = tmp_path / "snippet.campaign"
    path.write_text("\n\n".join(blocks.values()), "utf-8")
    result = check_file(path)
    assert [diagnostic.message for diagnostic in result.diagnostics] == []


def test_the_snippets_were_found() -> None:
    assert len(SNIPPETS) >= 9
