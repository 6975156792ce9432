"""Numbers of bytes and points in virtual time as people read them."""

from __future__ import annotations


def in_units(size_bytes: int) -> str:
    """`20 MiB`, `1.5 GiB`, `512 B`: in binary units, one decimal where it says something."""
    value, unit = float(size_bytes), "B"
    for larger in ("KiB", "MiB", "GiB", "TiB"):
        if value < 1024:
            break
        value, unit = value / 1024, larger
    return f"{value:,.1f}".removesuffix(".0") + f" {unit}"


def in_ms(value: float) -> str:
    """`1,599,087.637`: virtual milliseconds, thousands parted, three decimals; the unit is the caller's to say."""
    return f"{value:,.3f}"


def signed(value: float) -> str:
    """`-3,175`, `+0.25`, `+1e-09`: a change with its sign, thousands parted, at most three decimals."""
    text = f"{value:+,.3f}".rstrip("0").rstrip(".")
    return text if text[1:] != "0" or value == 0 else f"{value:+.3g}"
