"""From a whole bundle on the shared folder into the row's folder of the run."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from aisimc_runtime.executors.cluster import bundle
from aisimc_runtime.executors.cluster.shared import RowPlace
from aisimc_runtime.failures import Blocked
from aisimc_runtime.ports.files import copy_hashing, explain, sync_folder, write_atomic
from aisimc_runtime.run.collected import NAME as MARK

MARKER = "cluster-result.json"
"""Stands in the row's folder once everything of the bundle does: where the row ran, and what came back."""


def collected(place: RowPlace) -> dict[str, Any] | None:
    """What came back of the row in an earlier life of the harness; None when nothing did yet."""
    if not (place.local / MARK).is_file():
        return None
    try:
        found = json.loads((place.local / MARKER).read_bytes())
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) else None


def collect(place: RowPlace, identity: str) -> dict[str, Any]:
    """Copy the bundle, verified file by file, and only then put it in place. Raises `Blocked`.

    What stood there from another place is kept aside: results of two nodes are never mixed (`run.same-node`).
    """
    arriving = place.local / ".arriving"
    shutil.rmtree(arriving, ignore_errors=True)
    try:
        checked = bundle.check_bundle(place.result)
        if not isinstance(checked, bundle.Checked):
            reason = checked.reason if checked else "it is gone"
            raise Blocked(f"the result of row {place.name} in the shared folder does not hold: {reason}")
        if checked.manifest.get("identity") != identity:
            raise Blocked(f"the result of row {place.name} in the shared folder was made from other bytes")
        for name, entry in checked.manifest["files"].items():
            _fetch(place.result / name, arriving / name, entry["sha256"])
        facts = {key: value for key, value in checked.manifest.items() if key not in ("files", "schema")}
        if problem := uneven(_processes(arriving)):
            raise Blocked(f"the result of row {place.name} from {facts.get('node')} contradicts itself: {problem}")
        _put_in_place(arriving, place.local)
        write_atomic(place.local / MARKER, json.dumps(facts, sort_keys=True, indent=1).encode() + b"\n")
        (arriving / MARK).rename(place.local / MARK)  # last: from here on the row counts as replayed
        sync_folder(place.local)
        return facts
    except OSError as error:
        raise explain(error, f"cannot bring back the result of row {place.name}") from error
    finally:
        shutil.rmtree(arriving, ignore_errors=True)


def uneven(processes: Iterable[dict[str, Any]]) -> str:
    """Why these replays of one row are not from one node with CPU sets of one size; empty when they are. Pure."""
    hosts, sizes = set(), set()
    for process in processes:
        hosts.add(str((process.get("node") or {}).get("hostname")))
        sizes.add(len(process.get("affinity_read_back") or ()))
    if len(hosts) > 1:
        return "its replays name several nodes: " + ", ".join(sorted(hosts))
    if len(sizes) > 1:
        return "its replays had CPU sets of different sizes: " + ", ".join(map(str, sorted(sizes)))
    return ""


def _processes(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(path.read_bytes()) for path in sorted(folder.glob("replays/*/process.json"))]


def _fetch(source: Path, target: Path, sha256: str) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    with source.open("rb") as read, target.open("xb") as write:
        found, _ = copy_hashing(read, write)
        write.flush()
        os.fsync(write.fileno())
    if found != sha256:
        raise Blocked(f"{source} changed on its way from the shared folder: {found[:12]}…, not {sha256[:12]}…")


def _put_in_place(arriving: Path, folder: Path) -> None:
    """Rename what arrived into the row's folder, entry by entry; begun again after a crash, it ends the same."""
    for path in sorted(path for path in arriving.iterdir() if path.name != MARK):
        target = folder / path.name
        if target.exists():
            target.rename(_aside(folder, path.name))
        path.rename(target)
    sync_folder(folder)


def _aside(folder: Path, name: str) -> Path:
    number = 1
    while (folder / f"{name}.superseded-{number}").exists():
        number += 1
    return folder / f"{name}.superseded-{number}"
