"""The reports of the six ways a campaign can end, as golden outputs."""

from __future__ import annotations

import io
import re
from pathlib import Path

import pytest
from rich.console import Console
from syrupy.assertion import SnapshotAssertion
from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode

from aisimc_runtime.report import build, junit, markdown, statement, terminal
from aisimc_runtime.report.writing import encode
from tests.builders import outcomes


class _Text(SingleFileSnapshotExtension):
    _write_mode = WriteMode.TEXT


class _Markdown(_Text):
    file_extension = "md"


class _Json(_Text):
    file_extension = "json"


class _Xml(_Text):
    file_extension = "xml"


class _Plain(_Text):
    file_extension = "txt"


def _steady(text: str) -> str:
    """Without the version of the tool, which has no part in what a report looks like."""
    return re.sub(r'("version": ")[^"]*', r"\1VERSION", text)


@pytest.mark.parametrize("outcome", list(outcomes.OUTCOMES))
def test_report(outcome: str, tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    report = build(outcomes.OUTCOMES[outcome](tmp_path / "run"))
    assert _steady(encode(report).decode()) == snapshot(name="report", extension_class=_Json)
    assert markdown.render(report) == snapshot(name="report", extension_class=_Markdown)
    assert _steady(statement.render(report)) == snapshot(name="statement", extension_class=_Json)
    assert junit.render(report) == snapshot(name="junit", extension_class=_Xml)


@pytest.mark.parametrize("width", [80, 140])
@pytest.mark.parametrize("outcome", list(outcomes.OUTCOMES))
def test_terminal(outcome: str, width: int, tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    report = build(outcomes.OUTCOMES[outcome](tmp_path / "run"))
    stream = io.StringIO()
    terminal.summary(report, Console(file=stream, width=width, color_system=None, highlight=False))
    lines = stream.getvalue().splitlines()
    assert [line for line in lines if len(line) > width and not _whole(line)] == []
    assert "\n".join(lines) + "\n" == snapshot(extension_class=_Plain)


def _whole(line: str) -> bool:
    """What is copied out of a report is never broken: field patterns and commands."""
    return line.rpartition(" ")[2].startswith("/") or line.lstrip().startswith("aisimc ")
