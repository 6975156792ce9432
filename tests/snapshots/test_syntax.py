"""What each slip looks like on the screen and in JSON, word for word."""

from __future__ import annotations

import json
from typing import Any

import pytest

from aisimc_compiler.diagnostics.render import json as as_json
from aisimc_compiler.diagnostics.render import text as renderer
from aisimc_compiler.source import Source
from aisimc_compiler.syntax.parser import parse
from tests.unit.compiler.syntax.test_faults import CASES

BROKEN = [text for text, expected, _ in CASES if expected]

WHOLE = """\
campaign "several mistakes" {
  language = 1
  purpose = Which words stand here
  corpus: long
}
revision baseline {
  commit = fb7b0d56de035d66ca9fcae7ff424055dcbf37cd
row vllm-aggregated {
\ttopology aggregated { workers = 007 }
  evidence { preemptions = 1-3 workers = “all” }
  expect { decode_workers = [0 1 2], virtual_duration_ms = }
}
}
"""


def code_of(rule: str) -> str:
    return "AC0001"


@pytest.mark.parametrize("text", BROKEN, ids=range(len(BROKEN)))
def test_text(text: str, snapshot: Any) -> None:
    _, diagnostics = parse(Source("a.campaign", text))
    assert "".join(renderer.render(diagnostics, code_of)) == snapshot


def test_a_whole_file(snapshot: Any) -> None:
    _, diagnostics = parse(Source("a.campaign", WHOLE))
    shown = "".join(renderer.render(diagnostics, code_of)) + renderer.summary(diagnostics)
    assert shown == snapshot


def test_a_whole_file_in_json(snapshot: Any) -> None:
    _, diagnostics = parse(Source("a.campaign", WHOLE))
    assert json.loads(as_json.render(diagnostics, code_of)) == snapshot


def test_a_whole_file_in_colour(snapshot: Any) -> None:
    _, diagnostics = parse(Source("a.campaign", WHOLE))
    assert "".join(renderer.render(diagnostics, code_of, colour=True)) == snapshot
