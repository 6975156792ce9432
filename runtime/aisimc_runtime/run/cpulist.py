"""CPU numbers as the kernel and people write them."""

from __future__ import annotations


def parse_cpus(value: str | list[int]) -> tuple[int, ...]:
    """`0-3,8` or a list of CPU numbers, sorted and without repeats. Raises `ValueError` for other text."""
    if isinstance(value, list):
        return tuple(sorted(set(value)))
    numbers: set[int] = set()
    for part in value.split(","):
        first, _, last = part.strip().partition("-")
        numbers.update(range(int(first), int(last or first) + 1))
    return tuple(sorted(numbers))
