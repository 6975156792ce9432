"""What pinning finds out about a campaign file, besides the edits, and what it asks of the outside."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, auto
from typing import Protocol

from aisimc_compiler.diagnostics.model import Diagnostic, Label
from aisimc_compiler.rules.refusal import refuse
from aisimc_compiler.syntax.tree import Attribute
from aisimc_runtime.failures import Failure
from aisimc_runtime.pinning.edits import Edit
from aisimc_runtime.pinning.files import FileFacts
from aisimc_runtime.pinning.wheels import PinnedWheel

REFRESH = "if what is here is meant, `aisimc pin --refresh` writes it"


class Effort(Enum):
    """How far to go for bytes."""

    VERIFY = auto()
    """Every pin is there: only look at what is at hand."""
    FILL = auto()
    """Something is missing: find or fetch the pinned bytes, or the first ones."""
    REFRESH = auto()
    """Everything is to be computed again, from where the campaign says."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """A trace to look for: an input's source as the plan has it, and what is pinned of it so far."""

    source: dict[str, object]
    sha256: str | None
    rows: int | None
    window: tuple[int, int] | None
    """Start and rows of the slice."""
    effort: Effort


class World(Protocol):
    """What pinning asks of the outside; every answer may raise `Failure` with one clear line."""

    def commit(self, repository: str, revision: str) -> str: ...
    def wheel(self, requirement: str) -> PinnedWheel: ...
    def wheel_at_hand(self, sha256: str) -> tuple[str, str] | None: ...
    def file_sha256(self, file: str) -> str: ...
    def trace(self, wanted: Wanted) -> FileFacts | None: ...
    def embedded_sha256(self, core: str) -> str: ...


@dataclass(frozen=True, slots=True)
class Unpinned:
    """A place that could not be pinned: the block's name and the failure's line."""

    place: str
    failure: Failure


@dataclass(frozen=True, slots=True)
class Unverified:
    """A block whose pins are all there and could not be held against anything: the bytes are not here."""

    place: str


Finding = Edit | Unpinned | Unverified | Diagnostic
"""A `Diagnostic` is a place that is pinned wrongly, or that `check` would refuse and nothing can be computed for."""

Findings = Iterator[Finding]


def broken(rule: str, pin: Attribute, message: str, replace: str, *, label: str, because: Label | None) -> Diagnostic:
    """A pin that does not hold; `replace` is what `--refresh` would write."""
    secondary = () if because is None else (because,)
    return refuse(rule, pin.value.span, message, label=label, help=REFRESH, replace=replace, secondary=secondary)
