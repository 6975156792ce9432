"""The engine that ships with the project: its sources pinned by digest, patched, and built with the runner."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from aisimc_runtime.engines import builds, patching, sources
from aisimc_runtime.engines.base import Acquired, Artifact, EngineContext, Json
from aisimc_runtime.engines.sources import sources_sha256 as sources_sha256
from aisimc_runtime.failures import Blocked
from aisimc_runtime.ports.files import explain
from aisimc_runtime.ports.named import why


class EmbeddedEngine:
    """Answers to `embedded = "reference-core"`."""

    source: ClassVar[str] = "embedded"

    def acquire(self, arm: str, revision: Json, context: EngineContext) -> Acquired:
        """Check the shipped sources against the pin, and find the patch. Raises `Blocked`."""
        core, pinned = revision["core"], revision["sha256"]
        _pinned_files(arm, revision)
        identity = f"{core}@{pinned}"
        files: dict[str, Path] = {}
        if revision["patch"] is not None:
            patch = revision["patch"]
            files["patch"] = context.find_file(patch["file"], patch["sha256"])
            identity += f"+{patch['sha256']}"
        return Acquired(revision=revision, identity=identity, files=files)

    def build(self, arm: str, acquired: Acquired, context: EngineContext) -> Artifact:
        """Build the runner against a copy of the sources, patched. Raises `Blocked`."""
        files = _pinned_files(arm, acquired.revision)
        if "patch" in acquired.files:
            files = _patched(files, acquired.files["patch"], acquired.revision["patch"]["file"])
        corrections = []
        for correction in context.corrections:
            if correction["kind"] == "patch":
                path = context.find_file(correction["file"], correction["sha256"])
                files = _patched(files, path, correction["file"])
                corrections.append({"name": correction["name"], "sha256": correction["sha256"]})
        if corrections:
            context.done(f"apply-correction/{arm}")
        folder = builds.build_folder(context, arm)
        try:
            sources.write_tree(files, folder / "core")
        except OSError as error:
            raise explain(error, f"cannot write into {folder}") from error
        prepared = builds.Prepared(
            arm=arm,
            source=self.source,
            revision=acquired.identity,
            folder=folder,
            core="core",
            identity={"sources": sources.tree_sha256(files)},
            locks={},
            corrections=tuple(corrections),
            patch=acquired.revision["patch"],
        )
        return builds.build(prepared, context)

    def describe(self, artifact: Artifact, context: EngineContext) -> Json:
        """What the binary says of itself. Raises `Blocked` when it is not the revision it was built as."""
        return builds.describe(artifact, context)

    def command(self, artifact: Artifact, config: Path, out: Path) -> list[str]:
        """The binary itself, as the process contract has it."""
        return [str(artifact.path), str(config), str(out)]


def _pinned_files(arm: str, revision: Json) -> dict[str, bytes]:
    """The shipped sources, read once and held to the pin. Raises `Blocked` when they are others."""
    core, pinned = revision["core"], revision["sha256"]
    files = sources.package_files(sources.shipped_core(core))
    found = sources.tree_sha256(files)
    if found != pinned:
        raise Blocked(
            f"the {arm} is pinned to {core} {pinned[:12]}…, the sources here are {found[:12]}…",
            help="`aisimc pin` writes the digest of this installation, if that is what you mean to run",
        )
    return files


def _patched(files: dict[str, bytes], patch: Path, name: str) -> dict[str, bytes]:
    try:
        changed = patching.apply(patch.read_bytes(), files.get)
    except OSError as error:
        raise Blocked(f"cannot read the patch {name}: {why(error)}") from error
    except patching.PatchError as error:
        raise Blocked(f"the patch {name} does not apply: {error}") from error
    result = {path: data for path, data in files.items() if path not in changed}
    return result | {path: data for path, data in changed.items() if data is not None}
