"""Versions come from two lock files and from nowhere else."""

from __future__ import annotations

import tomllib

from aisimc_runtime.engines.lockfile import packages, strangers, union

REGISTRY = "registry+https://example.org/index"


def lock(*entries: tuple[str, str], local: str = "") -> bytes:
    text = "# generated\nversion = 4\n\n"
    if local:
        text += f'[[package]]\nname = "{local}"\nversion = "0.1.0"\ndependencies = [\n "serde",\n]\n\n'
    for name, version in entries:
        text += f'[[package]]\nname = "{name}"\nversion = "{version}"\n'
        text += f'source = "{REGISTRY}"\nchecksum = "{name}{version}"\n\n'
    return text.rstrip("\n").encode() + b"\n"


def names(data: bytes) -> list[str]:
    return sorted(f"{entry['name']} {entry['version']}" for entry in tomllib.loads(data.decode())["package"])


def test_the_revision_wins_where_both_lock_a_compatible_version() -> None:
    revision = lock(("serde", "1.0.200"), ("uuid", "1.5.0"), ("rand", "0.8.5"), local="core")
    runner = lock(("serde", "1.0.228"), ("sha2", "0.10.9"), ("rand", "0.9.1"), local="runner")
    assert names(union(revision, runner)) == ["rand 0.8.5", "rand 0.9.1", "serde 1.0.200", "sha2 0.10.9", "uuid 1.5.0"]


def test_folders_are_no_locked_packages() -> None:
    assert {entry.name for entry in packages(lock(("serde", "1.0.0"), local="core"))} == {"serde"}


def test_strangers_are_versions_or_checksums_that_no_lock_holds() -> None:
    allowed = [lock(("serde", "1.0.200")), lock(("sha2", "0.10.9"))]
    assert strangers(lock(("serde", "1.0.200"), ("sha2", "0.10.9"), local="runner"), allowed) == []
    assert strangers(lock(("serde", "1.0.201")), allowed) == ["serde 1.0.201"]
    forged = lock(("serde", "1.0.200")).replace(b'checksum = "serde1.0.200"', b'checksum = "other"')
    assert strangers(forged, allowed) == ["serde 1.0.200"]


def test_zero_versions_are_compatible_within_their_first_other_number() -> None:
    runner = lock(("a", "0.2.9"), ("b", "0.0.3"))
    assert names(union(lock(("a", "0.2.1"), ("b", "0.0.2")), runner)) == ["a 0.2.1", "b 0.0.2", "b 0.0.3"]
