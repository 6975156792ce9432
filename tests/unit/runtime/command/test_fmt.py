"""`aisimc fmt` and `aisimc explain`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from aisimc_compiler.rules import RULES
from tests.builders.texts import SPECS
from tests.unit.runtime.command.aisimc import aisimc

LOOSE = 'campaign "c" {\nlanguage=1\n purpose = "p" # why\n}\n'
TIDY = 'campaign "c" {\n  language = 1\n  purpose  = "p"  # why\n}\n'


@pytest.fixture
def loose(tmp_path: Path) -> Path:
    path = tmp_path / "a.campaign"
    path.write_text(LOOSE)
    path.chmod(0o600)
    return path


def test_in_place(loose: Path) -> None:
    done = aisimc("fmt", str(loose))
    assert done == (0, "", f"{loose}: formatted\n")
    assert loose.read_text() == TIDY
    assert loose.stat().st_mode & 0o777 == 0o600
    assert aisimc("fmt", str(loose)) == (0, "", "")
    assert [path.name for path in loose.parent.iterdir()] == [loose.name]


def test_check_changes_nothing(loose: Path) -> None:
    assert aisimc("fmt", "--check", str(loose)) == (1, f"{loose} would change\n", "")
    assert loose.read_text() == LOOSE


def test_diff_changes_nothing(loose: Path) -> None:
    done = aisimc("fmt", "--diff", str(loose))
    assert done.status == 1
    assert "-language=1\n" in done.out
    assert "+  language = 1\n" in done.out
    assert loose.read_text() == LOOSE
    assert "\x1b[31m" in aisimc("fmt", "--diff", "--color", "always", str(loose)).out


def test_diff_shows_a_missing_line_end(loose: Path) -> None:
    loose.write_text(TIDY.rstrip("\n"))
    assert "\\ No newline at end of file\n" in aisimc("fmt", "--diff", str(loose)).out


def test_standard_input() -> None:
    assert aisimc("fmt", "-", stdin=LOOSE) == (0, TIDY, "")
    assert aisimc("fmt", "--check", "-", stdin=LOOSE).status == 1


def test_syntax_errors_leave_the_file_alone(loose: Path) -> None:
    loose.write_text("row x {\n  a: 1\n")
    done = aisimc("fmt", str(loose), str(SPECS[0]))
    assert done.status == 2
    assert "error[AC0001]" in done.err
    assert loose.read_text() == "row x {\n  a: 1\n"


def test_a_fragment_says_so(loose: Path) -> None:
    loose.write_text("exclude {\n  /a\n}\n")
    done = aisimc("fmt", "--check", str(loose))
    assert (done.status, done.out) == (0, "")
    assert "a fragment" in done.err


def test_an_unreadable_file(tmp_path: Path) -> None:
    done = aisimc("fmt", str(tmp_path / "none"), str(tmp_path))
    assert done.status == 2
    assert done.err.splitlines() == [
        f"aisimc: error: {tmp_path / 'none'} cannot be read: there is no such file",
        f"aisimc: error: {tmp_path} cannot be read: it is a folder",
    ]


def test_explain_lists_every_rule_once() -> None:
    done = aisimc("explain")
    assert done.status == 0
    lines = [line for line in done.out.splitlines() if line]
    assert [line.split()[0] for line in lines] == [info.code for info in RULES.values()]


@pytest.mark.parametrize("name", ["pin.commit", "AC0101", "ac0101", " PIN.COMMIT "])
def test_explain_one(name: str) -> None:
    done = aisimc("explain", name)
    info = RULES["pin.commit"]
    assert done.status == 0
    flat = " ".join(done.out.split())
    for text in (info.code, info.name, info.title, info.reason, info.source, info.example, info.mend):
        assert " ".join(text.split()) in flat


def test_explain_a_section() -> None:
    lines = aisimc("explain", "perf").out.splitlines()
    assert {line.split()[1].partition(".")[0] for line in lines} == {"perf"}


def test_explain_offers_the_nearest_rule() -> None:
    done = aisimc("explain", "pin.comit")
    assert (done.status, done.out) == (2, "")
    assert "did you mean `pin.commit`" in done.err


def test_explain_as_json() -> None:
    (rule,) = json.loads(aisimc("explain", "--format", "json", "pin.commit").out)["rules"]
    assert rule["code"] == "AC0101"
