"""One slip gives one error: what follows from it (who is distinct, what is missing, what is unknown) is not said."""

from __future__ import annotations

from pathlib import Path

import pytest

from aisimc_compiler.api import CheckResult, check_text

EXAMPLES = Path(__file__).resolve().parents[3] / "cases" / "examples"
EXCLUSIONS = 'import "common/exclusions.campaign"'
COMMIT = "fb7b0d56de035d66ca9fcae7ff424055dcbf37cd"


def checked(stem: str, *changes: tuple[str, str]) -> CheckResult:
    text = (EXAMPLES / f"{stem}.campaign").read_text(encoding="utf-8")
    for old, new in changes:
        assert old in text
        text = text.replace(old, new, 1)
    return check_text(text, "one.campaign", str(EXAMPLES))


ONE: list[tuple[str, str, str, str]] = [
    ("everything", EXCLUSIONS, 'import "common/exclusion.campaign"', "import.path"),
    ("everything", EXCLUSIONS, 'import "/etc/exclusions.campaign"', "import.path"),
    ("everything", EXCLUSIONS, 'import "../exclusions.campaign"', "import.path"),
    ("everything", EXCLUSIONS, 'import "common"', "import.path"),
    ("everything-else", COMMIT, COMMIT[:12], "pin.commit"),
    ("everything-else", COMMIT, f" {COMMIT}", "pin.commit"),
    ("everything-else", COMMIT, "main", "pin.commit"),
    ("everything-else", f'  commit     = "{COMMIT}"', f'  commit = "{COMMIT}" wheel = "a==1"', "name.unknown"),
    ("everything-else", f'  commit     = "{COMMIT}"', f'  wheel = "a==1" commit = "{COMMIT}"', "name.unknown"),
]


@pytest.mark.parametrize(("stem", "old", "new", "rule"), ONE)
def test_one_error(stem: str, old: str, new: str, rule: str) -> None:
    found = checked(stem, (old, new)).diagnostics
    assert [diagnostic.rule for diagnostic in found] == [rule]


def test_a_family_in_an_import_that_cannot_be_read_is_not_unknown() -> None:
    result = checked(
        "everything",
        (EXCLUSIONS, f'{EXCLUSIONS}\nimport "common/families.campaign"'),
        ("family = paged", "family = shared"),
    )
    assert [diagnostic.rule for diagnostic in result.diagnostics] == ["import.path"]


MENDS = [
    ("everything", " decode { workers = 2 }", "", "write `decode { workers = 2 }`"),
    ("everything", '["python", "-m", "pytest", "-q", "tests/test_admission.py"]', '"pytest -q"', '`["pytest", "-q"]`'),
    ("everything-else", "60_000", "60_000 ms", "write `60_000`"),
]


@pytest.mark.parametrize(("stem", "old", "new", "mend"), MENDS)
def test_the_mend_is_what_should_stand_there(stem: str, old: str, new: str, mend: str) -> None:
    (only,) = checked(stem, (old, new)).diagnostics
    assert mend in only.help


@pytest.mark.parametrize(("block", "article"), [("expect", "an"), ("evidence", "an"), ("transfer", "a")])
def test_blocks_have_the_right_article(block: str, article: str) -> None:
    result = checked("everything", (f"{block} {{", f"{block} {{ nothing_like_it = 1 "))
    assert any(f"in {article} `{block}` block" in diagnostic.message for diagnostic in result.diagnostics)
