"""Artifacts from real builds: the shipped core, patched copies of it, and commits of a repository made here."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from aisimc_runtime.engines.base import Artifact, EngineContext
from aisimc_runtime.engines.checkout import CheckoutEngine, verify_ancestry
from aisimc_runtime.engines.embedded import EmbeddedEngine, sources_sha256
from aisimc_runtime.failures import Blocked
from aisimc_runtime.ports.files import sha256_bytes, sha256_file
from aisimc_runtime.ports.processes import Processes
from aisimc_runtime.store.content import Store
from tests.campaigns.origin import Repository, core_files, workspace_files

pytestmark = [pytest.mark.cargo, pytest.mark.slow]

# How builds are put together is tested here, not what the optimiser makes of them: without it they take a third of the
# time. The campaigns of `test_checkout_campaign.py` build as users do.
BUILD = {"toolchain": "system", "profile": "release", "features": [], "rustflags": ["-Copt-level=0"], "locked": True}
LIB = "src/lib.rs"


def no_file(name: str, sha256: str) -> Path:
    raise AssertionError(f"no patch should be looked for, {name} was")


@pytest.fixture(scope="module")
def said() -> list[str]:
    return []


@pytest.fixture(scope="module")
def context(tmp_path_factory: pytest.TempPathFactory, said: list[str]) -> EngineContext:
    """One store and one scratch folder for all tests here, so that common dependencies compile once."""
    top = tmp_path_factory.mktemp("builds")
    (top / "scratch").mkdir()
    return EngineContext(
        store=Store(top / "store"),
        processes=Processes(),
        scratch=top / "scratch",
        build=BUILD,
        corrections=[],
        find_file=no_file,
        say=said.append,
    )


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    return Repository(tmp_path_factory.mktemp("origin") / "aisimulate")


@pytest.fixture(scope="module")
def first(repository: Repository) -> str:
    return repository.commit({**workspace_files(), **core_files()}, "The core")


@pytest.fixture(scope="module")
def second(repository: Repository, first: str) -> str:
    lib = core_files("")[LIB] + b"\n/// Only there to make another commit.\npub const SECOND: u32 = 2;\n"
    return repository.commit({f"crates/core/{LIB}": lib}, "One line more")


def embedded(patch: dict[str, str] | None = None) -> dict[str, Any]:
    return {"source": "embedded", "core": "reference-core", "sha256": sources_sha256("reference-core"), "patch": patch}


def build_embedded(context: EngineContext, arm: str = "baseline", patch: dict[str, str] | None = None) -> Artifact:
    engine = EmbeddedEngine()
    return engine.build(arm, engine.acquire(arm, embedded(patch), context), context)


def build_commit(context: EngineContext, repository: Repository, commit: str, arm: str = "baseline") -> Artifact:
    engine = CheckoutEngine()
    revision = {"source": "checkout", "repository": repository.url, "commit": commit}
    return engine.build(arm, engine.acquire(arm, revision, context), context)


def patch_of(tmp_path: Path, text: bytes) -> tuple[dict[str, str], Callable[[str, str], Path]]:
    """A patch file, as a plan names it and as the runtime finds it."""
    path = tmp_path / "change.patch"
    path.write_bytes(text)
    return {"file": "change.patch", "sha256": sha256_bytes(text)}, lambda name, sha256: path


def added_line(line: bytes) -> bytes:
    """A patch that appends a line to the core's `lib.rs`."""
    lines = core_files("")[LIB].split(b"\n")[:-1]
    header = f"--- a/{LIB}\n+++ b/{LIB}\n@@ -{len(lines)} +{len(lines)},2 @@\n".encode()
    return header + b" " + lines[-1] + b"\n+" + line + b"\n"


def test_the_shipped_core_gives_an_artifact_that_knows_what_it_is(context: EngineContext) -> None:
    artifact = build_embedded(context)
    assert artifact.sha256 == sha256_file(artifact.path)
    assert artifact.size_bytes == artifact.path.stat().st_size
    assert artifact.text_size_bytes is not None
    assert 100_000 < artifact.text_size_bytes < artifact.size_bytes
    described = EmbeddedEngine().describe(artifact, context)
    assert described["revision"] == artifact.revision == f"reference-core@{sources_sha256('reference-core')}"
    assert described["exposes_replay_execution_ms"] is True
    assert described["exclusions"][0] == "/summary/wall_time_ms"
    assert Artifact.from_json(json.loads(json.dumps(artifact.to_json()))) == artifact


