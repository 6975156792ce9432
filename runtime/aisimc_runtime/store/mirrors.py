"""Bare git mirrors in the store: what each is called, and which of them no run needs.

A mirror of a long history can be larger than everything else in the store; what is removed is fetched again when a
campaign asks for it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from aisimc_runtime.store.content import Store

FOLDER = "mirrors"
_KEY_LENGTH = 24


def mirror_path(store: Store, repository: str, *, history: bool) -> Path:
    """Where the mirror of a repository stands: one with whole histories, or a shallow one for single files."""
    return store.root / FOLDER / f"{_key(repository)}{'-history' if history else ''}.git"


def unneeded_mirrors(store: Store, folders: Iterable[Path]) -> list[Path]:
    """Mirrors of repositories that no run in one of the runs folders names."""
    keep = {_key(repository) for repository in _repositories(folders)}
    found: list[Path] = []
    with suppress(OSError):
        found = sorted((store.root / FOLDER).glob("*.git"))
    return [path for path in found if path.is_dir() and path.name[:_KEY_LENGTH] not in keep]


def size_bytes(mirror: Path) -> int:
    """What the files of a mirror take."""
    total = 0
    for path in mirror.rglob("*"):
        with suppress(OSError):
            total += path.lstat().st_size
    return total


def _key(repository: str) -> str:
    return hashlib.sha256(repository.encode()).hexdigest()[:_KEY_LENGTH]


def _repositories(folders: Iterable[Path]) -> Iterator[str]:
    for plan in (plan for folder in folders for plan in folder.glob("*/plan.json")):
        with suppress(OSError, ValueError):
            yield from _named(json.loads(plan.read_bytes()))


def _named(value: Any) -> Iterator[str]:
    """Every `repository` anywhere in a plan: of a revision or of an input."""
    if isinstance(value, dict):
        if isinstance(value.get("repository"), str):
            yield value["repository"]
        for inner in value.values():
            yield from _named(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _named(inner)
