"""Texts that are too deep, too long, too wrong: they end soon, in diagnostics, and in little memory."""

from __future__ import annotations

import subprocess
import sys

import pytest

from aisimc_compiler.syntax.faults import MAX_ERRORS
from tests.builders.texts import faults_of


@pytest.mark.parametrize("bracket", ["x {", "x y { a = 1 ", "{", "a = [", "[", "a = [[", "x { a = [1,"])
@pytest.mark.parametrize("depth", [100, 100_000])
def test_deep_nesting(bracket: str, depth: int) -> None:
    faults = faults_of(bracket * depth)
    assert any("nested too deeply" in fault.message for fault in faults)
    assert len(faults) < 80


def test_nesting_that_is_closed_again() -> None:
    assert any("nested too deeply" in f.message for f in faults_of("x { " * 500 + "}" * 500))
    assert any("nested too deeply" in f.message for f in faults_of("a = " + "[" * 500 + "]" * 500))


def test_nesting_as_deep_as_any_campaign_needs() -> None:
    for text in ("x y { a = 1 " * 20 + "}" * 20, "a = " + "[" * 20 + "]" * 20):
        assert faults_of(text) == []


def test_ten_thousand_errors_are_all_said() -> None:
    assert len(faults_of("a = 007\n" * 10_000)) == 10_000
    assert len(faults_of("x { a = 'b' }\n" * 10_000)) == 10_000
    assert len(faults_of("x { a = \n }" * 10_000)) == 10_000


def test_more_errors_are_cut_off() -> None:
    faults = faults_of("a = 007\n" * (MAX_ERRORS + 10))
    assert len(faults) == MAX_ERRORS + 1
    assert "more than" in faults[-1].message


@pytest.mark.parametrize(
    "piece",
    [
        "'",
        '"',
        "“ ",
        "a\u00a0",
        "$ ",
        "/~ ",
        "\0",
        "a = 1-3 ",
        "{",
        "}",
        "é",
        "row x ",
        "a = ",
        "= ",
        "[",
        "1,000 ",
    ],
)
def test_megabytes_of_one_mistake_on_one_line(piece: str) -> None:
    code = (
        "import resource, sys; from aisimc_compiler.source import Source;"
        "from aisimc_compiler.syntax.parser import parse;"
        "resource.setrlimit(resource.RLIMIT_AS, (2**30, 2**30)); piece = sys.argv[1];"
        "text = piece * (1_000_000 // len(piece)); file, faults = parse(Source('x', text)); print(len(faults))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, piece.replace("\0", "\x01")], capture_output=True, text=True, timeout=100
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert int(done.stdout) > 0
