"""The Rust sources that ship with the project: the reference core and the qualification runner.

They stand in `runner-rust/` of a checkout of the project, and beside this package (`_rust/`) where it was installed
from a wheel.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterable, Mapping
from pathlib import Path

from aisimc_runtime.failures import Blocked
from aisimc_runtime.ports.named import why

CORE = "reference-core"
RUNNER = "runner"
RUNNER_DEPENDENCY = 'aisimulate-core = { path = "../reference-core" }'
"""The line of the runner's manifest that is pointed at the core it is built against."""


def shipped(name: str = "") -> Path:
    """The folder of shipped Rust sources, or one part of it. Raises `Blocked` when the installation lacks it."""
    package = Path(__file__).resolve().parent.parent
    for root in (package / "_rust", package.parent.parent / "runner-rust"):
        if (root / RUNNER / "Cargo.toml").is_file() and (root / CORE / "Cargo.toml").is_file():
            return root / name
    raise Blocked(
        "the Rust sources of the runner and the reference core are not part of this installation",
        help="install aisimc from its wheel or source distribution, or run it from a checkout",
    )


def package_files(folder: Path) -> dict[str, bytes]:
    """What a Cargo package is built from, by relative path: `Cargo.toml`, `build.rs` and everything under `src/`.

    Tests, benchmarks, build output and hidden files are no part of an artifact and are left out.
    Raises `Blocked` for a link among the sources, or when they cannot be read.
    """
    paths = [folder / "Cargo.toml", folder / "build.rs", *_walk(folder / "src")]
    files = {}
    for path in paths:
        try:
            mode = path.lstat().st_mode
        except FileNotFoundError:
            continue
        if not stat.S_ISREG(mode):
            raise Blocked(f"{path} is not a regular file; sources are hashed and copied as plain files only")
        try:
            files[path.relative_to(folder).as_posix()] = path.read_bytes()
        except OSError as error:
            raise Blocked(f"cannot read {path}: {why(error)}") from error
    return files


def _walk(folder: Path) -> Iterable[Path]:
    for parent, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name != "target")
        for name in sorted(names):
            if not name.startswith(".") and not name.endswith(("~", ".orig", ".rej", ".swp")):
                yield Path(parent) / name


def tree_sha256(files: Mapping[str, bytes]) -> str:
    """SHA-256 over the files in path order: length and bytes of the path, length and bytes of the content.

    Lengths are eight big-endian bytes (decisions: Identity).
    """
    return _digest((name, files[name]) for name in sorted(files, key=lambda name: name.encode()))


def sources_sha256(core: str) -> str:
    """The digest that `embedded = "CORE"` is pinned by. Raises `Blocked` for a core that does not ship."""
    return tree_sha256(package_files(shipped_core(core)))


def shipped_core(core: str) -> Path:
    """The folder of an embedded engine. Raises `Blocked` for one that does not ship."""
    if core != CORE:
        raise Blocked(f"no embedded engine is called {core!r}", help=f"the one that ships is {CORE!r}")
    return shipped(CORE)


def runner_files() -> dict[str, bytes]:
    """The runner as it is copied beside a core, before its dependency is pointed there.

    The manifest becomes a workspace of its own with the profiles that the shipped workspace builds with; the lock
    file is the shipped workspace's. Raises `Blocked`.
    """
    root = shipped()
    files = package_files(root / RUNNER)
    try:
        workspace = (root / "Cargo.toml").read_text("utf-8")
        files["Cargo.lock"] = (root / "Cargo.lock").read_bytes()
    except OSError as error:
        raise Blocked(f"cannot read {error.filename}: {why(error)}") from error
    profiles = workspace[workspace.index("[profile") :] if "[profile" in workspace else ""
    own = f'\n[workspace]\nresolver = "3"\nexclude = ["core", "checkout"]\n\n{profiles}'
    files["Cargo.toml"] += own.encode()
    return files


def runner_sha256(files: Mapping[str, bytes]) -> str:
    """SHA-256 over `Cargo.toml`, `Cargo.lock`, then `src/` in path order; framed as in `tree_sha256`.

    Both arms of a campaign must show the same one (`pin.same-build`).
    """
    first = ("Cargo.toml", "Cargo.lock")
    rest = sorted(name for name in files if name not in first)
    return _digest((name, files[name]) for name in (*first, *rest))


def pointed_at(manifest: bytes, core: str) -> bytes:
    """The runner's manifest with its core dependency at the relative folder `core`. Raises `Blocked`."""
    old = RUNNER_DEPENDENCY.encode()
    if manifest.count(old) != 1:
        raise Blocked("the runner's manifest no longer names its core dependency in the one line that is rewritten")
    return manifest.replace(old, f'aisimulate-core = {{ path = "{core}" }}'.encode())


def write_tree(files: Mapping[str, bytes], folder: Path) -> None:
    """Write files into a folder of ours. Raises `OSError`."""
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def _digest(parts: Iterable[tuple[str, bytes]]) -> str:
    digest = hashlib.sha256()
    for name, data in parts:
        for part in (name.encode(), data):
            digest.update(len(part).to_bytes(8, "big"))
            digest.update(part)
    return digest.hexdigest()
