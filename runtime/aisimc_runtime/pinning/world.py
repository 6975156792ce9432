"""The outside that pinning asks: git, pip, and files beside the campaign, in the store or upstream."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aisimc_runtime.failures import Blocked
from aisimc_runtime.pinning import commits, files, traces, wheels
from aisimc_runtime.pinning.files import FileFacts
from aisimc_runtime.pinning.wheels import PinnedWheel


@dataclass(frozen=True, slots=True)
class RealWorld:
    """Answers from the real world; relative paths start at `folder`, the campaign file's folder."""

    folder: Path

    def commit(self, repository: str, revision: str) -> str:
        return commits.resolve(repository, revision, self.folder)

    def wheel(self, requirement: str) -> PinnedWheel:
        return wheels.resolve(requirement)

    def file_sha256(self, file: str) -> str:
        return files.sha256_of(self.folder / file)

    def trace(self, source: dict[str, Any], sha256: str | None, window: tuple[int, int] | None) -> FileFacts:
        with ExitStack() as stack:
            facts = files.facts_of(traces.readable(source, sha256, self.folder, stack), window)
        if sha256 is not None and facts.sha256 != sha256:
            raise Blocked(
                f"the trace has SHA-256 {facts.sha256}, the campaign says {sha256}",
                help="aisimc pin --refresh writes the new checksum, if the other file is the one you mean",
            )
        return facts

    def embedded_sha256(self, core: str) -> str:
        from aisimc_runtime.engines.sources import sources_sha256

        return sources_sha256(core)
