"""One arm's artifact from a prepared build folder, kept in the store by everything that went into it."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from aisimc_runtime.engines import lockfile, sources
from aisimc_runtime.engines.base import Artifact, EngineContext, Json, PinnedFile
from aisimc_runtime.engines.cargo import (
    BuildSettings,
    CargoBuild,
    Toolchain,
    configuration_digest_input,
    core_package,
    find_toolchain,
    folder_packages,
)
from aisimc_runtime.engines.elf import text_size_bytes
from aisimc_runtime.engines.heartbeat import Heartbeat
from aisimc_runtime.failures import Blocked
from aisimc_runtime.ports.files import explain, write_atomic
from aisimc_runtime.ports.named import why

_KEY_VERSION = 1
"""Rises when the way of building changes, so that older artifacts are not taken for new ones."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """A build folder whose core is in place."""

    arm: str
    source: str
    revision: str
    """Built into the binary and reported by it (`pin.embedded`)."""
    folder: Path
    core: str
    """The core's folder relative to `folder`."""
    identity: Json
    """What the core's sources are, for the cache key: digests, never paths or times."""
    locks: Mapping[str, bytes]
    """Lock files besides the runner's own from which versions may come, by a name for the log."""
    corrections: tuple[Json, ...] = ()
    checkout: Path | None = None
    patch: Json | None = None
    """The patch on the core's sources as the plan pins it: its file and SHA-256."""

    @property
    def shown(self) -> str:
        """The revision for people: digests in short, a patch by its name."""
        name, _, digest = self.revision.partition("+")[0].rpartition("@")
        short = digest if len(digest) <= 40 else f"{digest[:12]}…"
        corrected = "".join(f" with correction {one['name']}" for one in self.corrections)
        told = f" with patch {self.patch['file']} ({self.patch['sha256'][:12]}…)" if self.patch else ""
        return (f"{name}@{short}" if name else short) + told + corrected


def build_folder(context: EngineContext, arm: str) -> Path:
    """An empty folder for one arm's build; what an interrupted run left there is removed first. Raises `Blocked`."""
    folder = context.scratch / f"build-{arm}"
    try:
        if folder.exists():
            shutil.rmtree(folder)
        folder.mkdir(parents=True)
    except OSError as error:
        raise explain(error, f"cannot prepare {folder}") from error
    return folder


def build(prepared: Prepared, context: EngineContext) -> Artifact:
    """Build the runner against the prepared core, or take the artifact that the same build gave before.

    Raises `Blocked` with one line and the log's place.
    """
    settings = BuildSettings.of(context.build)
    runner = sources.runner_files()
    lock = _starting_lock(prepared, runner["Cargo.lock"])
    try:
        sources.write_tree(
            {**runner, "Cargo.toml": sources.pointed_at(runner["Cargo.toml"], prepared.core), "Cargo.lock": lock},
            prepared.folder,
        )
    except OSError as error:
        raise explain(error, f"cannot write into {prepared.folder}") from error
    toolchain = find_toolchain(settings.toolchain, context.processes, prepared.folder)
    runner_sha256 = sources.runner_sha256(runner)
    features = _features(settings, prepared.folder / prepared.core)
    key = _key(prepared, settings, toolchain, runner_sha256, lock, features)
    sha256 = _cached(key, context)
    if sha256 is None:
        context.say(f"build {prepared.arm}: compiling the runner against {prepared.shown}")
        sha256 = _compile(prepared, settings, toolchain, features, context)
        _remember(key, sha256, context)
    else:
        context.say(f"build {prepared.arm}: {prepared.shown}: the store has this build ({sha256[:12]}…)")
    path = context.store.checked(sha256)
    return Artifact(
        arm=prepared.arm,
        source=prepared.source,
        revision=prepared.revision,
        path=path,
        sha256=sha256,
        size_bytes=path.stat().st_size,
        text_size_bytes=text_size_bytes(path),
        files=(PinnedFile(path, sha256),),
        features=settings.features,
        runner_source_sha256=runner_sha256,
        toolchain=toolchain.to_json(),
        corrections=prepared.corrections,
        checkout=prepared.checkout,
    )


def describe(artifact: Artifact, context: EngineContext) -> Json:
    """Ask the artifact what it is, and hold it to it. Raises `Blocked` when it answers for something else."""
    try:
        done = context.processes.run([artifact.path, "--describe"], env={}, timeout_s=60)
    except OSError as error:
        raise Blocked(f"the {artifact.arm}'s artifact cannot be started: {why(error)}") from error
    if done.status != 0:
        reason = (done.stderr.strip() or f"exit status {done.status}").splitlines()[0]
        raise Blocked(f"the {artifact.arm}'s artifact cannot describe itself: {reason}")
    try:
        described: Json = json.loads(done.stdout)
        contract, revision = described["contract"], described["revision"]
    except (ValueError, KeyError, TypeError) as error:
        raise Blocked(f"the {artifact.arm}'s artifact describes itself in an unknown form") from error
    if contract != 1:
        raise Blocked(f"the {artifact.arm}'s artifact keeps process contract {contract}, this aisimc knows 1")
    if revision != artifact.revision:
        raise Blocked(f"the {artifact.arm}'s artifact says it is {revision}, not {artifact.revision}")
    return described


