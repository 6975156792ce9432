"""Reading files: each way in which that can go wrong, in one clause."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from aisimc_compiler.api import check_file
from aisimc_compiler.loading import Loader, Unreadable, decode, read_bytes
from aisimc_compiler.source import Source


def test_missing_folder_and_pipe(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "loop").symlink_to("loop")
    reasons = {
        name: read_bytes(str(tmp_path / name), name) for name in ("none", ".", "pipe", "loop", "bad\0name", "x" * 5000)
    }
    assert all(isinstance(found, Unreadable) for found in reasons.values())
    assert {name: found.reason for name, found in reasons.items() if isinstance(found, Unreadable)} == {
        "none": "there is no such file",
        ".": "it is a folder",
        "pipe": "it is not a regular file",
        "loop": "too many levels of symbolic links",
        "bad\0name": "its name is not a file name",
        "x" * 5000: "file name too long",
    }


def test_bytes_that_are_no_utf8() -> None:
    found = decode(b"row x {\n  a = \xff\n}", "x")
    assert isinstance(found, Unreadable)
    assert "0xff at offset 14 (line 2)" in found.reason


def test_line_ends_are_kept() -> None:
    found = decode(b"a = 1\r\n", "x")
    assert isinstance(found, Source)
    assert found.text == "a = 1\r\n"


def test_a_file_is_read_once(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("one")
    loader = Loader(str(tmp_path))
    first = loader.source("a")
    (tmp_path / "a").write_text("two")
    assert loader.source("a") is first
    assert loader.data("a") == b"one"
    assert list(loader.sources) == ["a"]


def test_check_file_says_why_a_file_cannot_be_read(tmp_path: Path) -> None:
    result = check_file(tmp_path / "none.campaign")
    assert not result.ok
    assert result.unreadable == Unreadable(str(tmp_path / "none.campaign"), "there is no such file", absent=True)


def test_a_file_without_permission(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("x")
    (tmp_path / "a").chmod(0)
    root = os.geteuid() == 0  # may read everything, so somebody else reads
    try:
        if root:
            os.seteuid(65534)
        found = read_bytes(str(tmp_path / "a"), "a")
    finally:
        if root:
            os.seteuid(0)
    assert isinstance(found, Unreadable)
    assert found.reason == "permission denied"


@pytest.mark.parametrize("path", ["\ud800.campaign", "a\\u0000b", "x" * 5000])
def test_imports_that_no_file_system_can_have(path: str) -> None:
    from aisimc_compiler.api import check_text

    result = check_text(f'import "{path}"\n', "x.campaign")
    assert [d.rule for d in result.diagnostics] == ["import.path"]
