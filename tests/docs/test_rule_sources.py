"""`aisimc explain` names where a rule comes from: a document that can be found, a page and a section that exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from aisimc_compiler.rules.registry import RULES


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as code hosts make them."""
    headings = re.findall(r"^#+ (.*)$", page.read_text("utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("name", RULES)
def test_the_page_behind_a_rule_is_there(name: str, root: Path) -> None:
    source = RULES[name].source
    place = re.search(r"(docs/[\w-]+\.md)(?:#([\w-]+))?$", source)
    assert place is not None, source
    page = root / place[1]
    assert page.is_file()
    assert place[2] is None or place[2] in anchors(page)
    assert "aisimulate-replay-parity" in source or RULES[name].code < "AC0100"
