"""Sets of request positions, written as text such as `0-4,7`."""

from __future__ import annotations

from collections.abc import Iterator


class Positions:
    """A growing set of positions; cheap when they come in rising order."""

    def __init__(self) -> None:
        self._runs: list[list[int]] = []
        self.count = 0

    def add(self, position: int) -> None:
        """Add a position that is not smaller than the last one added."""
        if self._runs:
            last = self._runs[-1]
            if position <= last[1]:
                return
            if position == last[1] + 1:
                last[1] = position
                self.count += 1
                return
        self._runs.append([position, position])
        self.count += 1

    def text(self) -> str:
        """The set as `0-4,7`."""
        return ",".join(f"{a}-{b}" if a != b else str(a) for a, b in self._runs)


def positions(text: str) -> Iterator[int]:
    """The positions that a text such as `0-4,7` stands for."""
    for run in text.split(",") if text else ():
        first, _, last = run.partition("-")
        yield from range(int(first), int(last or first) + 1)
