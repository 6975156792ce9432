"""A trace's bytes, wherever they are: by content where the checksum is known, else from where the campaign says."""

from __future__ import annotations

import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from aisimc_runtime.failures import Blocked, Refused


def readable(source: dict[str, Any], sha256: str | None, folder: Path, stack: ExitStack) -> Path:
    """A readable file with the trace of an input's `source`; temporary ones live as long as `stack`.

    Raises `Blocked` when it is nowhere to be had, `Refused` when the input does not say enough to find it.
    """
    if source["kind"] == "file":
        path = folder / source["file"]
        return path if path.is_file() else _by_content(sha256) or _absent(path)
    if source["kind"] == "generator":
        return _generated(source, stack)
    return _by_content(sha256) or _fetched(source, stack)


def _by_content(sha256: str | None) -> Path | None:
    from aisimc_runtime.inputs.locate import input_folders
    from aisimc_runtime.pinning.files import sha256_of
    from aisimc_runtime.store.content import open_store

    if sha256 is None:
        return None
    store = open_store(None)
    if store.has(sha256):
        return store.path(sha256)
    for root in input_folders():
        for path in sorted(root.rglob("*")):
            if path.is_file() and sha256_of(path) == sha256:
                return path
    return None


def _absent(path: Path) -> Path:
    raise Blocked(f"{path} is not here", help="the path is relative to the campaign file")


def _generated(source: dict[str, Any], stack: ExitStack) -> Path:
    from aisimc_runtime.inputs.generator import generate

    seed, rows, block_size = source["seed"], source["rows"], source["block_size"]
    if seed is None or rows is None or block_size is None:
        raise Refused("a generated input needs `block_size`, and `seed` and `rows` of its generator")
    path = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="aisimc-pin-"))) / "generated.jsonl"
    with path.open("wb") as stream:
        stream.writelines(generate(seed, rows, block_size))
    return path


def _fetched(source: dict[str, Any], stack: ExitStack) -> Path:
    from aisimc_runtime.inputs.upstream import fetch_blob
    from aisimc_runtime.ports.processes import Processes
    from aisimc_runtime.store.content import open_store

    if not source["path"]:
        raise Refused("an upstream input needs the `path` of the trace in its repository")
    path = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="aisimc-pin-"))) / "upstream.jsonl"
    with path.open("wb") as sink:
        fetch_blob(source["repository"], source["commit"], source["path"], sink, open_store(None), Processes())
    return path
