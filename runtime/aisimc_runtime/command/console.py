"""What a summary is printed with."""

from __future__ import annotations

from typing import NoReturn

import rich.console


class Console(rich.console.Console):
    """A console whose reader may leave: rich itself would end with 1 then, which is the status of a FAIL."""

    def on_broken_pipe(self) -> NoReturn:
        """Leave the exit status to the command line. Raises `BrokenPipeError`."""
        raise BrokenPipeError
