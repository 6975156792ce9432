"""What comes out of a wheel, and pip's many words as one line."""

from __future__ import annotations

import hashlib
import stat
import struct
import zipfile
from pathlib import Path

import pytest

from aisimc_runtime.engines.elf import text_size_bytes
from aisimc_runtime.engines.pip_errors import explain_pip
from aisimc_runtime.engines.unpack import unpack_runtime
from aisimc_runtime.engines.wheel import check_identity, unpacked
from aisimc_runtime.failures import Blocked
from aisimc_runtime.ports.processes import Finished
from aisimc_runtime.store.content import Store

REVISION = {
    "source": "wheel",
    "requirement": "aisimulate==1.0",
    "name": "aisimulate",
    "version": "1.0",
    "sha256": "a" * 64,
}
RUNTIME = b"\x7fELF-like bytes"
METADATA = b"Metadata-Version: 2.1\nName: aisimulate\nVersion: 1.0\n\nName: other\n"


def wheel(path: Path, members: dict[str, bytes], *, mode: int = 0o644) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in members.items():
            info = zipfile.ZipInfo(name)
            info.external_attr = mode << 16
            archive.writestr(info, data)
    return path


GOOD = {"aisimulate/_runtime.abi3.so": RUNTIME, "aisimulate-1.0.dist-info/METADATA": METADATA, "aisimulate/x.py": b""}