def _starting_lock(prepared: Prepared, runner: bytes) -> bytes:
    try:
        for lock in prepared.locks.values():
            return lockfile.union(lock, runner)
    except ValueError as error:
        raise Blocked(f"the {prepared.arm}'s Cargo.lock cannot be read: {error}") from error
    return runner


def _features(settings: BuildSettings, core: Path) -> tuple[str, ...]:
    """Exactly what cargo is told: the declared features of the core, and the runner's own one.

    That one follows from what the core has, so it is no declared feature; `--describe` tells of it.
    """
    declared = tuple(name if "/" in name else f"aisimulate-core/{name}" for name in settings.features)
    return (*declared, "prepared-loop") if exposes_prepared_loop(core) else declared


def exposes_prepared_loop(core: Path) -> bool:
    """Whether a core separates preparing a replay from running its loop, as the reference core does.

    Read from its sources: the runner calls exactly these names, and only where they are (`perf.boundary`).
    """
    wanted = [b"pub struct PreparedReplay", b"pub fn prepare(", b"pub fn execute("]
    for path in sorted((core / "src" / "replay").glob("**/*.rs")):
        text = path.read_bytes()
        wanted = [name for name in wanted if name not in text]
    return not wanted


def _key(
    prepared: Prepared,
    settings: BuildSettings,
    toolchain: Toolchain,
    runner_sha256: str,
    lock: bytes,
    features: Sequence[str],
) -> str:
    parts = {
        "version": _KEY_VERSION,
        "revision": prepared.revision,
        "identity": prepared.identity,
        "runner": runner_sha256,
        "lock": hashlib.sha256(lock).hexdigest(),
        "toolchain": [toolchain.cargo_version, toolchain.rustc_version],
        "profile": settings.profile,
        "features": list(features),
        "rustflags": list(settings.rustflags),
        "locked": settings.locked,
        "configuration": hashlib.sha256(configuration_digest_input(prepared.folder)).hexdigest(),
    }
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def _cached(key: str, context: EngineContext) -> str | None:
    """The artifact of an equal earlier build, if the store still has it unharmed."""
    try:
        sha256 = json.loads((context.store.root / "builds" / f"{key}.json").read_bytes())["artifact_sha256"]
        context.store.checked(sha256).chmod(0o555)  # older stores, and other writers of the same bytes
    except (OSError, ValueError, KeyError, TypeError, Blocked):
        return None
    return str(sha256)


def _remember(key: str, sha256: str, context: EngineContext) -> None:
    folder = context.store.root / "builds"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise explain(error, f"cannot make {folder}") from error
    write_atomic(folder / f"{key}.json", json.dumps({"artifact_sha256": sha256}).encode() + b"\n")


def _compile(
    prepared: Prepared,
    settings: BuildSettings,
    toolchain: Toolchain,
    features: Sequence[str],
    context: EngineContext,
) -> str:
    from filelock import FileLock

    log = context.scratch / f"build-{prepared.arm}.log"
    log.unlink(missing_ok=True)
    cargo = CargoBuild(
        prepared.folder, context.scratch / "target", settings, toolchain, context.processes, log, prepared.revision
    )
    waiting = Heartbeat(context.say, f"build {prepared.arm}: still compiling")
    with FileLock(context.scratch / "target.lock"), waiting:
        metadata = cargo.resolve()
        core_package(metadata)
        if settings.locked:
            _check_lock(prepared, log)
        executable = cargo.compile(features, folder_packages(metadata))
        name = f"runner of {prepared.revision[:60]}"
        return context.store.add_file(executable, kind="binary", name=name, executable=True)


def _check_lock(prepared: Prepared, log: Path) -> None:
    """Nothing floats: every resolved version stands in one of the lock files that were given."""
    result = (prepared.folder / "Cargo.lock").read_bytes()
    added = lockfile.strangers(result, [sources.runner_files()["Cargo.lock"], *prepared.locks.values()])
    if added:
        shown = ", ".join(added[:5]) + (f" and {len(added) - 5} more" if len(added) > 5 else "")
        raise Blocked(
            f"the {prepared.arm}'s lock file does not fit its core: it does not hold {shown}",
            help=f"commit a Cargo.lock that fits, or say locked = false; the log: {log}",
        )
