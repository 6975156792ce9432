"""What the terminal can show."""

from __future__ import annotations

import os

from aisimc_compiler.hints import IO


def wants_colour(choice: str, stream: IO[str]) -> bool:
    """Whether to colour what goes to a stream: as chosen, and with `auto` on terminals unless NO_COLOR says no."""
    if choice != "auto":
        return choice == "always"
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
