"""A Mooncake trace made from a seed, for machines that can reach no trace repository.

Only integers are used, so that a seed gives the same bytes on every machine and Python version. The form of the
trace is fixed for good under the name `mooncake-v1`; another form would get another name.

The traffic is chats: a few system prompts shared by many chats, chats of several turns whose prompts grow by what
was said before, now and then a long document; arrivals come in bursts, so that a few hundred rows fill a
scheduler's queues and press its cache.
"""

from __future__ import annotations

from collections.abc import Iterator

from aisimc_compiler.splitmix import SplitMix64

SYSTEM_PROMPTS = 6
CHATS_OPEN = 48
"""Chats that go on at once; a new one takes the place of one that ended."""


class Draws(SplitMix64):
    """Draws as the form `mooncake-v1` has them."""

    __slots__ = ()

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
    random = Draws(seed)
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


def _gap_ms(random: Draws) -> int:
    """Bursts of arrivals within a few milliseconds, then a pause."""
    return random.between(0, 40) if random.chance(4, 5) else random.between(200, 2400)


def _said_blocks(random: Draws) -> int:
    """Blocks a turn adds: mostly a few, one in twelve a document."""
    return random.between(16, 48) if random.chance(1, 12) else random.between(1, 6)


def _output_tokens(random: Draws) -> int:
    """Answer length: many short, some long."""
    return random.between(200, 900) if random.chance(1, 4) else random.between(4, 200)
