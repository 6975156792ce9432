"""A revision that is a commit of a git repository: fetched, checked out detached, corrected, built with the runner."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from aisimc_runtime.engines import builds, patching
from aisimc_runtime.engines.base import Acquired, Artifact, EngineContext, Json
from aisimc_runtime.engines.git import Mirror, outside_links
from aisimc_runtime.failures import Blocked
from aisimc_runtime.ports.files import explain

CORE = "crates/core"


class CheckoutEngine:
    """Answers to `repository = …, commit = …`."""

    source: ClassVar[str] = "checkout"

    def acquire(self, arm: str, revision: Json, context: EngineContext) -> Acquired:
        """Fetch the exact commit into the store's mirror of its repository. Raises `Blocked`."""
        commit = revision["commit"]
        mirror = Mirror.of(context.store, revision["repository"], context.processes)
        if not mirror.has(commit):
            context.say(f"{arm}: fetching {commit[:12]} from {revision['repository']}")
        mirror.fetch(commit)
        return Acquired(revision=revision, identity=commit, files={"mirror": mirror.folder})

    def build(self, arm: str, acquired: Acquired, context: EngineContext) -> Artifact:
        """Build the runner against the commit's `crates/core`, corrections applied. Raises `Blocked`."""
        revision = acquired.revision
        mirror = Mirror.of(context.store, revision["repository"], context.processes)
        folder = builds.build_folder(context, arm)
        worktree = folder / "checkout"
        mirror.worktree(revision["commit"], worktree)
        _check_sources(worktree, revision["commit"])
        corrections = _correct(worktree, context)
        if corrections:
            context.done(f"apply-correction/{arm}")
        prepared = builds.Prepared(
            arm=arm,
            source=self.source,
            revision=revision["commit"],
            folder=folder,
            core=f"checkout/{CORE}",
            identity={"tree": mirror.tree(revision["commit"]), "corrections": list(corrections)},
            locks=_locks(worktree, arm),
            corrections=corrections,
            checkout=worktree,
        )
        return builds.build(prepared, context)

    def describe(self, artifact: Artifact, context: EngineContext) -> Json:
        """What the binary says of itself. Raises `Blocked` when it is not the commit it was built from."""
        return builds.describe(artifact, context)

    def command(self, artifact: Artifact, config: Path, out: Path) -> list[str]:
        """The binary itself, as the process contract has it."""
        return [str(artifact.path), str(config), str(out)]


def verify_ancestry(baseline: Json, candidate: Json, context: EngineContext) -> None:
    """Hold a stated `relation = ancestor` to git's history (`pin.relation`). Both commits were acquired.

    Raises `Blocked` when the baseline is no ancestor of the candidate.
    """
    mirror = Mirror.of(context.store, candidate["repository"], context.processes)
    earlier, later = baseline["commit"], candidate["commit"]
    mirror.fetch(earlier)
    mirror.fetch(later)
    if not mirror.is_ancestor(earlier, later):
        raise Blocked(
            f"the campaign says that {earlier[:12]} is an ancestor of {later[:12]}, but git says it is not",
            help='pin other commits, or say in words how the two are related: relation = "…"',
        )


def _check_sources(worktree: Path, commit: str) -> None:
    if not (worktree / CORE / "Cargo.toml").is_file():
        raise Blocked(
            f"commit {commit[:12]} has no {CORE}/Cargo.toml, so there is no replay core to build the runner against",
            help="check that the repository is AI Simulate and that the commit has the core",
        )
    links = outside_links(worktree)
    if links:
        raise Blocked(f"commit {commit[:12]} holds a symbolic link that leads out of the checkout: {links[0]}")


def _correct(worktree: Path, context: EngineContext) -> tuple[Json, ...]:
    """Apply the campaign's correction patches; the same for every arm (`pin.correction`)."""
    done = []
    for correction in context.corrections:
        if correction["kind"] != "patch":
            continue
        path = context.find_file(correction["file"], correction["sha256"])
        try:
            _write(worktree, patching.apply(path.read_bytes(), lambda name: _read(worktree, name)))
        except patching.PatchError as error:
            raise Blocked(f"the correction {correction['name']} does not apply: {error}") from error
        except OSError as error:
            raise explain(error, f"cannot apply the correction {correction['name']}") from error
        done.append({"name": correction["name"], "sha256": correction["sha256"]})
    return tuple(done)


def _read(worktree: Path, name: str) -> bytes | None:
    path = worktree / name
    if any(part.is_symlink() for part in (path, *path.parents) if part != worktree and worktree in part.parents):
        raise patching.PatchError(f"{name}: the path goes through a symbolic link")
    return path.read_bytes() if path.is_file() else None


def _write(worktree: Path, changed: dict[str, bytes | None]) -> None:
    for name, data in changed.items():
        path = worktree / name
        if data is None:
            path.unlink()
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)


def _locks(worktree: Path, arm: str) -> dict[str, bytes]:
    """The revision's own lock file: its workspace's, or its core's."""
    for name in ("Cargo.lock", f"{CORE}/Cargo.lock"):
        path = worktree / name
        if path.is_file():
            return {f"{arm}'s {name}": path.read_bytes()}
    return {}
