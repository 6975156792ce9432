"""README.md: every campaign that ships is in its table, and nothing else is."""

from __future__ import annotations

import re
from pathlib import Path


def test_every_campaign_is_listed(root: Path) -> None:
    table = (root / "README.md").read_text("utf-8").partition("## Campaigns that come with it")[2].partition("\n## ")[0]
    named = set(re.findall(r"`(specs/[^`]*\.campaign)`", table))
    assert named == {f"specs/{path.name}" for path in (root / "specs").glob("*.campaign")}
