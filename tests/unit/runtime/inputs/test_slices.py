"""One read of a file gives its hash, its rows and the bytes of any contiguous window."""

from __future__ import annotations

import hashlib
import io
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aisimc_runtime.inputs import slices
from aisimc_runtime.inputs.locate import count_rows
from aisimc_runtime.inputs.slices import cut

LINES = st.lists(st.binary(min_size=1, max_size=40).map(lambda b: b.replace(b"\n", b"x")), max_size=30)


@settings(max_examples=200, deadline=None)
@given(lines=LINES, start=st.integers(0, 35), rows=st.integers(1, 35), chunk=st.integers(1, 64), newline=st.booleans())
def test_a_window_is_those_lines_whatever_the_chunks(
    tmp_path_factory: pytest.TempPathFactory, lines: list[bytes], start: int, rows: int, chunk: int, newline: bool
) -> None:
    data = b"\n".join(lines) + (b"\n" if newline and lines else b"")
    path = tmp_path_factory.mktemp("cut") / "trace"
    path.write_bytes(data)
    sink = io.BytesIO()
    before = slices.CHUNK_BYTES
    slices.CHUNK_BYTES = chunk
    try:
        found = cut(path, start, rows, sink)
    finally:
        slices.CHUNK_BYTES = before
    whole = _split(data)
    wanted = b"".join(whole[start : start + rows])
    assert sink.getvalue() == wanted
    assert found.sha256 == hashlib.sha256(data).hexdigest()
    assert found.slice_sha256 == hashlib.sha256(wanted).hexdigest()
    assert found.rows == len(whole) == count_rows(path)
    assert found.slice_rows == len(whole[start : start + rows])
    assert found.blank_line is None


def _split(data: bytes) -> list[bytes]:
    """Lines by `\\n` alone, as a trace reader has them."""
    parts = data.split(b"\n")
    lines = [part + b"\n" for part in parts[:-1]]
    return lines + ([parts[-1]] if parts[-1] else [])


@pytest.mark.parametrize(("data", "line"), [(b"\na\n", 1), (b"a\n\nb\n", 2), (b"a\nb\n\n", 3), (b"a\nb\n", None)])
@pytest.mark.parametrize("chunk", [1, 2, 3, 100])
def test_an_empty_line_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, data: bytes, line: int | None, chunk: int
) -> None:
    monkeypatch.setattr(slices, "CHUNK_BYTES", chunk)
    (tmp_path / "trace").write_bytes(data)
    assert cut(tmp_path / "trace", 0, 1).blank_line == line
