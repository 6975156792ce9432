"""The outside that pinning asks: git, pip, and files beside the campaign, in the store or upstream."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from aisimc_runtime.pinning import commits, files, traces, wheels
from aisimc_runtime.pinning.files import FileFacts
from aisimc_runtime.pinning.findings import Wanted
from aisimc_runtime.pinning.wheels import PinnedWheel


@dataclass(frozen=True, slots=True)
class RealWorld:
    """Answers from the real world; relative paths start at `folder`, the campaign file's folder."""

    folder: Path
    say: Callable[[str], None]

    def commit(self, repository: str, revision: str) -> str:
        return commits.resolve(repository, revision, self.folder)

    def wheel(self, requirement: str) -> PinnedWheel:
        return wheels.resolve(requirement)

    def wheel_at_hand(self, sha256: str) -> tuple[str, str] | None:
        """Name and version of the wheel with these bytes, when the store has it."""
        from aisimc_runtime.engines.wheel import identity_of
        from aisimc_runtime.store.content import open_store

        store = open_store(None)
        return identity_of(store.checked(sha256)) if store.has(sha256) else None

    def file_sha256(self, file: str) -> str:
        return files.sha256_of(self.folder / file)

    def trace(self, wanted: Wanted) -> FileFacts | None:
        with ExitStack() as stack:
            found = traces.readable(wanted, self.folder, stack, self.say)
            return None if found is None else files.facts_of(found[0], wanted.window, found[1])

    def embedded_sha256(self, core: str) -> str:
        from aisimc_runtime.engines.sources import sources_sha256

        return sources_sha256(core)
