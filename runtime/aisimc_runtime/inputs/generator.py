"""A Mooncake trace made from a seed, for machines that can reach no trace repository.

Only integers are used, so that a seed gives the same bytes on every machine and Python version. The generator of
random numbers is SplitMix64: the state grows by 0x9E3779B97F4A7C15 and is mixed by two multiplications. The form
of the trace is fixed for good under the name `mooncake-v1`; another form would get another name.

The traffic is chats: a few system prompts shared by many chats, chats of several turns whose prompts grow by what
was said before, now and then a long document; arrivals come in bursts, so that a few hundred rows fill a
scheduler's queues and press its cache.
"""

from __future__ import annotations

from collections.abc import Iterator

MASK = (1 << 64) - 1
SYSTEM_PROMPTS = 6
CHATS_OPEN = 48
"""Chats that go on at once; a new one takes the place of one that ended."""


class SplitMix64:
    """The generator of random numbers: 64 bits of state, a period of 2^64."""

    __slots__ = ("state",)

    def __init__(self, seed: int) -> None:
        self.state = seed & MASK

    def next(self) -> int:
        """The next 64-bit number."""
        self.state = (self.state + 0x9E3779B97F4A7C15) & MASK
        mixed = self.state
        mixed = ((mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        mixed = ((mixed ^ (mixed >> 27)) * 0x94D049BB133111EB) & MASK
        return mixed ^ (mixed >> 31)

    def below(self, bound: int) -> int:
        """A number in 0..bound-1, by the high bits of a product (the bias of under 2^-40 is part of the form)."""
        return (self.next() * bound) >> 64

    def between(self, low: int, high: int) -> int:
        """A number in low..high."""
        return low + self.below(high - low + 1)

    def chance(self, part: int, whole: int) -> bool:
        """True in `part` of `whole` cases."""
        return self.below(whole) < part


def generate(seed: int, rows: int, block_size: int) -> Iterator[bytes]:
    """`rows` lines of a Mooncake trace with prefix ids per `block_size` tokens, each ending in a newline."""
    random = SplitMix64(seed)
    next_id = 0
    prompts: list[list[int]] = []
    for _ in range(SYSTEM_PROMPTS):
        size = random.between(1, 4)
        prompts.append(list(range(next_id, next_id + size)))
        next_id += size
    chats: list[list[int]] = [[] for _ in range(CHATS_OPEN)]
    now_ms = 0
    for _ in range(rows):
        now_ms += _gap_ms(random)
        seat = random.below(CHATS_OPEN)
        if not chats[seat]:
            chats[seat] = list(prompts[min(random.below(SYSTEM_PROMPTS), random.below(SYSTEM_PROMPTS))])
        said = _said_blocks(random)
        blocks = [*chats[seat], *range(next_id, next_id + said)]
        next_id += said
        input_tokens = (len(blocks) - 1) * block_size + random.between(1, block_size)
        output_tokens = _output_tokens(random)
        ids = ", ".join(map(str, blocks))
        yield (
            f'{{"timestamp": {now_ms}, "input_length": {input_tokens}, '
            f'"output_length": {output_tokens}, "hash_ids": [{ids}]}}\n'
        ).encode("ascii")
        # the last block is rarely full, so the next turn of the chat shares only the blocks before it
        chats[seat] = [] if random.chance(1, 5) else blocks[:-1]


def _gap_ms(random: SplitMix64) -> int:
    """Bursts of arrivals within a few milliseconds, then a pause."""
    return random.between(0, 40) if random.chance(4, 5) else random.between(200, 2400)


def _said_blocks(random: SplitMix64) -> int:
    """Blocks a turn adds: mostly a few, one in twelve a document."""
    return random.between(16, 48) if random.chance(1, 12) else random.between(1, 6)


def _output_tokens(random: SplitMix64) -> int:
    """Answer length: many short, some long."""
    return random.between(200, 900) if random.chance(1, 4) else random.between(4, 200)
