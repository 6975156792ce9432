"""The folders of runs that use a store: gc asks all of them what they need, not only the one it is started beside."""

from __future__ import annotations

import hashlib
import json
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from aisimc_runtime.failures import Refused
from aisimc_runtime.ports.files import explain, write_atomic

if TYPE_CHECKING:
    from aisimc_runtime.store.content import Store

FOLDER = "runs"


def remember(store: Store, runs: Path) -> None:
    """Note that runs in the folder `runs` use the store. Raises `Blocked`."""
    place = store.root / FOLDER / f"{hashlib.sha256(str(runs).encode()).hexdigest()[:24]}.json"
    if place.is_file():
        return
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise explain(error, f"cannot make {place.parent}") from error
    write_atomic(place, json.dumps({"folder": str(runs)}).encode() + b"\n")


class Known(NamedTuple):
    """The runs folders of a store."""

    there: list[Path]
    away: list[Path]
    """Noted ones that are not there: removed, or on a disk that is not mounted."""


def known(store: Store, named: Path | None, default: Path) -> Known:
    """Every runs folder: noted ones, and the one named, or else the default one.

    Raises `Refused` when the named one is not there, or when there is none at all: nothing would be needed, and
    everything removed.
    """
    found = {(named or default).absolute()} if (named or default).is_dir() else set()
    if named is not None and not found:
        raise Refused(f"there is no runs folder at {named}")
    away: set[Path] = set()
    for note in (store.root / FOLDER).glob("*.json"):
        with suppress(OSError, ValueError, KeyError, TypeError):
            folder = Path(json.loads(note.read_bytes())["folder"])
            (found if folder.is_dir() else away).add(folder)
    if not found:
        raise Refused(
            f"no runs folder is known to the store, and there is none at {default}", help="name one with `--runs DIR`"
        )
    return Known(sorted(found), sorted(away))
