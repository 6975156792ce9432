"""Fitting a lock file to the runner beside a core, without letting any version float.

The runner's own lock file knows the reference core's dependencies, not those of another revision's core. For a
checkout the versions therefore come from two locks together: the revision's own, and the runner's for what the
revision does not use. Cargo may drop entries from that union, never add one: `strangers` names what it added.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from typing import NamedTuple


class Locked(NamedTuple):
    """One locked package. A package without a source is a folder of the build itself and is no concern of a lock."""

    name: str
    version: str
    source: str
    checksum: str


def packages(lock: bytes) -> set[Locked]:
    """The packages of a lock file that come from outside. Raises `ValueError` when it is not one."""
    data = tomllib.loads(lock.decode("utf-8"))
    return {
        Locked(entry["name"], entry["version"], entry["source"], entry.get("checksum", ""))
        for entry in data.get("package", [])
        if "source" in entry
    }


def union(revision: bytes, runner: bytes) -> bytes:
    """The revision's lock, with the runner's packages where the revision has no compatible version of them.

    Raises `ValueError` when either is not a lock file.
    """
    have = {(entry.name, _series(entry.version)) for entry in packages(revision)}
    blocks = ["version = 4\n"]
    blocks += [block for block in _blocks(revision) if _source(block)]
    for block in _blocks(runner):
        entry = tomllib.loads(block)["package"][0]
        if "source" in entry and (entry["name"], _series(entry["version"])) not in have:
            blocks.append(block)
    return "\n".join(blocks).encode()


def strangers(result: bytes, allowed: Iterable[bytes]) -> list[str]:
    """Packages of `result` that none of the allowed locks holds, as `name version`, sorted."""
    known: set[Locked] = set()
    for lock in allowed:
        known |= packages(lock)
    return sorted(f"{entry.name} {entry.version}" for entry in packages(result) - known)


def _blocks(lock: bytes) -> list[str]:
    """The `[[package]]` sections of a lock file as text."""
    parts = lock.decode("utf-8").replace("\r\n", "\n").split("[[package]]\n")
    return ["[[package]]\n" + part.split("\n\n")[0].rstrip("\n") + "\n" for part in parts[1:]]


def _source(block: str) -> bool:
    return "\nsource = " in block


def _series(version: str) -> str:
    """The part of a version that Cargo takes as compatible: `1`, `0.4`, `0.0.7`."""
    numbers = version.split("+")[0].split("-")[0].split(".")
    for index, number in enumerate(numbers):
        if number != "0":
            return ".".join(numbers[: index + 1])
    return version