def test_an_equal_build_is_taken_from_the_store(context: EngineContext, said: list[str]) -> None:
    before = build_embedded(context)
    said.clear()
    again = build_embedded(context, "candidate")
    assert again.sha256 == before.sha256
    assert any("the store has this build" in line for line in said)


def test_an_artifact_that_was_changed_in_the_store_is_built_again(context: EngineContext) -> None:
    before = build_embedded(context)
    before.path.chmod(0o755)
    before.path.write_bytes(b"#!/bin/sh\n")
    again = build_embedded(context)
    assert again.sha256 == before.sha256 == sha256_file(again.path)


def test_another_digest_of_the_sources_is_blocked(context: EngineContext) -> None:
    with pytest.raises(Blocked, match="the sources here are"):
        EmbeddedEngine().acquire("baseline", {**embedded(), "sha256": "0" * 64}, context)


def test_a_patched_copy_is_another_artifact_and_leaves_the_shipped_sources_alone(
    context: EngineContext, tmp_path: Path
) -> None:
    patch, find_file = patch_of(tmp_path, added_line(b"pub const PATCHED: u32 = 1;"))
    before = sources_sha256("reference-core")
    artifact = build_embedded(replace(context, find_file=find_file), "candidate", patch)
    assert artifact.revision == f"reference-core@{before}+{patch['sha256']}"
    assert EmbeddedEngine().describe(artifact, context)["revision"] == artifact.revision
    assert sources_sha256("reference-core") == before


def test_a_patch_that_does_not_compile_is_one_line_with_its_place(context: EngineContext, tmp_path: Path) -> None:
    patch, find_file = patch_of(tmp_path, added_line(b'pub const PATCHED: u32 = "no number";'))
    with pytest.raises(Blocked, match=r"core/src/lib\.rs:\d+:\d+: error\[E0308\]: mismatched types") as caught:
        build_embedded(replace(context, find_file=find_file), "candidate", patch)
    assert "build-candidate.log" in caught.value.help


def test_a_patch_that_does_not_apply_is_one_line(context: EngineContext, tmp_path: Path) -> None:
    patch, find_file = patch_of(tmp_path, b"--- a/src/lib.rs\n+++ b/src/lib.rs\n@@ -1 +1 @@\n-no such line\n+x\n")
    with pytest.raises(Blocked, match=r"the patch change\.patch does not apply: src/lib\.rs: the hunk"):
        build_embedded(replace(context, find_file=find_file), "candidate", patch)


def test_two_commits_are_built_alike(context: EngineContext, repository: Repository, first: str, second: str) -> None:
    engine = CheckoutEngine()
    baseline, candidate = (build_commit(context, repository, commit) for commit in (first, second))
    assert (baseline.revision, candidate.revision) == (first, second)
    assert baseline.runner_source_sha256 == candidate.runner_source_sha256
    assert baseline.toolchain == candidate.toolchain
    assert engine.describe(candidate, context)["revision"] == second
    revisions = [{"repository": repository.url, "commit": commit} for commit in (first, second)]
    verify_ancestry(revisions[0], revisions[1], context)
    with pytest.raises(Blocked, match="is an ancestor of"):
        verify_ancestry(revisions[1], revisions[0], context)


def test_a_correction_is_applied_and_its_checksum_recorded(
    context: EngineContext, repository: Repository, first: str, tmp_path: Path
) -> None:
    text = (
        added_line(b"pub const CORRECTED: u32 = 1;")
        .replace(b" a/", b" a/crates/core/")
        .replace(b" b/", b" b/crates/core/")
    )
    patch, find_file = patch_of(tmp_path, text)
    correction = {"name": "one-line", "kind": "patch", **patch}
    artifact = build_commit(replace(context, corrections=[correction], find_file=find_file), repository, first)
    assert artifact.corrections == ({"name": "one-line", "sha256": patch["sha256"]},)
    assert artifact.checkout is not None
    assert b"CORRECTED" in (artifact.checkout / "crates" / "core" / LIB).read_bytes()
    assert "CORRECTED" not in repository.git("show", f"{first}:crates/core/{LIB}")


