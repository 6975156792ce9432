"""What a summary and the progress of a run are printed with."""

from __future__ import annotations

import os

from rich.console import Console

from aisimc_compiler.hints import IO


def console(stream: IO[str]) -> Console:
    """A console on a stream: plain where the stream is no terminal or NO_COLOR is set, else with styles.

    NO_COLOR leaves out bold and faint letters, too, as everywhere in this tool; only what draws the progress over
    itself on a terminal is still sent.
    """
    return Console(file=stream, color_system=None if os.environ.get("NO_COLOR") else "auto", highlight=False)
