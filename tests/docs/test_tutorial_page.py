"""docs/tutorial.md quotes what the tool prints; the two do not part."""

from __future__ import annotations

import io
import re
from pathlib import Path

from rich.console import Console

from aisimc_runtime.report import build, terminal
from tests.builders import outcomes, records, runs


def test_the_row_that_exercises_nothing_is_quoted_as_it_is_printed(root: Path, tmp_path: Path) -> None:
    record = records.vllm_record(preemptions=0)
    plan = runs.plan({outcomes.NAME: runs.plan_row(evidence=outcomes.EVIDENCE)})
    report = build(runs.RunBuilder(tmp_path, plan).row(outcomes.NAME, record, record).finish())
    stream = io.StringIO()
    terminal.summary(report, Console(file=stream, width=100, color_system=None, highlight=False))
    page = (root / "docs" / "tutorial.md").read_text("utf-8")
    (quoted,) = re.findall(r"```text\n(run\.pressure.*?)```", page, re.DOTALL)
    assert " ".join(quoted.split()) in " ".join(stream.getvalue().split())
