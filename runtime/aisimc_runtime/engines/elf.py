"""The size of `.text` in a 64-bit little-endian ELF file, read from its section headers."""

from __future__ import annotations

import struct
from pathlib import Path


def text_size_bytes(path: Path) -> int | None:
    """Bytes of the `.text` section; None when the file is not such an ELF file or has no sections."""
    try:
        with path.open("rb") as stream:
            header = stream.read(64)
            if header[:6] != b"\x7fELF\x02\x01":
                return None
            (offset,) = struct.unpack_from("<Q", header, 40)
            entry, count, names = struct.unpack_from("<HHH", header, 58)
            if entry != 64 or names >= count:
                return None
            stream.seek(offset)
            table = stream.read(entry * count)
            sections = [struct.unpack_from("<II4QIIQQ", table, index * entry) for index in range(count)]
            stream.seek(sections[names][4])
            strings = stream.read(sections[names][5])
    except (OSError, struct.error):
        return None
    for section in sections:
        if strings[section[0] : strings.find(b"\0", section[0])] == b".text":
            return int(section[5])
    return None
