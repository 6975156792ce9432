"""What `aisimc diff` can be pointed at: a record, a raw report, a row's folder, or a row of a run."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from aisimc_compiler.model.nearest import nearest
from aisimc_compiler.rules.refusal import did_you_mean
from aisimc_runtime.compare.flatten import NotJson
from aisimc_runtime.compare.scan import Document
from aisimc_runtime.evidence.view import read_json
from aisimc_runtime.failures import Blocked, Refused
from aisimc_runtime.ports.named import unreadable

WALL_CLOCK = frozenset({"wall_time_ms", "processed_tokens_per_s", "processed_output_tokens_per_s"})
"""Figures of a raw report that tell of the machine; canonical records do not hold them."""


class Subject(NamedTuple):
    """One side of a comparison: a file, or only the digest of a record that was not kept."""

    path: Path
    digest: str | None

    @property
    def there(self) -> bool:
        """Whether the record itself can be read."""
        return self.path.is_file()


def find(place: Path, row: str | None, arm: str) -> Subject:
    """The record that a place on the command line stands for. Raises Refused and Blocked."""
    if place.is_file():
        return Subject(place, None)
    if not place.exists():
        raise unreadable(place, FileNotFoundError())
    if not place.is_dir():
        raise Refused(f"{place} cannot be read: it is not a regular file")
    if (place / "replays").is_dir():
        return _of_row(place, arm)
    if not (place / "rows").is_dir():
        raise Refused(
            f"{place} is not the folder of a run",
            help="name a record, the folder of a row, or that of a run with --row",
        )
    names = sorted(entry.name for entry in (place / "rows").iterdir())
    if row is None:
        known = ", ".join(names) or "none"
        raise Refused(f"{place} is a run: name one of its rows with --row", help=f"rows: {known}")
    if row not in names:
        raise Refused(f"the run {place} has no row {row!r}", help=_nearest(row, names))
    return _of_row(place / "rows" / row, arm)


def _nearest(row: str, names: list[str]) -> str:
    known = f"its rows are {', '.join(names)}" if names else "it has none"
    return f"{did_you_mean(nearest(row, names))} {known}".lstrip()


def _of_row(folder: Path, arm: str) -> Subject:
    replay = folder / "replays" / f"{arm}-1"
    digests = read_json(replay / "digests.json")
    if digests is None:
        raise Blocked(f"{folder} has no finished replay of the {arm}")
    return Subject(replay / "canonical.jsonl", str(digests["canonical_sha256"]))


def left_out(a: Path, b: Path) -> frozenset[str]:
    """Members that are not compared: the wall-clock figures, where both sides are raw reports.

    Raises Refused when one side is a raw report and the other a canonical record.
    """
    raw = [_is_raw(path) for path in (a, b)]
    if raw[0] != raw[1]:
        which = a if raw[0] else b
        raise Refused(f"{which} is a raw report, and the other side is a canonical record")
    return WALL_CLOCK if raw[0] else frozenset()


def _is_raw(path: Path) -> bool:
    try:
        with Document(path) as document:
            names = {name for name, _ in document.members}
    except NotJson as error:
        raise Blocked(f"{path} is not one JSON object: {error} at byte {error.offset}") from error
    return "duration_ms" in names and "summary" not in names
