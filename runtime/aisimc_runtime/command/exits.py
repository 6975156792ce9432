"""Exit statuses, the same for every command (decisions: Runs)."""

from __future__ import annotations

from enum import IntEnum


class Exit(IntEnum):
    """What the exit status of `aisimc` means."""

    OK = 0
    """PASS, PASS_WITH_SEMANTIC_EXCEPTIONS; valid; verified; no difference; nothing to format."""
    FAILED = 1
    """FAIL; a difference; a digest that does not verify; `fmt --check` would change something."""
    REFUSED = 2
    """The spec, profile, plan or command line is refused."""
    BLOCKED = 3
    """Could not be carried out: tool, source, input or artifact missing or not what was pinned, disk, node."""
    UNDECIDED = 4
    """The semantic result passes and the declared gate is inconclusive or could not be measured."""
    INTERRUPTED = 130
