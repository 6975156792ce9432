"""Numbers of bytes in words."""

from __future__ import annotations

import pytest

from aisimc_runtime.sizes import in_units


@pytest.mark.parametrize(
    ("size_bytes", "words"),
    [
        (0, "0 B"),
        (1023, "1,023 B"),
        (1024, "1 KiB"),
        (20_971_520, "20 MiB"),
        (16_180_520, "15.4 MiB"),
        (8 * 2**30, "8 GiB"),
        (5000 * 2**40, "5,000 TiB"),
    ],
)
def test_bytes_are_told_in_units(size_bytes: int, words: str) -> None:
    assert in_units(size_bytes) == words
