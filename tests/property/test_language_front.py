"""Any text gives a tree and diagnostics; any layout formats to one that stays, and means the same."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aisimc_compiler.api import check_text, compile_file
from aisimc_compiler.diagnostics.render import github, sarif, text
from aisimc_compiler.diagnostics.render import json as as_json
from aisimc_compiler.editor.completion import complete
from aisimc_compiler.editor.names import occurrences
from aisimc_compiler.fixing import fix_checked
from aisimc_compiler.source import Source
from aisimc_compiler.syntax import tree
from aisimc_compiler.syntax.driver import split
from aisimc_compiler.syntax.format import format_source, meaning
from aisimc_compiler.syntax.parser import parse
from aisimc_compiler.syntax.tables import load
from tests.builders.mutations import mutated, noise
from tests.builders.texts import EVERY_CONSTRUCT, SPECS

TEXTS = [EVERY_CONSTRUCT, *(path.read_text(encoding="utf-8") for path in SPECS)]
RANDOMS = st.integers(0, 2**32).map(random.Random)


def broken(source: Source) -> list[str]:
    """What of a parse's result is not as every result must be; nothing, one hopes."""
    file, diagnostics = parse(source)
    size = len(source.text)
    found = [] if isinstance(file, tree.File) else ["no tree"]
    if [d.span.start for d in diagnostics] != sorted(d.span.start for d in diagnostics):
        found.append("diagnostics out of source order")
    for diagnostic in diagnostics:
        if diagnostic.rule not in ("syntax", "type.mismatch", "name.missing"):
            found.append(f"{diagnostic.rule} is not the parser's to report")
        if not diagnostic.message:
            found.append("a diagnostic without a message")
        spans = [place.span for place in (diagnostic, diagnostic.replacement, *diagnostic.secondary) if place]
        found += [f"{span} lies outside" for span in spans if not 0 <= span.start <= span.end <= size]
    rendered = "".join(text.render(diagnostics, lambda rule: "AC0001", colour=True))
    rendered += as_json.render(diagnostics, lambda rule: "AC0001")
    rendered += "".join(github.render(diagnostics, lambda rule: "AC0001"))
    rendered += sarif.render(diagnostics, lambda rule: ("AC0001", "title", "reason"), "1")
    if re.search("[\x00-\x08\x0b-\x1a\x1c-\x1f\u202a-\u202e\u2066-\u2069\ud800-\udfff]", rendered):
        found.append("a control character was rendered")
    return found


@settings(max_examples=300, deadline=None)
@given(st.text(st.characters(exclude_categories=[]), max_size=60))
def test_any_text_parses(chars: str) -> None:
    assert broken(Source("x", chars)) == []


@settings(max_examples=300, deadline=None)
@given(RANDOMS, st.integers(1, 60))
def test_any_fragments_parse(randoms: random.Random, length: int) -> None:
    assert broken(Source("x", noise(randoms, length))) == []


@settings(max_examples=250, deadline=None)
@given(st.sampled_from(TEXTS), RANDOMS, st.integers(1, 8))
def test_mutated_texts_parse(base: str, randoms: random.Random, times: int) -> None:
    start = randoms.randrange(len(base))
    assert broken(Source("x", mutated(base[start : start + 1500], randoms, times))) == []


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(TEXTS), RANDOMS, st.integers(1, 4))
def test_mends_never_make_it_worse(base: str, randoms: random.Random, times: int) -> None:
    checked = check_text(mutated(base, randoms, times), "x.campaign")
    fixed = fix_checked(checked, "")
    again = check_text(fixed.text, "x.campaign")
    assert len(again.diagnostics) <= max(len(checked.diagnostics), 1) + 5
    assert fix_checked(again, "").text == fixed.text


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(TEXTS), RANDOMS, st.integers(0, 4))
def test_completion_never_fails(base: str, randoms: random.Random, times: int) -> None:
    changed = mutated(base, randoms, times)
    source = Source("x", changed)
    names = occurrences([source])
    for proposal in complete(changed, randoms.randrange(len(changed) + 1), names):
        assert proposal.label


def relaid(base: str, randoms: random.Random, how_often: float) -> str:
    """The same tokens with other blanks, line ends, commas and comments between them."""
    tables = load()
    pieces: list[str] = []
    tokens = list(split(base, tables))
    depth = 0
    for (kind, start, end), following in zip(tokens, [*tokens[1:], tokens[-1]], strict=True):
        pieces.append(base[start:end])
        name = tables.terminals[kind]
        depth += (name in ("LBRACE", "LSQB")) - (name in ("RBRACE", "RSQB"))
        if randoms.random() < how_often:
            pieces.append(
                randoms.choice(
                    ("\n", "\n\n\n", f" # c{start}\n", f"\n# d{start}\n", f"\n\n  # e{start}\n\n", "  ", "\t", "\r\n")
                )
            )
        elif tables.terminals[following[0]] == "COMMA" or randoms.random() < 0.9:
            pieces.append(" ")
        else:
            pieces.append("\n")
    return "".join(pieces)


def comments(source: str) -> list[str]:
    """The comments of a text, in any order."""
    found: list[str] = []
    last = 0
    for _, start, end in split(source, load()):
        found += re.findall(r"#[^\n]*", source[last:start])
        last = end
    return sorted(comment.strip() for comment in found)


@settings(max_examples=120, deadline=None)
@given(st.sampled_from(TEXTS), RANDOMS, st.sampled_from([0.0, 0.02, 0.1, 0.5]))
def test_formatting_is_idempotent_and_keeps_meaning_and_comments(
    base: str, randoms: random.Random, often: float
) -> None:
    changed = relaid(base, randoms, often)
    file, faults = parse(Source("x", changed))
    assert not faults
    once = format_source(Source("x", changed)).text
    assert once is not None
    assert format_source(Source("x", once)).text == once
    assert meaning(parse(Source("x", once))[0].body) == meaning(file.body)
    assert comments(once) == comments(changed)
    assert not any(line != line.rstrip() for line in once.split("\n"))
    assert "\n\n\n" not in once
    assert once.endswith("\n")
    assert not once.startswith("\n")


@pytest.mark.parametrize("path", SPECS, ids=lambda path: path.stem)
def test_specs_are_formatted(path: Path) -> None:
    written = path.read_text(encoding="utf-8")
    assert format_source(Source(path.name, written)).text == written


@pytest.mark.parametrize("path", SPECS, ids=lambda path: path.stem)
@settings(max_examples=3, deadline=None)
@given(randoms=RANDOMS)
def test_formatting_changes_no_plan_digest(path: Path, randoms: random.Random) -> None:
    planned = compile_file(path)
    if planned.plan is None:
        assert planned.fragment
        return
    moved = path.with_name(f".{path.stem}-{randoms.randrange(10**9)}.campaign")
    try:
        moved.write_text(relaid(path.read_text(encoding="utf-8"), randoms, 0.1), encoding="utf-8")
        assert compile_file(moved).plan_digest == planned.plan_digest
        formatted = format_source(Source("x", moved.read_text(encoding="utf-8"))).text
        assert formatted is not None
        moved.write_text(formatted, encoding="utf-8")
        assert compile_file(moved).plan_digest == planned.plan_digest
    finally:
        moved.unlink()
