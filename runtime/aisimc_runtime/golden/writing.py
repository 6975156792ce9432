"""Golden points into YAML: a new file, or an old one with its comments, order and other rows kept."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap, CommentedSeq
from ruamel.yaml.error import YAMLError

from aisimc_runtime.failures import Refused
from aisimc_runtime.golden.points import Point

Json = dict[str, Any]
_KEPT = ("capacity_observations", "observations", "note")
"""What people write beside a point; recording it again leaves it there."""


def merged(path: Path, qualified: Json, points: Sequence[Point], *, on: str) -> str:
    """The text of the golden file with these points in it. Raises `Refused` when the file there is none.

    A new file says at its top who qualified its points; a row says only where it differs from that.
    """
    yaml = YAML()
    yaml.width = 110
    yaml.indent(mapping=2, sequence=4, offset=2)
    document = _existing(yaml, path) if path.is_file() else CommentedMap({"schema": 1})
    common = document.setdefault("qualified", CommentedMap({**qualified, "on": on}))
    rows = document.setdefault("rows", CommentedMap())
    for point in points:
        whole = {**qualified, **point.entry["qualified"], "on": on}
        own = {key: value for key, value in whole.items() if key not in common or common[key] != value}
        entry = {key: own if key == "qualified" else value for key, value in point.entry.items()}
        before = rows.get(point.row) or {}
        rows[point.row] = _value({**entry, **{key: before[key] for key in _KEPT if key in before}}, top=True)
    stream = io.StringIO()
    yaml.dump(document, stream)
    return stream.getvalue()


def _existing(yaml: YAML, path: Path) -> CommentedMap:
    try:
        document = yaml.load(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, YAMLError) as reason:
        raise Refused(f"{path} cannot be read as YAML: {str(reason).splitlines()[0]}") from reason
    if not isinstance(document, CommentedMap) or document.get("schema") != 1:
        raise Refused(f"{path} is not a golden file of this version", help="name another file with -o")
    return document


def _value(value: Any, *, top: bool = False) -> Any:
    """Maps of a row in block style, what is inside them in flow style, as the published points are written."""
    if isinstance(value, dict):
        mapped = CommentedMap((key, _value(item)) for key, item in value.items())
        if not top and not any(isinstance(item, (dict, list)) for item in value.values()) and len(value) <= 4:
            mapped.fa.set_flow_style()
        return mapped
    if isinstance(value, list):
        listed = CommentedSeq(_value(item) for item in value)
        listed.fa.set_flow_style()
        return listed
    return value
