"""The shipped Rust sources: what is hashed, and that it is what is built."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from aisimc_runtime.engines import builds, sources
from aisimc_runtime.failures import Blocked


def test_the_digest_frames_paths_and_contents_with_eight_byte_lengths() -> None:
    files = {"src/b.rs": b"B", "src/a.rs": b"", "Cargo.toml": b"[package]"}
    expected = hashlib.sha256()
    for name in ("Cargo.toml", "src/a.rs", "src/b.rs"):
        for part in (name.encode(), files[name]):
            expected.update(len(part).to_bytes(8, "big") + part)
    assert sources.tree_sha256(files) == expected.hexdigest()


def test_moving_a_byte_between_path_and_content_changes_the_digest() -> None:
    assert sources.tree_sha256({"ab": b"c"}) != sources.tree_sha256({"a": b"bc"})


def test_only_what_is_built_is_hashed(tmp_path: Path) -> None:
    for name in (
        "Cargo.toml", "build.rs", "README.md", "src/lib.rs", "src/.lib.rs.swp", "src/lib.rs~", "src/x/mod.rs",
        "target/debug/x", "tests/t.rs", "benches/b.rs", ".git/config",
    ):  # fmt: skip
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(b"x")
    assert sorted(sources.package_files(tmp_path)) == ["Cargo.toml", "build.rs", "src/lib.rs", "src/x/mod.rs"]


def test_a_link_among_the_sources_is_refused(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "lib.rs").symlink_to("/etc/hostname")
    with pytest.raises(Blocked, match="not a regular file"):
        sources.package_files(tmp_path)


def test_the_runner_is_pointed_at_a_core_by_one_line() -> None:
    files = sources.runner_files()
    moved = sources.pointed_at(files["Cargo.toml"], "checkout/crates/core")
    assert b'aisimulate-core = { path = "checkout/crates/core" }' in moved
    assert moved.count(b"\n") == files["Cargo.toml"].count(b"\n")
    with pytest.raises(Blocked):
        sources.pointed_at(moved, "core")


def test_the_runners_checksum_starts_with_manifest_and_lock() -> None:
    files = {"src/main.rs": b"fn main() {}", "Cargo.lock": b"L", "Cargo.toml": b"M"}
    expected = hashlib.sha256()
    for name in ("Cargo.toml", "Cargo.lock", "src/main.rs"):
        for part in (name.encode(), files[name]):
            expected.update(len(part).to_bytes(8, "big") + part)
    assert sources.runner_sha256(files) == expected.hexdigest()


def test_another_core_does_not_ship() -> None:
    with pytest.raises(Blocked, match="no embedded engine is called 'other'"):
        sources.sources_sha256("other")


@pytest.mark.parametrize(
    ("revision", "patch", "shown"),
    [
        ("c" * 40, None, "c" * 40),
        (f"core@{'5' * 64}", None, "core@555555555555…"),
        (
            f"core@{'5' * 64}+{'6' * 64}",
            {"file": "patches/a.patch", "sha256": "6" * 64},
            "core@555555555555… with patch patches/a.patch (666666666666…)",
        ),
    ],
)
def test_a_build_is_named_by_its_revision_and_patch(
    tmp_path: Path, revision: str, patch: dict[str, str] | None, shown: str
) -> None:
    made = builds.Prepared("candidate", "embedded", revision, tmp_path, "core", {}, {}, patch=patch)
    assert made.shown == shown
