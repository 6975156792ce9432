"""Taking compiled members out of a wheel without trusting what the archive says about paths."""

from __future__ import annotations

import stat
import zipfile
from pathlib import Path, PurePosixPath

from aisimc_runtime.failures import Blocked
from aisimc_runtime.store.content import Store

LARGEST_MEMBER_BYTES = 1 << 30
"""No published runtime is near this; a member that claims more is an attack on the disk."""


def runtime_member(archive: zipfile.ZipFile, wheel: str) -> zipfile.ZipInfo:
    """The one compiled runtime of an AI Simulate wheel. Raises `Blocked` when there is none or several."""
    found = []
    for member in archive.infolist():
        refuse_unsafe(member, wheel)
        path = PurePosixPath(member.filename)
        if len(path.parts) == 2 and path.name.startswith("_runtime") and path.suffix == ".so":
            found.append(member)
    if len(found) != 1:
        what = "no compiled runtime" if not found else f"{len(found)} compiled runtimes"
        raise Blocked(f"the wheel {wheel} holds {what}: it is not an AI Simulate wheel of a known form")
    return found[0]


def refuse_unsafe(member: zipfile.ZipInfo, wheel: str) -> None:
    """Refuse a member that would land outside its folder, or is a link. Raises `Blocked`."""
    name = member.filename
    path = PurePosixPath(name)
    mode = member.external_attr >> 16
    if name.startswith(("/", "\\")) or "\\" in name or "\0" in name or ".." in path.parts or ":" in name.split("/")[0]:
        raise Blocked(f"the wheel {wheel} names a file outside its own folder: {name!r}")
    if stat.S_ISLNK(mode):
        raise Blocked(f"the wheel {wheel} holds a symbolic link: {name!r}")
    if member.file_size > LARGEST_MEMBER_BYTES:
        raise Blocked(f"the wheel {wheel} holds a file of {member.file_size} bytes: {name!r}")


def unpack_runtime(wheel: Path, store: Store, name: str) -> tuple[str, str]:
    """Stream the compiled runtime of a wheel into the store; its SHA-256 and its name inside the wheel.

    Raises `Blocked` for a broken archive or an unsafe member. Nothing is written outside the store.
    """
    try:
        with zipfile.ZipFile(wheel) as archive:
            member = runtime_member(archive, name)
            with archive.open(member) as stream:
                label = f"{PurePosixPath(member.filename).name} of {name}"
                return store.add_stream(stream, kind="runtime", name=label), member.filename
    except (zipfile.BadZipFile, EOFError, RuntimeError, ValueError) as error:
        raise Blocked(f"the wheel {name} cannot be unpacked: {error}") from error
