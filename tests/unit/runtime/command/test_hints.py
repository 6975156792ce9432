"""Commands that are printed to be typed can be typed: whatever a path has in it is quoted for the shell."""

from __future__ import annotations

import ast
import re
import shlex
from pathlib import Path

import pytest

from aisimc_runtime.command.main import VERBS
from tests.builders.texts import SPECS
from tests.unit.runtime.command.aisimc import aisimc

NAMES = {"row", "row.name", "outline.rows[0]", "sides"}
"""What a hint may hold as it is: names of the language, which the shell takes literally."""
COMMAND = re.compile(rf"(?:`|: |, then )aisimc (?:{'|'.join(VERBS)})\b")


def holes(text: ast.JoinedStr) -> list[str]:
    """The expressions in the commands of an f-string, each command reaching to its backtick or the end."""
    plain = "".join(
        part.value if isinstance(part, ast.Constant) else f"\x00{ast.unparse(part.value)}\x01"  # type: ignore[attr-defined]
        for part in text.values
    )
    ends = [(found.start(), re.compile("[`\n]|    ").search(plain, found.end())) for found in COMMAND.finditer(plain)]
    return [
        hole
        for start, end in ends
        for hole in re.findall("\x00(.*?)\x01", plain[start : end.start() if end else len(plain)])
    ]


def test_every_printed_command_quotes_what_it_holds(root: Path) -> None:
    found = [
        (str(path.relative_to(root)), hole)
        for path in sorted((root / "runtime" / "aisimc_runtime").rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.JoinedStr)
        for hole in holes(node)
    ]
    assert len(found) >= 10
    assert [one for one in found if "shlex.quote(" not in one[1] and one[1] not in {*NAMES, "typed"}] == []


@pytest.mark.parametrize("name", ["a b.json", "it's $HOME.json", "plain.json"])
def test_the_command_for_a_saved_plan_names_that_file(tmp_path: Path, name: str) -> None:
    spec = next(path for path in SPECS if path.stem == "quickstart")
    done = aisimc("plan", str(spec), "-o", name, cwd=tmp_path)
    (typed,) = re.findall(r"`(aisimc run .*)` runs exactly this", done.out)
    assert shlex.split(typed) == ["aisimc", "run", name]
    assert (tmp_path / name).is_file()


def test_a_refused_campaign_is_named_as_it_can_be_typed(tmp_path: Path) -> None:
    (tmp_path / "my é.campaign").write_text("row x {\n")
    assert "`aisimc check 'my é.campaign'` shows" in aisimc("pin", "my é.campaign", cwd=tmp_path).err


@pytest.mark.parametrize("verb", ["store", "golden"])
def test_the_help_of_a_group_cuts_no_line(verb: str) -> None:
    assert [line for line in aisimc(verb, "--help").out.splitlines()[1:] if line.endswith("...")] == []


@pytest.mark.parametrize("verb", ["check", "fmt", "plan", "run", "pin", "new", "import", "requalify", "explain"])
def test_the_help_of_a_verb_has_examples(verb: str) -> None:
    assert f"  aisimc {verb}" in aisimc(verb, "--help").out.partition("Examples:")[2]
