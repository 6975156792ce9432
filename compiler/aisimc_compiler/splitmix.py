"""Random numbers that a seed fixes for good: the order of a gate, the rows of a generated trace.

Spelled out in integers only, rather than taken from `random`, so that a seed means the same on every Python version
and in any language.
"""

from __future__ import annotations

_MASK64 = (1 << 64) - 1


class SplitMix64:
    """The SplitMix64 generator (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014).

    One 64-bit counter that advances by an odd constant, and a bijective finaliser of it: short enough to
    read, of known quality, and the same everywhere.
    """

    __slots__ = ("_state",)

    def __init__(self, seed: int) -> None:
        self._state = seed & _MASK64

    def next(self) -> int:
        """The next value, uniform on 0..2**64-1."""
        self._state = (self._state + 0x9E3779B97F4A7C15) & _MASK64
        z = self._state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & _MASK64
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _MASK64
        return z ^ (z >> 31)

    def below(self, bound: int) -> int:
        """Uniform on 0..bound-1; what lies past the last whole multiple is redrawn, against modulo bias."""
        limit = (1 << 64) - (1 << 64) % bound
        while True:
            value = self.next()
            if value < limit:
                return value % bound
