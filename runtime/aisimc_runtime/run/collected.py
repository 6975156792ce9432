"""The mark that a row's evidence was collected on its own node."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

NAME = "collected.json"


def collected(folder: Path) -> dict[str, Any] | None:
    """What was collected for the row of that folder; None while it is not."""
    try:
        mark = json.loads((folder / NAME).read_bytes())
    except (OSError, ValueError):
        return None
    return mark if isinstance(mark, dict) else None