def test_the_runtime_alone_comes_into_the_store(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    sha256, member = unpack_runtime(wheel(tmp_path / "w.whl", GOOD), store, "w")
    assert member == "aisimulate/_runtime.abi3.so"
    assert store.checked(sha256).read_bytes() == RUNTIME
    assert len(list(store.entries())) == 1


@pytest.mark.parametrize(
    ("name", "mode", "words"),
    [
        ("../escape.py", 0o644, "outside its own folder"),
        ("/etc/escape", 0o644, "outside its own folder"),
        ("a/../../escape", 0o644, "outside its own folder"),
        ("a\\..\\escape", 0o644, "outside its own folder"),
        ("C:/escape", 0o644, "outside its own folder"),
        ("aisimulate/link", stat.S_IFLNK | 0o777, "symbolic link"),
    ],
)
def test_a_member_that_would_land_elsewhere_is_refused(tmp_path: Path, name: str, mode: int, words: str) -> None:
    store = Store(tmp_path / "store")
    bad = wheel(tmp_path / "w.whl", {name: b"x"}, mode=mode)
    with zipfile.ZipFile(bad, "a") as archive:
        archive.writestr("aisimulate/_runtime.abi3.so", RUNTIME)
    with pytest.raises(Blocked, match=words):
        unpack_runtime(bad, store, "w")
    assert list(store.entries()) == []


def test_a_wheel_without_a_runtime(tmp_path: Path) -> None:
    with pytest.raises(Blocked, match="no compiled runtime"):
        unpack_runtime(wheel(tmp_path / "w.whl", {"aisimulate/x.py": b""}), Store(tmp_path / "store"), "w")


def test_a_truncated_wheel(tmp_path: Path) -> None:
    path = wheel(tmp_path / "w.whl", GOOD)
    path.write_bytes(path.read_bytes()[:-30])
    with pytest.raises(Blocked, match="cannot be unpacked"):
        unpack_runtime(path, Store(tmp_path / "store"), "w")


def test_a_flipped_byte_in_the_runtime_is_found_by_its_checksum(tmp_path: Path) -> None:
    path = wheel(tmp_path / "w.whl", GOOD)
    data = path.read_bytes()
    path.write_bytes(data.replace(RUNTIME, RUNTIME[:-1] + b"X", 1))
    with pytest.raises(Blocked, match="cannot be unpacked"):
        unpack_runtime(path, Store(tmp_path / "store"), "w")


@pytest.mark.parametrize(("flag", "method"), [(0x1, 0), (0x0, 98)], ids=["encrypted", "unknown-compression"])
def test_a_wheel_that_no_python_can_read(tmp_path: Path, flag: int, method: int) -> None:
    path = wheel(tmp_path / "w.whl", GOOD)
    data = bytearray(path.read_bytes())
    for mark, at in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        start = data.find(mark)
        while start >= 0:
            data[start + at], data[start + at + 2] = flag, method
            start = data.find(mark, start + 1)
    path.write_bytes(data)
    with pytest.raises(Blocked, match="cannot be unpacked"):
        unpack_runtime(path, Store(tmp_path / "store"), "w")
    with pytest.raises(Blocked, match="is no wheel"):
        check_identity(path, REVISION)


def test_the_pinned_bytes_must_be_of_the_pinned_version(tmp_path: Path) -> None:
    path = wheel(tmp_path / "w.whl", GOOD)
    check_identity(path, REVISION)
    with pytest.raises(Blocked, match=r"are of aisimulate 1\.0") as caught:
        check_identity(path, REVISION | {"version": "1.1"})
    assert "aisimc pin --refresh" in caught.value.help and "`aisimulate==1.0`" in caught.value.help
    with pytest.raises(Blocked, match="are of"):
        check_identity(path, REVISION | {"name": "other"})
    path.write_bytes(b"no archive")
    with pytest.raises(Blocked, match="is no wheel") as caught:
        check_identity(path, REVISION)
    assert "aisimc pin --refresh" in caught.value.help


def test_a_runtime_is_unpacked_once_and_again_when_it_is_gone(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    path = wheel(tmp_path / "w.whl", GOOD)
    first = unpacked(path, REVISION, store)
    path.write_bytes(b"no wheel any more")
    assert unpacked(path, REVISION, store) == first  # remembered
    store.path(first).unlink()
    wheel(path, GOOD)
    assert unpacked(path, REVISION, store) == first == hashlib.sha256(RUNTIME).hexdigest()


def test_the_text_section_is_measured(tmp_path: Path) -> None:
    names = b"\0.text\0.shstrtab\0"
    sections = b"\0" * 64
    sections += struct.pack("<II4QIIQQ", 1, 1, 0, 0, 64, 1234, 0, 0, 0, 0)
    sections += struct.pack("<II4QIIQQ", 7, 3, 0, 0, 64, len(names), 0, 0, 0, 0)
    header = bytearray(64)
    header[:6] = b"\x7fELF\x02\x01"
    struct.pack_into("<Q", header, 40, 64 + len(names))
    struct.pack_into("<HHH", header, 58, 64, 3, 2)
    (tmp_path / "a.so").write_bytes(bytes(header) + names + sections)
    assert text_size_bytes(tmp_path / "a.so") == 1234
    (tmp_path / "b.so").write_bytes(b"not ELF")
    assert text_size_bytes(tmp_path / "b.so") is None


NONE = "ERROR: No matching distribution found for aisimulate==1.0\n"
PIP = {
    "hash": (
        f"ERROR: THESE PACKAGES DO NOT MATCH THE HASHES\n  Expected sha256 {'a' * 64}\n  Got        {'b' * 64}\n",
        "is not what was pinned: the index offers bbbb",
    ),
    "offline": (f"WARNING: Retrying after connection broken by 'NewConnectionError'\n{NONE}", "cannot be reached"),
    "version": (f"ERROR: Could not find a version that satisfies it\n{NONE}", "has no wheel aisimulate==1.0 for this"),
    "disk": ("ERROR: Could not install: [Errno 28] No space left on device\n", "no space left on device"),
    "other": ("line one\nERROR: something else\n", "something else"),
}


@pytest.mark.parametrize("case", PIP)
def test_pip_in_one_line(case: str) -> None:
    text, words = PIP[case]
    failure = explain_pip("aisimulate==1.0", "a" * 64, Finished(1, "", text))
    assert words in failure.message
    assert "\n" not in failure.message
    assert ("aisimc pin --refresh" in failure.help) is (case == "hash")


def test_a_bomb_is_refused_before_it_is_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("aisimc_runtime.engines.unpack.LARGEST_MEMBER_BYTES", 10)
    with pytest.raises(Blocked, match="holds a file of"):
        unpack_runtime(wheel(tmp_path / "w.whl", GOOD), Store(tmp_path / "store"), "w")
