"""Looking after the store: what no run needs, and what is no longer what its name says."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from aisimc_runtime.ports.files import explain, sha256_file
from aisimc_runtime.store.content import Entry, Store

DIGEST = re.compile(rb"(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])")
NAMING_FILES = ("plan.json", "artifacts.json", "inputs.json")
"""The files of a run folder that name what it needs from the store."""
STALE_S = 24 * 3600.0
"""A file on its way in that has not grown for so long belongs to nobody."""


@dataclass(frozen=True, slots=True)
class Damaged:
    """An object whose bytes are no longer what its name says."""

    entry: Entry
    found: str
    """SHA-256 of the bytes now; empty when they cannot be read."""


def verify(store: Store) -> Iterator[tuple[Entry, Damaged | None]]:
    """Hash every object again, one after the other."""
    for entry in store.entries():
        try:
            found = sha256_file(store.path(entry.sha256))
        except OSError:
            found = ""
        yield entry, None if found == entry.sha256 else Damaged(entry, found)


def quarantine(store: Store, sha256: str) -> Path:
    """Put a damaged object aside, where nothing uses it; its new place. Raises `Blocked`."""
    target = store.root / "quarantine" / sha256
    try:
        target.parent.mkdir(exist_ok=True)
        store.path(sha256).replace(target)
    except OSError as error:
        raise explain(error, f"cannot put {sha256[:12]}… aside") from error
    return target


def needed(store: Store, folders: Iterable[Path]) -> set[str]:
    """Every digest that a run in one of the runs folders names, and the runtimes of the wheels among them."""
    found: set[str] = set()
    for run in (run for folder in folders for run in folder.iterdir()):
        for name in NAMING_FILES:
            with suppress(OSError):
                found |= {match.decode() for match in DIGEST.findall((run / name).read_bytes())}
    for wheel in list(found):
        with suppress(OSError, ValueError, KeyError, TypeError):
            found.add(json.loads((store.root / "wheels" / f"{wheel}.json").read_bytes())["runtime"])
    return found


def unneeded(store: Store, folders: Iterable[Path], *, added: bool = False) -> list[Entry]:
    """Objects that no run names; those that were put in by hand only with `added`."""
    keep = needed(store, folders)
    return [
        entry
        for entry in store.entries()
        if entry.sha256 not in keep and (added or not store.note(entry.sha256).get("added"))
    ]


def remove(store: Store, entry: Entry) -> None:
    """Remove one object and what is noted about it, builds that gave it included. Raises `Blocked`."""
    try:
        store.path(entry.sha256).unlink(missing_ok=True)
    except OSError as error:
        raise explain(error, f"cannot remove {store.path(entry.sha256)}") from error
    for note in (
        store.root / "notes" / entry.sha256[:2] / f"{entry.sha256[2:]}.json",
        store.root / "wheels" / f"{entry.sha256}.json",
        *_builds_of(store, entry.sha256),
    ):
        with suppress(OSError):
            note.unlink(missing_ok=True)


def _builds_of(store: Store, sha256: str) -> list[Path]:
    """The records of builds that gave an artifact."""
    found = []
    for record in (store.root / "builds").glob("*.json"):
        with suppress(OSError, ValueError, KeyError, TypeError):
            if json.loads(record.read_bytes())["artifact_sha256"] == sha256:
                found.append(record)
    return found


def stale(store: Store, now: float) -> list[Path]:
    """Files and folders on their way in whose process is long gone."""
    found = []
    with suppress(OSError):
        for path in sorted((store.root / "tmp").iterdir()):
            with suppress(OSError):
                if now - path.stat().st_mtime > STALE_S and not _alive(path.name):
                    found.append(path)
    return found


def _alive(name: str) -> bool:
    """Whether the process that made a temporary file may still run: another host's cannot be asked."""
    match = re.fullmatch(r"(.+)-(\d+)-[0-9a-f]{12}", name)
    if match is None:
        return False
    return match[1] != os.uname().nodename or Path(f"/proc/{match[2]}").exists()
