"""What can go wrong outside the language, as exceptions that carry one clear line.

Failure
├── Refused   the profile, plan or command line is not acceptable: exit 2, nothing was started
├── Blocked   the campaign could not be carried out as pinned: exit 3, what was collected is kept
└── Interrupted   a signal asked for the end: exit 130, the journal is whole
"""

from __future__ import annotations

from aisimc_runtime.command.exits import Exit


class Failure(Exception):
    """Base of all expected failures; the command line shows `message` and `help`, never a traceback."""

    exit: Exit = Exit.BLOCKED

    def __init__(self, message: str, *, help: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.help = help

    def text(self, where: str = "") -> str:
        """The failure as every verb says it on standard error: one line, and one for the mend where there is one."""
        mend = f"  help: {self.help}\n" if self.help else ""
        return f"aisimc: error: {where}{self.message}\n{mend}"


class Refused(Failure):
    """The profile, plan or command line is refused before anything was started."""

    exit = Exit.REFUSED


class Blocked(Failure):
    """A tool, source, input or artifact is missing or not what was pinned, or the disk or node gave up."""

    exit = Exit.BLOCKED


class Interrupted(Failure):
    """The user or the system asked the campaign to stop."""

    exit = Exit.INTERRUPTED
