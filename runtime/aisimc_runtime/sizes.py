"""Numbers of bytes as people read them."""

from __future__ import annotations


def in_units(size_bytes: int) -> str:
    """`20 MiB`, `1.5 GiB`, `512 B`: in binary units, one decimal where it says something."""
    value, unit = float(size_bytes), "B"
    for larger in ("KiB", "MiB", "GiB", "TiB"):
        if value < 1024:
            break
        value, unit = value / 1024, larger
    return f"{value:,.1f}".removesuffix(".0") + f" {unit}"
