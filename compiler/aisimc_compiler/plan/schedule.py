"""The order of the paired performance gate, fixed by a seed before anything is measured (`perf.design`).

Both sides use it: the compiler, to write the order into the plan, and the runtime, to check that what it
is about to run is what was planned.
"""

from __future__ import annotations

from hashlib import sha256
from typing import NamedTuple

from aisimc_compiler.splitmix import SplitMix64

WARMUPS_PER_ARM = 5
PAIRS = 60
ARMS = ("baseline", "candidate")


class Step(NamedTuple):
    """One process of the gate: a warm-up or one half of a pair."""

    kind: str
    """`warmup` or `sample`."""
    row: str
    arm: str
    order: int
    """Place in the row's sequence, from 1: ten warm-ups, then 120 halves of pairs."""
    number: int
    """Warm-up of this arm (1..5), or pair (1..60)."""
    position: str
    """`first` or `second` in its pair; of a warm-up, in its alternation."""

    @property
    def id(self) -> str:
        """The id of its action in the plan; pairs are padded, so that ids sort in run order of the pairs."""
        if self.kind == "warmup":
            return f"warmup/{self.row}/{self.arm}/{self.number}"
        return f"sample/{self.row}/{self.number:02d}/{self.arm}"

    def parameters(self) -> dict[str, str | int]:
        """What the plan's action holds, so that the whole order can be read from the plan alone."""
        key = "warmup" if self.kind == "warmup" else "pair"
        return {"arm": self.arm, "order": self.order, "position": self.position, key: self.number}


def row_seed(seed: int, row: str) -> int:
    """The generator's start for one row: 64 bits of SHA-256 over the declared seed and the row's name.

    Rows get different orders, so that nothing periodic on the node meets the same order twice.
    """
    return int.from_bytes(sha256(f"aisimc.schedule/1\n{seed}\n{row}".encode()).digest()[:8], "big")


def first_arms(seed: int, row: str) -> tuple[str, ...]:
    """The arm that goes first in each of the 60 pairs: 30 times each, in Fisher-Yates order."""
    order = [ARMS[0]] * (PAIRS // 2) + [ARMS[1]] * (PAIRS // 2)
    generator = SplitMix64(row_seed(seed, row))
    for last in range(PAIRS - 1, 0, -1):
        pick = generator.below(last + 1)
        order[last], order[pick] = order[pick], order[last]
    return tuple(order)


def other(arm: str) -> str:
    """The arm that is not this one."""
    return ARMS[1] if arm == ARMS[0] else ARMS[0]


def steps(seed: int, row: str) -> tuple[Step, ...]:
    """The 130 processes of one row in run order: ten warm-ups, the baseline first, then 60 pairs."""
    out: list[Step] = []
    for number in range(1, WARMUPS_PER_ARM + 1):
        for arm, position in zip(ARMS, ("first", "second"), strict=True):
            out.append(Step("warmup", row, arm, len(out) + 1, number, position))
    for number, first in enumerate(first_arms(seed, row), start=1):
        for arm, position in ((first, "first"), (other(first), "second")):
            out.append(Step("sample", row, arm, len(out) + 1, number, position))
    return tuple(out)
