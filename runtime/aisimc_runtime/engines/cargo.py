"""Running cargo so that a build depends on what was declared and on nothing that happens to be set.

A build has a folder of its own: the runner's manifest and sources at its top, the core below it (`core/` or
`checkout/`). Because the core lies inside the workspace's folder, cargo names its files by relative paths, so equal
sources give equal artifacts wherever they are built.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aisimc_runtime.engines.base import Json
from aisimc_runtime.engines.cargo_errors import build_failure
from aisimc_runtime.failures import Blocked
from aisimc_runtime.ports.processes import Finished, Processes

RUNNER_PACKAGE = "aisimc-runner"
CORE_PACKAGE = "aisimulate-core"
_BUILD_TIMEOUT_S = 3600.0
_KEEP = {
    "PATH",
    "HOME",
    "USER",
    "TMPDIR",
    "CARGO_HOME",
    "RUSTUP_HOME",
    "CARGO_BUILD_JOBS",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
}
_KEEP_PREFIXES = ("CARGO_HTTP_", "CARGO_NET_", "CARGO_REGISTR", "CARGO_SOURCE_", "RUSTUP_DIST_", "RUSTUP_UPDATE_")
_PROXIES = re.compile(r"(?:http|https|all|no)_proxy", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class BuildSettings:
    """The plan's `build` object: the same for both arms (`pin.same-build`)."""

    toolchain: str
    profile: str
    features: tuple[str, ...]
    rustflags: tuple[str, ...]
    locked: bool

    @classmethod
    def of(cls, build: Json | None) -> BuildSettings:
        """Read the plan's object. Raises `Blocked` when the plan has none."""
        if build is None:
            raise Blocked("the plan builds a revision but has no build settings; compile the campaign again")
        return cls(
            toolchain=build["toolchain"],
            profile=build["profile"],
            features=tuple(build["features"]),
            rustflags=tuple(build["rustflags"]),
            locked=build["locked"],
        )


@dataclass(frozen=True, slots=True)
class Toolchain:
    """A Rust toolchain and what it says of itself."""

    cargo: tuple[str, ...]
    rustc: tuple[str, ...]
    cargo_version: str
    rustc_version: str

    def to_json(self) -> Json:
        """For the artifact's record: `rustc -vV` line by line, and cargo's version."""
        facts = dict(line.split(": ", 1) for line in self.rustc_version.splitlines() if ": " in line)
        return {"cargo": self.cargo_version, "rustc": self.rustc_version.splitlines()[0], **facts}


def environment(rustflags: Sequence[str] = (), **more: str) -> dict[str, str]:
    """The variables that cargo gets: where it and its registry are, the declared flags, and nothing that steers it."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if name in _KEEP or name.startswith(_KEEP_PREFIXES) or _PROXIES.fullmatch(name)
    }
    # Set even when empty: it then overrides flags from RUSTFLAGS and from cargo configuration files.
    kept["CARGO_ENCODED_RUSTFLAGS"] = "\x1f".join(rustflags)
    return {**kept, "CARGO_INCREMENTAL": "0", "CARGO_TERM_COLOR": "never", "LC_ALL": "C.UTF-8", **more}


def find_toolchain(name: str, processes: Processes, cwd: Path) -> Toolchain:
    """The system's toolchain, or a named one through `rustup run`. Raises `Blocked` when it is not installed."""
    through: tuple[str, ...] = () if name == "system" else ("rustup", "run", name)
    cargo, rustc = (*through, "cargo"), (*through, "rustc")
    return Toolchain(
        cargo,
        rustc,
        _version((*cargo, "--version"), name, processes, cwd),
        _version((*rustc, "--version", "--verbose"), name, processes, cwd),
    )


def _version(argv: tuple[str, ...], toolchain: str, processes: Processes, cwd: Path) -> str:
    system = toolchain == "system"
    try:
        done = processes.run(argv, cwd=cwd, env=environment(), timeout_s=120)
    except FileNotFoundError as error:
        if system:
            raise Blocked(
                f"{argv[0]} is not installed, and this campaign builds Rust code",
                help="install Rust (rustup is the usual way), or put its bin folder on PATH",
            ) from error
        raise Blocked(
            f"rustup is not installed, and the campaign asks for toolchain {toolchain}",
            help='install rustup, or say toolchain = "system" to build both arms with the Rust on PATH',
        ) from error
    if done.status != 0:
        reason = (done.stderr.strip() or "no message").splitlines()[0]
        help_ = "" if system else f"rustup toolchain install {toolchain}"
        raise Blocked(f"the Rust toolchain {toolchain} cannot be used: {reason}", help=help_)
    return done.stdout.strip()


