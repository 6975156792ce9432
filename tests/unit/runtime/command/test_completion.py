"""What a shell is offered when its user presses the tabulator key, asked as the shells ask."""

from __future__ import annotations

import pytest

from aisimc_compiler.rules.registry import RULES
from aisimc_runtime.command.main import VERBS
from tests.unit.runtime.command.aisimc import aisimc


def offered(typed: str) -> list[str]:
    """The values that bash gets for the last word of a line."""
    words = typed.split(" ")
    done = aisimc(_AISIMC_COMPLETE="bash_complete", COMP_WORDS=typed, COMP_CWORD=str(len(words) - 1))
    assert (done.status, done.err) == (0, "")
    return [line.partition(",")[2] for line in done.out.splitlines()]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_gets_its_script(shell: str) -> None:
    done = aisimc(_AISIMC_COMPLETE=f"{shell}_source")
    assert (done.status, done.err) == (0, "")
    assert f"_AISIMC_COMPLETE={shell}_complete" in done.out


def test_verbs_options_and_their_words() -> None:
    assert offered("aisimc ") == list(VERBS)
    assert "--format" in offered("aisimc check --f")
    assert offered("aisimc explain --format ") == ["text", "json"]


def test_rules_by_name_section_and_code() -> None:
    assert offered("aisimc explain row.rep") == ["row.repetitions"]
    assert offered("aisimc explain pin") == [*(name for name in RULES if name.startswith("pin.")), "pin"]
    assert offered("aisimc explain ac010") == [info.code for info in RULES.values() if info.code.startswith("AC010")]
    assert set(RULES) < set(offered("aisimc explain "))
