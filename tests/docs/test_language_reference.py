"""The language reference cannot drift: its tables are the vocabulary's, and its snippets compile."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from aisimc_compiler.api import check_file, compile_file
from aisimc_compiler.model.vocabulary import BLOCKS, Attribute
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


def test_a_ruled_name_says_when_it_is_needed() -> None:
    assert "see below |" not in PAGE
    known = {f"{key}.{name}" for key, block in BLOCKS.items() for name in (*block.attributes, *block.blocks)}
    assert set(reference.WHEN) - known == set()


DEFAULTS = [
    (key, name, attribute)
    for key, block in BLOCKS.items()
    for name, attribute in block.attributes.items()
    if attribute.default is not None and f"<!-- table: {key} -->" in PAGE
]
PLACES = {
    "campaign": "corpus   = long",
    "build": "profile   = release",
    "row": "engine = vllm",
    "topology aggregated": "workers = 4",
    "role": "prefill {",
    "composition": "engine = vllm",
}
"""Text of a snippet after which an attribute of the block may be written."""


def with_default(text: str, key: str, name: str, default: str) -> str:
    """A campaign in which the default is written out."""
    line = f"composition {{ {name} = {default} }}" if key == "composition" else f"{name} = {default}"
    return text.replace(PLACES[key], f"{PLACES[key]}\n{line}\n", 1)


@pytest.mark.parametrize(
    ("key", "name", "attribute"), DEFAULTS, ids=lambda value: value if isinstance(value, str) else ""
)
def test_a_default_written_out_changes_no_plan(key: str, name: str, attribute: Attribute, tmp_path: Path) -> None:
    shown = re.search(rf"table: {key} -->\n(?:\|.*\n)*?\| `{name}` \|[^|]*\| no \(`(.*?)`\)", PAGE)
    assert shown is not None
    snippet = next(text for text in SNIPPETS if PLACES[key] in text)
    base = "\n\n".join((blocks_of(SNIPPETS[0]) | blocks_of(snippet)).values())
    base = re.sub(r"\n *(features|arrival_speedup_ratio) *= .*| dp = \d", "", base).replace("-adp2-4", "")
    texts = (base, with_default(base, key, name, shown[1]))
    assert texts[0] != texts[1]
    assert len({digest_of(text, tmp_path) for text in texts}) == 1


def digest_of(text: str, folder: Path) -> str:
    """The plan digest of a campaign without mistakes."""
    path = folder / "snippet.campaign"
    path.write_text(text, "utf-8")
    result = compile_file(path)
    assert [diagnostic.message for diagnostic in result.diagnostics] == []
    return result.plan_digest


@pytest.mark.parametrize("snippet", SNIPPETS, ids=lambda text: text.split("{")[0].strip())
def test_each_snippet_compiles_in_the_place_of_the_first_ones_blocks(snippet: str, tmp_path: Path) -> None:
    blocks = blocks_of(SNIPPETS[0]) | blocks_of(snippet)
    path = tmp_path / "snippet.campaign"
    path.write_text("\n\n".join(blocks.values()), "utf-8")
    result = check_file(path)
    assert [diagnostic.message for diagnostic in result.diagnostics] == []


def test_the_snippets_were_found() -> None:
    assert len(SNIPPETS) >= 9
