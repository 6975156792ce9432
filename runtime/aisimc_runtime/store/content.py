"""Files by SHA-256, read-only once in, shared by every campaign of a user.

STORE/
  objects/AB/CDEF...   the bytes, never writable, named by their digest
  notes/AB/CDEF....json  what a person would call them (kind, name); a convenience, never trusted
  wheels/SHA.json      which runtime was unpacked from a wheel; the runtime itself is an object
  builds/KEY.json      which artifact a build gave, by everything that went into it
  mirrors/             bare git mirrors of trace and engine repositories
  runs/KEY.json        a runs folder that uses the store: `gc` asks all of them
  tmp/                 files on their way in
  in-use               locked shared while a run reads objects, exclusively by `gc`

A file comes in under a temporary name, is hashed as it streams, synced, and renamed: a reader sees all of it or
nothing, and two writers of the same bytes do not disturb each other, so no lock is needed for that.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from aisimc_runtime.failures import Blocked
from aisimc_runtime.ports.files import copy_hashing, explain, sha256_file, sync_folder, write_atomic
from aisimc_runtime.ports.named import recordable


@dataclass(frozen=True, slots=True)
class Entry:
    """One object and what is noted about it."""

    sha256: str
    size_bytes: int
    kind: str
    """`input`, `slice`, `wheel`, `runtime`, `binary`, `file` or empty when nothing is noted."""
    name: str


@dataclass(frozen=True, slots=True)
class Store:
    """A content-addressed folder. Methods raise `Blocked` with one clear line when the disk refuses."""

    root: Path

    def path(self, sha256: str) -> Path:
        """Where the object of that digest stands, whether or not it is there."""
        return self.root / "objects" / sha256[:2] / sha256[2:]

    def has(self, sha256: str) -> bool:
        """Whether an object of that name is there; its bytes are checked by `checked`."""
        return self.path(sha256).is_file()

    def checked(self, sha256: str) -> Path:
        """The object's path, after hashing its bytes again. Raises `Blocked` when it is gone or was changed."""
        path = self.path(sha256)
        try:
            found = sha256_file(path)
        except FileNotFoundError as error:
            raise Blocked(
                f"the store no longer has {sha256[:12]}… ({path})",
                help="run the campaign again: what the store lacks is fetched again",
            ) from error
        except OSError as error:
            raise explain(error, f"cannot read {path}") from error
        if found != sha256:
            raise Blocked(
                f"the store's {self.note(sha256).get('name') or 'object'} {sha256[:12]}… has changed: "
                f"its bytes now hash to {found[:12]}…",
                help=f"`aisimc store verify --quarantine` puts it aside ({path}); then run again",
            )
        return path

    def add_file(self, source: Path, *, kind: str = "", name: str = "", executable: bool = False) -> str:
        """Copy a file in; its SHA-256. Raises `Blocked`."""
        try:
            with source.open("rb") as stream:
                return self.add_stream(stream, kind=kind, name=name or source.name, executable=executable)
        except OSError as error:
            raise explain(error, f"cannot read {source}") from error

    def add_stream(
        self,
        stream: IO[bytes],
        *,
        kind: str = "",
        name: str = "",
        expected: str | None = None,
        executable: bool = False,
    ) -> str:
        """Copy a stream in; its SHA-256. With `expected`, other bytes are not kept and raise `Blocked`."""
        with self.incoming() as (write, temporary):
            digest, _ = copy_hashing(stream, write)
            if expected is not None and digest != expected:
                raise Blocked(f"{name or 'the bytes'} hash to {digest}, not to the pinned {expected}")
            self._settle(write, temporary, digest, 0o555 if executable else 0o444)
        self.note_down(digest, kind=kind, name=name)
        return digest

    def add_bytes(self, data: bytes, *, kind: str = "", name: str = "") -> str:
        """Put bytes in; their SHA-256. Raises `Blocked`."""
        import io

        return self.add_stream(io.BytesIO(data), kind=kind, name=name)

    @contextlib.contextmanager
    def incoming(self) -> Iterator[tuple[IO[bytes], Path]]:
        """A temporary file inside the store, gone afterwards whatever happens."""
        folder = self.scratch()
        temporary = folder / f"{os.uname().nodename}-{os.getpid()}-{secrets.token_hex(6)}"
        try:
            with temporary.open("xb") as stream:
                yield stream, temporary
        except OSError as error:
            raise explain(error, "cannot put a file into the store") from error
        finally:
            with contextlib.suppress(OSError):
                temporary.unlink(missing_ok=True)

    def scratch(self) -> Path:
        """The store's own temporary folder, made when it is not there."""
        folder = self.root / "tmp"
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise explain(error, f"cannot make the store at {self.root}") from error
        return folder

    def _settle(self, stream: IO[bytes], temporary: Path, digest: str, mode: int) -> None:
        """Sync what was written and give it its name; a good object of that name stays as it is."""
        stream.flush()
        os.fsync(stream.fileno())
        target = self.path(digest)
        target.parent.mkdir(parents=True, exist_ok=True)
        temporary.chmod(mode)
        temporary.replace(target)
        sync_folder(target.parent)

    def note(self, sha256: str) -> dict[str, Any]:
        """What is noted about an object; empty when nothing is, or the note cannot be read."""
        try:
            note = json.loads((self.root / "notes" / sha256[:2] / f"{sha256[2:]}.json").read_bytes())
        except (OSError, ValueError):
            return {}
        return note if isinstance(note, dict) else {}

    def note_down(self, sha256: str, *, kind: str, name: str, **more: Any) -> None:
        """Write what a person would call the object; a note that cannot be written is no failure."""
        if not kind and not name:
            return
        path = self.root / "notes" / sha256[:2] / f"{sha256[2:]}.json"
        with contextlib.suppress(Blocked, OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            data = {"kind": kind, "name": name, **more}
            write_atomic(path, json.dumps(data, sort_keys=True, ensure_ascii=False).encode() + b"\n")

    def entries(self) -> Iterator[Entry]:
        """Every object, by digest."""
        root = self.root / "objects"
        for folder in sorted(root.iterdir()) if root.is_dir() else ():
            for path in sorted(folder.iterdir()):
                sha256 = folder.name + path.name
                if len(sha256) == 64 and path.is_file():
                    note = self.note(sha256)
                    size = path.stat().st_size
                    yield Entry(sha256, size, str(note.get("kind", "")), str(note.get("name", "")))

    @contextlib.contextmanager
    def in_use(self, *, alone: bool = False) -> Iterator[None]:
        """Hold the store for reading (`alone`: for removing). The lock dies with the process.

        Raises `Blocked` when somebody else's lock forbids it.
        """
        path = self.root / "in-use"
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            handle = os.open(path, os.O_RDONLY | os.O_CREAT, 0o666)
        except OSError as error:
            if alone or not self.root.is_dir():
                raise explain(error, f"cannot use the store at {self.root}") from error
            yield  # a read-only store that was never locked: nobody can remove anything from it here
            return
        try:
            fcntl.flock(handle, (fcntl.LOCK_EX if alone else fcntl.LOCK_SH) | fcntl.LOCK_NB)
        except OSError as error:
            os.close(handle)
            who = "a run is using" if alone else "`aisimc store gc` is cleaning"
            raise Blocked(f"{who} the store at {self.root}", help="wait for it to end, then run again") from error
        try:
            yield
        finally:
            os.close(handle)


def open_store(root: Path | None = None) -> Store:
    """The store at `root`, else at AISIMC_STORE, else in the user's cache folder.

    Raises `Blocked` where a file is in the way, `Refused` for a name that no record can hold.
    """
    if root is None:
        named = os.environ.get("AISIMC_STORE")
        if named:
            root = Path(named).expanduser()
        else:
            import platformdirs

            root = Path(platformdirs.user_cache_dir("aisimc")) / "store"
    root = root.resolve() if ".." in root.parts else root.absolute()
    in_the_way = next((p for p in map(str, (root, *root.parents)) if os.path.exists(p) and not os.path.isdir(p)), None)  # noqa: PTH110, PTH112 - never raise
    if in_the_way is not None:
        raise Blocked(
            f"the store cannot be at {root}: {in_the_way} is a file", help="name a folder with AISIMC_STORE or --store"
        )
    return Store(recordable(root, "the store"))
