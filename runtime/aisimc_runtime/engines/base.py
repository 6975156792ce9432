"""What the runtime asks of an engine: the place a revision comes from.

    acquire   the pinned revision's own files, into the store (network, if the store lacks them)
    build     one artifact per arm, ready to execute; for a wheel nothing is built, the runtime is unpacked
    describe  what the artifact says of itself (`--describe` of the process contract)
    command   the argument vector of one replay, in one fresh process

Only `command` is called on the node that replays, so an artifact travels as JSON in the row's job description.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    from aisimc_runtime.ports.processes import Processes
    from aisimc_runtime.store.content import Store

Json = dict[str, Any]


class PinnedFile(NamedTuple):
    """A file that is hashed again before every execution that uses it (`pin.artifact`)."""

    path: Path
    sha256: str


@dataclass(frozen=True, slots=True)
class Acquired:
    """A pinned revision whose own bytes are here and were checked."""

    revision: Json
    """The plan's `revisions.ARM` object."""
    identity: str
    """What was found, in one phrase: a commit id, or a wheel's version and hash."""
    files: Mapping[str, Path] = field(default_factory=dict)
    """Engine-private: named places (a wheel in the store, a mirror, a source folder)."""
    facts: Json = field(default_factory=dict)
    """Engine-private: JSON-able findings that `build` needs."""


@dataclass(frozen=True, slots=True)
class Artifact:
    """What one arm executes. Every field is JSON-able through `to_json`."""

    arm: str
    source: str
    """`wheel`, `checkout` or `embedded`: the key of the engine that made it."""
    revision: str
    path: Path
    """The file that is executed or loaded; its place is given to exception tests as `AISIMC_ARTIFACT`."""
    sha256: str
    size_bytes: int
    text_size_bytes: int | None
    files: tuple[PinnedFile, ...]
    """All files hashed before each execution: the artifact itself and whatever drives it."""
    features: tuple[str, ...] = ()
    runner_source_sha256: str | None = None
    toolchain: Json | None = None
    corrections: tuple[Json, ...] = ()
    """`{"name", "sha256"}` of each determinism correction applied to it."""
    settings: Json = field(default_factory=dict)
    """Engine-private settings that `command` needs, plain JSON."""
    checkout: Path | None = None
    """The worktree it was built from, for exception tests (`AISIMC_CHECKOUT`)."""

    def to_json(self) -> Json:
        """The artifact as it travels in a row's job description."""
        return {
            "arm": self.arm,
            "source": self.source,
            "revision": self.revision,
            "path": str(self.path),
            "sha256": self.sha256,
            "size_bytes": self.size_bytes,
            "text_size_bytes": self.text_size_bytes,
            "files": [[str(file.path), file.sha256] for file in self.files],
            "features": list(self.features),
            "runner_source_sha256": self.runner_source_sha256,
            "toolchain": self.toolchain,
            "corrections": list(self.corrections),
            "settings": self.settings,
            "checkout": None if self.checkout is None else str(self.checkout),
        }

    @classmethod
    def from_json(cls, data: Json) -> Artifact:
        """Read back what `to_json` wrote."""
        checkout = data["checkout"]
        return cls(
            arm=data["arm"],
            source=data["source"],
            revision=data["revision"],
            path=Path(data["path"]),
            sha256=data["sha256"],
            size_bytes=data["size_bytes"],
            text_size_bytes=data["text_size_bytes"],
            files=tuple(PinnedFile(Path(path), sha256) for path, sha256 in data["files"]),
            features=tuple(data["features"]),
            runner_source_sha256=data["runner_source_sha256"],
            toolchain=data["toolchain"],
            corrections=tuple(data["corrections"]),
            settings=data["settings"],
            checkout=None if checkout is None else Path(checkout),
        )


def _nobody(_action: str) -> None:
    """For those who keep no journal."""


@dataclass(frozen=True, slots=True)
class EngineContext:
    """What an engine may use; nothing else of the machine is its business."""

    store: Store
    processes: Processes
    """Starts tools (pip, git, cargo) so that an interrupt ends them with their whole process group."""
    scratch: Path
    """A folder of this run for worktrees and builds; `clean` removes it."""
    build: Json | None
    """The plan's `build` object."""
    corrections: Sequence[Json]
    """The plan's `determinism.corrections`."""
    find_file: Callable[[str, str], Path]
    """`find_file(name, sha256)`: a patch beside the campaign or in the store; raises `Blocked`."""
    say: Callable[[str], None]
    """One line of progress."""
    matrix: Sequence[str] = ()
    """The matrix ids that the campaign wants to know about."""
    done: Callable[[str], None] = _nobody
    """An action of the plan that the engine finishes on its way, for the journal."""


class Engine(Protocol):
    """One way to get and to execute a revision."""

    @property
    def source(self) -> str:
        """The value of `source` in a plan's revision that this engine answers to."""
        ...

    def acquire(self, arm: str, revision: Json, context: EngineContext) -> Acquired:
        """Bring the pinned revision into the store and check it.

        Raises `Blocked` when it cannot be had or is not what was pinned.
        """
        ...

    def build(self, arm: str, acquired: Acquired, context: EngineContext) -> Artifact:
        """Make the artifact of one arm, corrections applied. Raises `Blocked`."""
        ...

    def describe(self, artifact: Artifact, context: EngineContext) -> Json:
        """The process contract's `--describe` object; `exclusions` is null where it cannot be asked for."""
        ...

    def command(self, artifact: Artifact, config: Path, out: Path) -> list[str]:
        """The argument vector of one replay: reads `config`, writes under `out`. Pure."""
        ...
