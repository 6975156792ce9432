"""The language's acceptance cases: whole files compile as they stand, refused ones are refused at the marked token.

A refused file names the rule in its first line; a `# ^` line marks the column of the token in the line above it. The
copies under tests/cases keep this test alone sufficient; ../shared/examples is read as well where it is there.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest

from aisimc_compiler.api import check_file, compile_file, load_plan
from tests.builders.campaigns import said

ROOT = Path(__file__).resolve().parents[3]
FOLDERS = [
    folder for folder in (ROOT / "tests" / "cases" / "examples", ROOT.parent / "shared" / "examples") if folder.is_dir()
]


class Mark(NamedTuple):
    """What a refused file says about itself."""

    rule: str
    place: tuple[int, int] | None


def marked(text: str) -> Mark:
    """Rule and place (line and column from 1) that a refused file asks for."""
    lines = text.splitlines()
    place = None
    for number, line in enumerate(lines):
        if line.startswith("#") and line.strip("# ") == "^":
            place = (number, line.index("^") + 1)
    return Mark(lines[0].removeprefix("# rule:").strip(), place)


def _ids(path: Path) -> str:
    return f"{path.parts[-4] if path.parent.name == 'invalid' else path.parts[-3]}:{path.stem}"


WHOLE = [path for folder in FOLDERS for path in sorted(folder.glob("*.campaign"))]
REFUSED = [path for folder in FOLDERS for path in sorted((folder / "invalid").glob("*.campaign"))]


@pytest.mark.parametrize("path", WHOLE, ids=_ids)
def test_whole_files_compile(path: Path) -> None:
    result = compile_file(path)
    assert result.ok, said(result.diagnostics)
    loaded = load_plan(result.plan_bytes)
    assert not isinstance(loaded, list), loaded
    assert loaded.digest == result.plan_digest


@pytest.mark.parametrize("path", REFUSED, ids=_ids)
def test_refused_files_are_refused_at_the_token(path: Path) -> None:
    mark = marked(path.read_text(encoding="utf-8"))
    found = check_file(path).diagnostics
    assert [d.rule for d in found] == [mark.rule], said(found)
    if mark.place is not None:
        assert found[0].span.source.position(found[0].span.start) == mark.place, said(found)


def test_there_are_cases() -> None:
    assert len(WHOLE) >= 5
    assert len(REFUSED) >= 27


def test_fragments_are_valid() -> None:
    for folder in FOLDERS:
        result = check_file(folder / "common" / "exclusions.campaign")
        assert result.ok and result.fragment
