"""Write a run's reports into its folder; the manifest comes last, because it covers them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson

from aisimc_runtime.ports.files import write_atomic
from aisimc_runtime.report import markdown, statement
from aisimc_runtime.report.manifest import write_manifest
from aisimc_runtime.report.model import build


def encode(report: dict[str, Any]) -> bytes:
    """The bytes of `report.json`."""
    return orjson.dumps(report, option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS | orjson.OPT_APPEND_NEWLINE)


def write_all(run_folder: Path) -> dict[str, Any]:
    """Build the report and write report.json, report.md, statement.json and, last, manifest.json.

    Raises Blocked when the folder cannot be read or the disk refuses.
    """
    report = build(run_folder)
    write_atomic(run_folder / "report.json", encode(report))
    write_atomic(run_folder / "report.md", markdown.render(report).encode())
    write_atomic(run_folder / "statement.json", statement.render(report).encode())
    write_manifest(run_folder)
    return report