def configuration_digest_input(cwd: Path) -> bytes:
    """The bytes of every cargo configuration file that a build in `cwd` reads; part of the build's cache key."""
    home = Path(os.environ.get("CARGO_HOME") or Path.home() / ".cargo")
    folders = [home, *(parent / ".cargo" for parent in (cwd, *cwd.parents))]
    found = []
    for folder in folders:
        for name in ("config", "config.toml"):
            try:
                found.append((folder / name).read_bytes())
            except OSError:
                continue
    return b"\0".join(found)


@dataclass(frozen=True, slots=True)
class CargoBuild:
    """One build folder and how cargo is run in it."""

    folder: Path
    target: Path
    """Cargo's own output; shared by the arms of one campaign so that common dependencies compile once."""
    settings: BuildSettings
    toolchain: Toolchain
    processes: Processes
    log: Path
    revision: str

    def resolve(self) -> Json:
        """Resolve the dependency graph, writing `Cargo.lock`; offline first. `cargo metadata`'s object.

        Raises `Blocked`.
        """
        arguments = ("metadata", "--format-version", "1")
        done = self._cargo(*arguments, "--offline")
        if done.status != 0:
            done = self._cargo(*arguments)
        if done.status != 0:
            raise build_failure(done, self.log)
        metadata: Json = json.loads(done.stdout)
        return metadata

    def compile(self, features: Sequence[str], folders: Sequence[str]) -> Path:
        """Build the runner; the executable. `folders` are the ids of packages that are not from a registry.

        Cargo judges those by file times, which say nothing about two arms that share a target folder: their output
        is removed first, and it is checked that cargo really compiled them. Raises `Blocked`.
        """
        profile = ("--profile", self.settings.profile)
        if self.target.is_dir():
            packages = [part for package in folders for part in ("--package", package)]
            self._must("clean", "--offline", "--locked", *profile, *packages)
        done = self._must(
            "build",
            "--offline",
            "--locked",
            *profile,
            "--no-default-features",
            *(part for feature in features for part in ("--features", feature)),
            "--message-format",
            "json-render-diagnostics",
        )
        executable, stale = built(done.stdout, set(folders))
        if stale:
            raise Blocked(
                f"cargo reused old output of {', '.join(sorted(stale))}; nothing was kept", help=f"see {self.log}"
            )
        if executable is None:
            raise Blocked("cargo ended well but named no executable", help=f"the whole log: {self.log}")
        return Path(executable)

    def _must(self, *arguments: str) -> Finished:
        done = self._cargo(*arguments)
        if done.status != 0:
            raise build_failure(done, self.log)
        return done

    def _cargo(self, *arguments: str) -> Finished:
        argv = (*self.toolchain.cargo, *arguments)
        env = environment(
            self.settings.rustflags, CARGO_TARGET_DIR=str(self.target), AISIMULATE_SOURCE_REVISION=self.revision
        )
        done = self.processes.run(
            argv, cwd=self.folder, env=env, timeout_s=_BUILD_TIMEOUT_S, keep_bytes=64 << 20, guarded=True
        )
        with self.log.open("a", encoding="utf-8") as log:
            log.write(f"$ {' '.join(argv)}\n{done.stderr}")
        return done


def built(messages: str, folders: set[str]) -> tuple[str | None, set[str]]:
    """The runner's executable among cargo's messages, and those of `folders` that were not compiled anew."""
    executable: str | None = None
    stale: set[str] = set()
    for line in messages.splitlines():
        message: dict[str, Any] = json.loads(line) if line.startswith("{") else {}
        if message.get("reason") != "compiler-artifact":
            continue
        if message["package_id"] in folders and message["fresh"]:
            stale.add(message["target"]["name"])
        if message["target"]["name"] == RUNNER_PACKAGE and message.get("executable"):
            executable = message["executable"]
    return executable, stale


def folder_packages(metadata: Json) -> list[str]:
    """Ids of the packages that stand in folders (the runner, the core and what it brings along)."""
    return [package["id"] for package in metadata["packages"] if package["source"] is None]


def core_package(metadata: Json) -> Json:
    """The core's own entry. Raises `Blocked` when the folder holds another package."""
    for package in metadata["packages"]:
        if package["name"] == CORE_PACKAGE and package["source"] is None:
            found: Json = package
            return found
    raise Blocked(f"the core's manifest does not name a package {CORE_PACKAGE!r}")
