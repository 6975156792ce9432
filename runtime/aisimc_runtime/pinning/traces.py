"""A trace's bytes for pinning: beside the campaign, by checksum, by name, generated or fetched."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from aisimc_runtime.failures import Blocked, Refused
from aisimc_runtime.pinning.findings import Effort, Wanted

Say = Callable[[str], None]


def readable(wanted: Wanted, folder: Path, stack: ExitStack, say: Say) -> tuple[Path, str] | None:
    """A readable file with an input's trace and what to call it; temporary ones live as long as `stack`.

    None when it is not at hand and the effort is to verify only. `say` is told where a trace came from that is not
    where the campaign says. Raises `Blocked` when it is nowhere to be had, `Refused` when the input does not say
    enough to find it.
    """
    source: dict[str, Any] = wanted.source
    if source["kind"] == "file":
        return _file(source["file"], wanted, folder, say)
    if source["kind"] == "generator":
        return _generated(source, stack), "the generated trace"
    if not source["path"]:
        raise Refused("an upstream input needs the `path` of the trace in its repository")
    return _upstream(source, wanted, stack, say)


def _file(file: str, wanted: Wanted, folder: Path, say: Say) -> tuple[Path, str] | None:
    beside = folder / file
    if beside.is_file():
        return beside, str(beside)
    name = Path(file).name
    if path := _by_content(wanted, name):
        return path, f"{name} ({path})"
    if wanted.effort is Effort.VERIFY:
        return None
    path = _by_name(name, beside)
    say(f"{file} is not beside the campaign: taken from {path}")
    return path, str(path)


def _upstream(source: dict[str, Any], wanted: Wanted, stack: ExitStack, say: Say) -> tuple[Path, str] | None:
    name = Path(source["path"]).name
    if wanted.effort is not Effort.REFRESH and (path := _by_content(wanted, name)):
        return path, name
    if wanted.effort is Effort.VERIFY:
        return None
    try:
        return _fetched(source, stack), name
    except Blocked as failure:
        path = _by_content(wanted, name)
        if path is None:
            raise Blocked(failure.message, help=failure.help or _ELSEWHERE.format(name=name)) from failure
        say(f"{failure.message}: {name} is taken by its pinned checksum, from {path}")
        return path, name


_ELSEWHERE = (
    "with {name} from elsewhere: write its `sha256` (`sha256sum` shows it), and `aisimc store add` the file or name "
    "its folder in AISIMC_INPUTS; `aisimc pin` fills in the rest"
)


def _by_content(wanted: Wanted, name: str) -> Path | None:
    """The file of the pinned checksum: in the store, then in the folders of AISIMC_INPUTS.

    To verify, as a run does, only files of the pinned row count are hashed; otherwise all that may be traces.
    """
    from aisimc_runtime.inputs.locate import input_folders, search
    from aisimc_runtime.store.content import open_store

    if wanted.sha256 is None:
        return None
    store = open_store(None)
    if store.has(wanted.sha256):
        return store.checked(wanted.sha256)
    counts = [wanted.rows] if wanted.effort is Effort.VERIFY else [wanted.rows, None]
    for rows in dict.fromkeys(counts):
        path, _ = search(input_folders(), wanted.sha256, rows, name)
        if path is not None:
            return path
    return None


def _by_name(name: str, beside: Path) -> Path:
    """The one file of that name in the folders of AISIMC_INPUTS, else in the store. Raises `Blocked`."""
    from aisimc_runtime.inputs.locate import called, input_folders
    from aisimc_runtime.pinning.files import sha256_of
    from aisimc_runtime.store.content import open_store

    folders = input_folders()
    found = {sha256_of(path): path for path in reversed(called(folders, name))}
    if not found:
        store = open_store(None)
        found = {
            entry.sha256: store.checked(entry.sha256)
            for entry in store.entries()
            if entry.name == name and entry.kind != "slice"
        }
    if len(found) == 1:
        return next(iter(found.values()))
    if found:
        places = " and ".join(str(path) for path in sorted(found.values()))
        raise Blocked(
            f"{beside} is not here, and {len(found)} different files are called {name}: {places}",
            help="write the `sha256` of the one that is meant (`sha256sum` shows it); `aisimc pin` fills in the rest",
        )
    looked = "".join(f", {folder}" for folder in folders) or ", and AISIMC_INPUTS names no folder that is there"
    raise Blocked(
        f"{beside} is not here, and no other {name} is (looked in the store{looked})",
        help="the path is relative to the campaign file; or name the file's folder in AISIMC_INPUTS, or "
        "`aisimc store add` the file",
    )


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

    path = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="aisimc-pin-"))) / "upstream.jsonl"
    with path.open("wb") as sink:
        fetch_blob(source["repository"], source["commit"], source["path"], sink, open_store(None), Processes())
    return path
