"""What a node brings to its local storage before the first replay, and how it gets there.

Artifacts and inputs go once per run into `objects/` under their digest. `stage.json` lists, per row, each file with
its digest and its place below the staging folder. Paths inside the artifacts' descriptions are given new ones on the
node: a file keeps its name and its neighbours, because a driver finds its modules beside itself.
"""

from __future__ import annotations

import errno
import json
import os
import shutil
import sys
from pathlib import Path
from typing import Any

from aisimc_runtime.engines.base import Artifact
from aisimc_runtime.executors.cluster.shared import Campaign, RowPlace
from aisimc_runtime.failures import Blocked
from aisimc_runtime.ports.files import (
    CHUNK_BYTES,
    copy_hashing,
    explain,
    link_or_copy,
    sha256_bytes,
    sha256_file,
    write_atomic,
)
from aisimc_runtime.run.job import RowJob

STAGE_SCHEMA = "aisimc.stage/1"
ROW_FOLDER = "row"


def share_row(campaign: Campaign, job: RowJob) -> RowPlace:
    """Put everything that the row needs into the shared folder. Raises `Blocked`."""
    place = campaign.row(job.row)
    try:
        place.shared.mkdir(parents=True, exist_ok=True)
        files = [
            _share(campaign, job.folder / job.input_file, job.input_sha256, f"{ROW_FOLDER}/{job.input_file}"),
            _share(
                campaign,
                job.folder / "configuration.json",
                job.configuration_sha256,
                f"{ROW_FOLDER}/configuration.json",
            ),
        ]
        moved: dict[str, str] = {}
        for arm, artifact in sorted(job.artifacts.items()):
            for old, sha256, new in _artifact_files(arm, artifact):
                files.append(_share(campaign, old, sha256, new))
                moved[str(old)] = new
    except OSError as error:
        raise explain(error, f"cannot copy row {job.row} to the shared folder") from error
    stage = {
        "schema": STAGE_SCHEMA,
        "row": job.row,
        "identity": identity(job),
        "job": job.to_json(),
        "files": files,
        "moved": moved,
        "python": sys.executable,
        "bytes": sum(entry["size_bytes"] for entry in files),
    }
    write_atomic(place.shared / "stage.json", json.dumps(stage, sort_keys=True, indent=1).encode() + b"\n")
    return place


def identity(job: RowJob) -> str:
    """What a result must have been made from to be this job's: bytes and replays, no paths and no limits."""
    parts = {
        "row": job.row,
        "configuration": job.configuration_sha256,
        "input": job.input_sha256,
        "artifacts": {
            arm: [one.sha256, sorted(file.sha256 for file in one.files)] for arm, one in job.artifacts.items()
        },
        "orders": [list(order) for order in job.orders],
    }
    return sha256_bytes(json.dumps(parts, sort_keys=True).encode())


def _artifact_files(arm: str, artifact: Artifact) -> list[tuple[Path, str, str]]:
    """(where it is, digest, place below the staging folder) of each of an artifact's files."""
    files = {file.path: file.sha256 for file in artifact.files}
    files.setdefault(artifact.path, artifact.sha256)
    folders = {folder: index for index, folder in enumerate(sorted({path.parent for path in files}))}
    return [
        (path, sha256, f"artifacts/{arm}/{folders[path.parent]}/{path.name}") for path, sha256 in sorted(files.items())
    ]


def _share(campaign: Campaign, source: Path, sha256: str, place: str) -> dict[str, Any]:
    """One file into `objects/`, unless it is there."""
    target = campaign.place / "objects" / sha256
    if not target.exists():
        temporary = target.with_name(f".{sha256[:16]}.{os.getpid()}.tmp")
        link_or_copy(source, temporary)
        if sha256_file(temporary) != sha256:
            temporary.unlink(missing_ok=True)
            raise Blocked(f"{source} no longer hashes to {sha256[:12]}…", help="run the campaign again")
        temporary.replace(target)
    status = source.stat()
    return {
        "sha256": sha256,
        "to": place,
        "size_bytes": status.st_size,
        "executable": bool(status.st_mode & 0o111),
    }


def stage_row(stage: dict[str, Any], objects: Path, staging: Path, node: str) -> RowJob:
    """On the node: copy and verify every file, write the row's job with its new paths.

    Raises `Blocked` with one line: a full staging folder, a file that is not what was sent.
    """
    for entry in stage["files"]:
        _bring(entry, objects, staging, node, int(stage["bytes"]))
    folder = staging / ROW_FOLDER
    data = dict(stage["job"])
    moved = {old: str(staging / new) for old, new in stage["moved"].items()}
    moved[stage["python"]] = sys.executable
    data["artifacts"] = {arm: _moved(artifact, moved) for arm, artifact in data["artifacts"].items()}
    try:
        (folder / "job.json").write_bytes(json.dumps(data, sort_keys=True, indent=1).encode() + b"\n")
        return RowJob.read(folder)
    except OSError as error:
        raise staging_failure(error, staging, node) from error


def _bring(entry: dict[str, Any], objects: Path, staging: Path, node: str, bytes_needed: int) -> None:
    target = staging / entry["to"]
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with (objects / entry["sha256"]).open("rb") as read, target.open("xb", buffering=CHUNK_BYTES) as write:
            copy_hashing(read, write)
        target.chmod(0o555 if entry["executable"] else 0o444)
        found = sha256_file(target)
    except OSError as error:
        raise staging_failure(error, staging, node, bytes_needed) from error
    if found != entry["sha256"]:
        raise Blocked(
            f"{Path(entry['to']).name} arrived on {node} as {found[:12]}…, not as the pinned {entry['sha256'][:12]}…"
        )


def staging_failure(error: OSError, staging: Path, node: str, bytes_needed: int = 0) -> Blocked:
    """A failure of the node's local storage in one clear line."""
    base = staging.parent
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        needed = f", {bytes_needed / 2**20:.1f} MiB are needed" if bytes_needed else ""
        try:
            free = f": {shutil.disk_usage(base).free / 2**20:.1f} MiB free{needed}"
        except OSError:
            free = ""
        return Blocked(f"the staging folder {base} on {node} is full{free}")
    return Blocked(f"cannot stage to {base} on {node}: {os.strerror(error.errno or 0).lower()}")


def _moved(value: Any, moved: dict[str, str]) -> Any:
    """`value` with every string that names a moved file given its new place."""
    if isinstance(value, str):
        return moved.get(value, value)
    if isinstance(value, dict):
        return {key: _moved(item, moved) for key, item in value.items()}
    if isinstance(value, list):
        return [_moved(item, moved) for item in value]
    return value
