"""A word now and then while something long says nothing itself, so that nobody takes it for hung."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from types import TracebackType
from typing import Self

EVERY_S = 30.0


class Heartbeat(AbstractContextManager["Heartbeat"]):
    """Says `TEXT, SECONDS s` every `every_s` seconds until the block ends, however it ends.

    `say` is called from a thread of its own; it must not raise.
    """

    def __init__(self, say: Callable[[str], None], text: str, every_s: float = EVERY_S) -> None:
        self._say = say
        self._text = text
        self._every_s = every_s
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._beat, name="heartbeat", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        self._thread.join()

    def _beat(self) -> None:
        started = time.monotonic()
        while not self._over.wait(self._every_s):
            self._say(f"{self._text}, {time.monotonic() - started:.0f} s")
