"""docs/exceptions.md shows code of an example that ships; the two do not part."""

from __future__ import annotations

import re
from pathlib import Path

from aisimc_runtime.run import exception_tests


def test_the_python_shown_is_the_example_s(root: Path) -> None:
    page = (root / "docs" / "exceptions.md").read_text("utf-8")
    example = (root / "specs" / "tests" / "first_admission_reuse.py").read_text("utf-8")
    (shown,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    assert shown in example
    assert "first_admission_reuse.py" in page


def test_the_environment_and_the_kept_files_are_the_runtime_s(root: Path) -> None:
    page = (root / "docs" / "exceptions.md").read_text("utf-8")
    code = Path(exception_tests.__file__).read_text("utf-8")
    assert set(re.findall(r"AISIMC_[A-Z]+", code)) == set(re.findall(r"AISIMC_[A-Z]+", page))


def test_no_line_runs_out_of_the_page(root: Path) -> None:
    lines = (root / "docs" / "exceptions.md").read_text("utf-8").splitlines()
    assert [line for line in lines if len(line) > 125 and not line.startswith("|")] == []
