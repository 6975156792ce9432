"""What processes are up to, read from /proc: whose they are, what they hold, how many threads want a CPU."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


class Seen(NamedTuple):
    """One process as /proc shows it."""

    pid: int
    parent: int
    session: int
    state: str


def look_around() -> list[Seen]:
    """Every process that can be seen now."""
    found = []
    for name in os.listdir("/proc"):  # noqa: PTH208 - strings are all that is needed, often
        if name.isdigit():
            seen = look_at(int(name))
            if seen is not None:
                found.append(seen)
    return found


def look_at(pid: int) -> Seen | None:
    """One process; None when it is gone."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as stream:  # noqa: PTH123 - read a few hundred times a second
            text = stream.read()
    except OSError:
        return None
    fields = text[text.rfind(b")") + 2 :].split(None, 4)  # the command's name may hold anything
    return Seen(pid, int(fields[1]), int(fields[3]), fields[0].decode())


def family(root: int, everyone: Iterable[Seen]) -> set[int]:
    """`root`, its session, and all their descendants; zombies left out except `root`. Pure."""
    everyone = list(everyone)
    members = {root} | {seen.pid for seen in everyone if seen.session == root}
    grew = True
    while grew:
        more = {seen.pid for seen in everyone if seen.parent in members} - members
        members |= more
        grew = bool(more)
    dead = {seen.pid for seen in everyone if seen.state in "ZX"}
    return (members - dead) | {root}


def resident_bytes(pid: int) -> int:
    """Bytes of memory a process holds now; 0 when it is gone."""
    try:
        with open(f"/proc/{pid}/statm", "rb") as stream:  # noqa: PTH123
            return int(stream.read().split()[1]) * PAGE_BYTES
    except (OSError, IndexError, ValueError):
        return 0


def threads(pid: int) -> tuple[int, int]:
    """Threads of a process, and how many of them are runnable at this moment."""
    count = runnable = 0
    with suppress(OSError):
        for name in os.listdir(f"/proc/{pid}/task"):  # noqa: PTH208
            with suppress(OSError), open(f"/proc/{pid}/task/{name}/stat", "rb") as stream:  # noqa: PTH123
                text = stream.read()
                count += 1
                runnable += text[text.rfind(b")") + 2 : text.rfind(b")") + 3] == b"R"
    return count, runnable


def folder_bytes(folder: Path) -> int:
    """Bytes of the files below a folder; links are not followed."""
    total = 0
    with suppress(OSError):
        for entry in os.scandir(folder):
            with suppress(OSError):
                if entry.is_dir(follow_symlinks=False):
                    total += folder_bytes(Path(entry.path))
                else:
                    total += entry.stat(follow_symlinks=False).st_size
    return total