def test_a_commit_without_a_core_is_blocked(context: EngineContext, tmp_path: Path) -> None:
    empty = Repository(tmp_path / "empty")
    commit = empty.commit({"README": b"no core\n"})
    with pytest.raises(Blocked, match=r"has no crates/core/Cargo\.toml"):
        build_commit(context, empty, commit)


def test_a_lock_file_that_does_not_fit_is_blocked(context: EngineContext, tmp_path: Path) -> None:
    files = {**workspace_files(), **core_files()}
    manifest = files["crates/core/Cargo.toml"]
    # A dependency that some lock files of this project know, but neither of the two that may be used here.
    files["crates/core/Cargo.toml"] = manifest.replace(b"[dependencies]\n", b'[dependencies]\nadler2 = "2"\n')
    other = Repository(tmp_path / "other")
    with pytest.raises(
        Blocked, match=r"does not fit its core: it does not hold adler2 2|crates it needs are not in cargo"
    ):
        build_commit(context, other, other.commit(files))


def test_a_toolchain_that_is_not_there_is_blocked(context: EngineContext) -> None:
    with pytest.raises(Blocked, match=r"the Rust toolchain 1\.60\.0 cannot be used|rustup is not installed"):
        build_embedded(replace(context, build={**BUILD, "toolchain": "1.60.0"}))


def other_toolchain() -> str:
    """An installed toolchain that is named by its version, as campaigns name one; skips where there is none."""
    try:
        listed = subprocess.run(["rustup", "toolchain", "list"], capture_output=True, text=True, check=True).stdout
    except (FileNotFoundError, subprocess.CalledProcessError):
        pytest.skip("rustup is not installed, so no toolchain can be chosen by its version")
    for line in listed.splitlines():
        if found := re.match(r"(\d+\.\d+\.\d+)-", line):
            return found[1]
    pytest.skip("rustup has no toolchain named by a version; `rustup toolchain install 1.95.0` adds one")


def test_a_named_toolchain_builds_through_rustup(context: EngineContext, tmp_path: Path) -> None:
    name = other_toolchain()
    # A store of its own: where the system's Rust is the same version, the build would be taken from the common one.
    elsewhere = replace(context, store=Store(tmp_path / "store"), build={**BUILD, "toolchain": name})
    artifact = build_embedded(elsewhere)
    assert artifact.toolchain is not None
    assert artifact.toolchain["release"] == name
    assert artifact.toolchain["cargo"].startswith(f"cargo {name} ")
    assert EmbeddedEngine().describe(artifact, elsewhere)["revision"] == artifact.revision
    log = (context.scratch / "build-baseline.log").read_text("utf-8")
    assert f"$ rustup run {name} cargo build " in log
    system = build_embedded(context)
    assert system.toolchain is not None
    same = system.toolchain == artifact.toolchain
    assert (system.sha256 == artifact.sha256) == same, "one compiler gives one artifact, another gives another"


def test_a_feature_that_the_core_has_not_is_blocked(context: EngineContext) -> None:
    with pytest.raises(Blocked, match="the core has no such feature"):
        build_embedded(replace(context, build={**BUILD, "features": ["no-such-feature"]}))


def test_flags_from_the_environment_do_not_reach_the_build(
    context: EngineContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = build_embedded(context).sha256
    monkeypatch.setenv("RUSTFLAGS", "--cfg never-declared -C no-such-option")
    monkeypatch.setenv("CARGO_TARGET_DIR", "/nonexistent")
    monkeypatch.setenv("CARGO_PROFILE_RELEASE_OPT_LEVEL", "0")
    monkeypatch.setenv("RUSTC_WRAPPER", "/nonexistent/wrapper")
    for entry in (context.store.root / "builds").glob("*.json"):
        entry.unlink()
    assert build_embedded(context).sha256 == before


def test_the_artifact_runs_without_any_environment(context: EngineContext) -> None:
    artifact = build_embedded(context)
    done = subprocess.run([artifact.path, "--describe"], env={}, capture_output=True, check=True)
    assert json.loads(done.stdout)["contract"] == 1
