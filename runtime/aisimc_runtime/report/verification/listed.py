"""Every file against the manifest that the run ended with."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import orjson

from aisimc_runtime.ports.files import sha256_file
from aisimc_runtime.ports.named import why
from aisimc_runtime.report.manifest import NAME, encode, files_digest, kept_files
from aisimc_runtime.report.verification.outcome import Check, Outcome, right, wrong

RENDERINGS = ("report.html", "junit.xml")
"""Files that `aisimc report -o` may have put into the folder afterwards; they are made again and compared."""


def check_manifest(folder: Path) -> Iterator[Check]:
    """One check for each file that is not as listed, and one for all that are."""
    path = folder / NAME
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        yield Check(Outcome.NOTED, NAME, "the run did not come to its end, so there is no list of its files")
        return
    try:
        document = orjson.loads(data)
        files = document["files"]
        whole = document["digest"] == files_digest(files) and encode(files) == data
    except (orjson.JSONDecodeError, KeyError, TypeError):
        whole, files = False, {}
    if not whole:
        yield wrong(NAME, "the list of files was changed: its own digest does not hold")
    yield from _files(folder, files)


def _files(folder: Path, files: dict[str, dict[str, object]]) -> Iterator[Check]:
    good = 0
    for name, entry in files.items():
        try:
            digest = sha256_file(folder / name)
        except FileNotFoundError:
            yield wrong(name, "listed by the run, and no longer there")
            continue
        except OSError as error:
            yield wrong(name, f"cannot be read: {why(error)}")
            continue
        if digest == entry.get("sha256"):
            good += 1
        else:
            yield wrong(
                name, f"was changed after the run: its SHA-256 is {digest[:16]}…, not {str(entry['sha256'])[:16]}…"
            )
    if good:
        yield right(NAME, f"{good} files have the digest that they had when the run ended")
    for relative in kept_files(folder):
        if files and relative.as_posix() not in files and relative.as_posix() not in RENDERINGS:
            yield Check(Outcome.NOTED, relative.as_posix(), "is not a file of the run; nothing was checked in it")
