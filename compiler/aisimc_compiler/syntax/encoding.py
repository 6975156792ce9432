"""What is said of a campaign whose bytes are no UTF-8 text.

Only imported when something is wrong.
"""

from __future__ import annotations

from aisimc_compiler.diagnostics.model import Diagnostic
from aisimc_compiler.rules.refusal import refuse
from aisimc_compiler.source import Source, Span

_MARKS = {b"\xff\xfe": "UTF-16", b"\xfe\xff": "UTF-16", b"\x1f\x8b": "a compressed file", b"\x89P": "a picture"}


def not_utf8(data: bytes, name: str) -> Diagnostic:
    """`syntax`: the first byte that begins no character. `data` must have one."""
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        before = data[: error.start].decode("utf-8")
    else:
        raise ValueError(f"{name} is UTF-8 text")
    source = Source(name, data.decode("utf-8", "replace"))
    looks_like = _MARKS.get(data[:2])
    return refuse(
        "syntax",
        Span(source, len(before), len(before) + 1),
        f"the byte 0x{data[len(before.encode())]:02x} begins no character of UTF-8",
        label="not UTF-8 text",
        help=f"this looks like {looks_like}; a campaign is UTF-8 text" if looks_like else "save the file as UTF-8",
    )
