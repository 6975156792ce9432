"""docs/golden.md names the counters that golden files bind and the language's own table has not."""

from __future__ import annotations

import re
from pathlib import Path

from aisimc_compiler.model.closed import COUNTERS


def test_every_counter_that_only_a_golden_file_takes_is_in_its_table(root: Path) -> None:
    page = (root / "docs" / "golden.md").read_text("utf-8")
    named = set(re.findall(r"^\| `(\w+)` \| name: count \|", page, re.MULTILINE))
    assert named == {counter for counter, kind in COUNTERS.items() if kind == "counts"}
