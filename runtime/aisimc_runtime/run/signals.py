"""SIGINT and SIGTERM: once ends the campaign cleanly, twice ends it at once."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Callable, Iterator
from types import FrameType

from aisimc_runtime.command.exits import Exit
from aisimc_runtime.failures import Interrupted


@contextlib.contextmanager
def interruptible(at_once: Callable[[], None]) -> Iterator[None]:
    """Within: the first signal raises `Interrupted` in the main thread; the second calls `at_once` and exits 130."""
    seen: list[int] = []

    def react(number: int, _frame: FrameType | None) -> None:
        seen.append(number)
        if len(seen) > 1:
            at_once()
            os._exit(Exit.INTERRUPTED)
        name = signal.Signals(number).name
        raise Interrupted(f"ended by {name}; what was collected is kept", help="the same command continues")

    before = {number: signal.signal(number, react) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
