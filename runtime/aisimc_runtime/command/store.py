"""`aisimc store`: look after the content store."""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec

import click

from aisimc_runtime.command.exits import Exit
from aisimc_runtime.command.writing import print_json
from aisimc_runtime.failures import Blocked, Failure, Refused
from aisimc_runtime.sizes import in_units

if TYPE_CHECKING:
    from aisimc_runtime.store.content import Entry, Store

P = ParamSpec("P")


def guarded(body: Callable[P, Exit]) -> Callable[P, None]:
    """Turn failures into one error line and the exit status."""

    @wraps(body)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            status = body(*args, **kwargs)
        except Failure as failure:
            sys.stderr.write(failure.text())
            status = failure.exit
        sys.stdout.flush()
        sys.exit(int(status))

    return run


store_option = click.option(
    "--store",
    "folder",
    type=click.Path(path_type=Path),
    help="The store's folder (default: AISIMC_STORE, else a cache).",
)
json_option = click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output.")


@click.group("store", short_help="Look after the content store: add, ls, verify, gc")
def command() -> None:
    """Files by SHA-256 that all campaigns share: wheels, traces, slices, runtimes."""


@command.command("add")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
@store_option
@json_option
@guarded
def add(files: tuple[Path, ...], folder: Path | None, as_json: bool) -> Exit:
    """Put FILES into the store.

    Campaigns find them by content, without a network.
    """
    store = _open(folder)
    added = []
    for file in files:
        if not file.is_file():
            raise Blocked(f"{file} is {'a folder' if file.is_dir() else 'not there'}")
        kind = "wheel" if file.suffix == ".whl" else "input" if file.suffix in (".jsonl", ".ndjson") else "file"
        sha256 = store.add_file(file)
        store.note_down(sha256, kind=kind, name=file.name, added=True)
        added.append({"file": str(file), "sha256": sha256, "kind": kind, "size_bytes": file.stat().st_size})
    if as_json:
        print_json({"store": str(store.root), "added": added})
    else:
        for one in added:
            sys.stdout.write(f"{one['sha256']}  {one['file']}\n")
    return Exit.OK


@command.command("ls")
@store_option
@json_option
@guarded
def ls(folder: Path | None, as_json: bool) -> Exit:
    """List what the store holds."""
    store = _open(folder)
    entries = list(store.entries())
    if as_json:
        print_json({"store": str(store.root), "objects": [_entry(entry) for entry in entries]})
        return Exit.OK
    for entry in entries:
        sys.stdout.write(
            f"{entry.sha256[:16]}  {in_units(entry.size_bytes):>10}  {entry.kind or '-':8} {entry.name or '-'}\n"
        )
    total = sum(entry.size_bytes for entry in entries)
    sys.stdout.write(f"{len(entries)} files, {in_units(total)} in {store.root}\n")
    return Exit.OK


@command.command("verify")
@click.option("--quarantine", is_flag=True, help="Put damaged files aside, so that they are fetched again.")
@store_option
@json_option
@guarded
def verify(quarantine: bool, folder: Path | None, as_json: bool) -> Exit:
    """Hash every file again. Exit 1 when one is no longer what its name says; nothing is changed unasked."""
    from aisimc_runtime.store import upkeep

    store = _open(folder)
    count, damaged = 0, []
    for _, problem in upkeep.verify(store):
        count += 1
        if problem is not None:
            aside = upkeep.quarantine(store, problem.entry.sha256) if quarantine else None
            damaged.append(
                {**_entry(problem.entry), "found": problem.found, "quarantined": str(aside) if aside else None}
            )
    if as_json:
        print_json({"store": str(store.root), "checked": count, "damaged": damaged})
    else:
        for one in damaged:
            found = f"hashes to {one['found']}" if one["found"] else "cannot be read"
            where = f"; put aside at {one['quarantined']}" if one["quarantined"] else ""
            sys.stdout.write(f"damaged: {one['sha256']} ({one['name'] or 'no name'}) {found}{where}\n")
        sys.stdout.write(f"{count} files checked, {len(damaged)} damaged\n")
    return Exit.FAILED if damaged else Exit.OK


@command.command("gc")
@click.option(
    "--runs",
    type=click.Path(path_type=Path),
    help="A runs folder that counts beside those that used this store (default: .aisimc/runs).",
)
@click.option("--added", is_flag=True, help="Remove also what `store add` put in.")
@click.option("--dry-run", is_flag=True, help="Only say what would be removed.")
@store_option
@json_option
@guarded
def gc(runs: Path | None, added: bool, dry_run: bool, folder: Path | None, as_json: bool) -> Exit:
    """Remove what no run needs: files, and mirrors of repositories.

    Every runs folder that used this store counts, wherever it stands. What `store add` put in stays, unless --added.
    """
    from aisimc_runtime.run.folder import DEFAULT_RUNS
    from aisimc_runtime.store import upkeep
    from aisimc_runtime.store.known_runs import known
    from aisimc_runtime.store.mirrors import size_bytes, unneeded_mirrors

    store = _open(folder)
    if not store.root.is_dir():
        raise Refused(f"there is no store at {store.root}")
    folders, away = known(store, runs, DEFAULT_RUNS)
    with store.in_use(alone=True):
        entries = upkeep.unneeded(store, folders, added=added)
        stale = upkeep.stale(store, time.time())
        mirrors = {path: size_bytes(path) for path in unneeded_mirrors(store, folders)}
        if not dry_run:
            _remove(store, entries, [*stale, *mirrors])
    freed = sum(entry.size_bytes for entry in entries) + sum(mirrors.values())
    if as_json:
        print_json(
            {
                "store": str(store.root),
                "dry_run": dry_run,
                "runs": [str(folder) for folder in folders],
                "runs_away": [str(folder) for folder in away],
                "freed_bytes": freed,
                "removed": [_entry(entry) for entry in entries],
                "mirrors": [{"path": str(path), "size_bytes": size} for path, size in mirrors.items()],
                "stale": [str(path) for path in stale],
            }
        )
        return Exit.OK
    verb = "would remove" if dry_run else "removed"
    for entry in entries:
        sys.stdout.write(f"{verb} {entry.sha256[:16]}  {in_units(entry.size_bytes):>10}  {entry.name or '-'}\n")
    for path, size in mirrors.items():
        sys.stdout.write(f"{verb} {path.name[:16]}  {in_units(size):>10}  mirror of a repository\n")
    what = f"{len(entries)} files" + (f" and {len(mirrors)} mirrors" if mirrors else "")
    sys.stdout.write(f"{verb} {what}, {in_units(freed)}; what runs in these folders name is kept:\n")
    sys.stdout.writelines(f"  {folder}\n" for folder in folders)
    for folder in away:
        sys.stdout.write(f"not asked: {folder} is not there now, so nothing is kept for runs in it\n")
    return Exit.OK


def _remove(store: Store, entries: Iterable[Entry], stale: Iterable[Path]) -> None:
    from aisimc_runtime.store import upkeep

    for entry in entries:
        upkeep.remove(store, entry)
    for path in stale:
        with suppress(OSError):
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink()


def _open(folder: Path | None) -> Store:
    from aisimc_runtime.store.content import open_store

    return open_store(folder)


def _entry(entry: Entry) -> dict[str, Any]:
    return {"sha256": entry.sha256, "size_bytes": entry.size_bytes, "kind": entry.kind, "name": entry.name}
