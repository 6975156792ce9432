"""Exact commits come in, and exactly their bytes come out, whatever the repository or the user configured."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from aisimc_runtime.engines.git import Mirror, outside_links
from aisimc_runtime.failures import Blocked
from aisimc_runtime.ports.processes import Processes
from aisimc_runtime.store.content import Store


class Origin:
    """A repository made by the test, with its own nasty configuration where a test wants it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir()
        self.git("init", "--quiet", "--initial-branch=main")

    def git(self, *arguments: str) -> str:
        names = {
            f"GIT_{role}_{part}": "x@example.org" for role in ("AUTHOR", "COMMITTER") for part in ("NAME", "EMAIL")
        }
        env = os.environ | names | {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1"}
        done = subprocess.run(["git", *arguments], cwd=self.folder, env=env, capture_output=True, text=True, check=True)
        return done.stdout.strip()

    def commit(self, **files: str) -> str:
        for name, text in files.items():
            path = self.folder / name.replace("__", "/").replace("_dot_", ".")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text.encode())
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", "x")
        return self.git("rev-parse", "HEAD")

    @property
    def url(self) -> str:
        return f"file://{self.folder}"


@pytest.fixture
def origin(tmp_path: Path) -> Origin:
    return Origin(tmp_path / "origin")


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "store")


def mirror_of(origin: Origin, store: Store) -> Mirror:
    return Mirror.of(store, origin.url, Processes())


def test_a_commit_is_fetched_and_checked_out_byte_for_byte(origin: Origin, store: Store, tmp_path: Path) -> None:
    first = origin.commit(a="1\n")
    origin.commit(a="2\n")
    mirror = mirror_of(origin, store)
    assert not mirror.has(first)
    mirror.fetch(first)
    assert mirror.has(first)
    mirror.worktree(first, tmp_path / "tree")
    assert (tmp_path / "tree" / "a").read_bytes() == b"1\n"


def test_the_original_repository_is_left_as_it_was(origin: Origin, store: Store, tmp_path: Path) -> None:
    commit = origin.commit(a="1\n")
    before = {path: path.stat().st_mtime_ns for path in origin.folder.rglob("*") if path.is_file()}
    mirror = mirror_of(origin, store)
    mirror.fetch(commit)
    mirror.worktree(commit, tmp_path / "tree")
    assert {path: path.stat().st_mtime_ns for path in origin.folder.rglob("*") if path.is_file()} == before
    assert origin.git("worktree", "list").count("\n") == 0


def test_a_commit_that_is_not_there_is_named(origin: Origin, store: Store) -> None:
    origin.commit(a="1\n")
    with pytest.raises(Blocked, match=r"does not give commit 0123456789ab"):
        mirror_of(origin, store).fetch("0123456789abcdef" * 2 + "01234567")


def test_a_repository_that_cannot_be_reached_is_named(store: Store, tmp_path: Path) -> None:
    mirror = Mirror.of(store, f"file://{tmp_path}/nowhere", Processes())
    with pytest.raises(Blocked, match="nowhere") as caught:
        mirror.fetch("a" * 40)
    assert "\n" not in caught.value.message


def test_ancestry_is_read_from_history(origin: Origin, store: Store) -> None:
    first = origin.commit(a="1\n")
    second = origin.commit(a="2\n")
    origin.git("checkout", "--quiet", "-b", "side", first)
    side = origin.commit(a="3\n")
    mirror = mirror_of(origin, store)
    for commit in (first, second, side):
        mirror.fetch(commit)
    assert mirror.is_ancestor(first, second)
    assert not mirror.is_ancestor(second, first)
    assert not mirror.is_ancestor(second, side)


def test_attributes_and_filters_of_a_commit_change_nothing(
    origin: Origin, store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "$Id$\nline\n"
    commit = origin.commit(_dot_gitattributes="* text eol=crlf ident filter=shout\n", a=text)
    blob = origin.git("cat-file", "blob", f"{commit}:a") + "\n"
    home = tmp_path / "home"
    home.mkdir()
    (home / ".gitconfig").write_text(
        f'[filter "shout"]\n\tsmudge = "tee {tmp_path}/smudged | tr a-z A-Z"\n\trequired = true\n'
        f"[core]\n\thooksPath = {home}/hooks\n\tautocrlf = true\n"
    )
    (home / "hooks").mkdir()
    (home / "hooks" / "post-checkout").write_text(f"#!/bin/sh\ntouch {tmp_path}/hooked\n")
    (home / "hooks" / "post-checkout").chmod(0o755)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "core.autocrlf")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", "true")
    mirror = mirror_of(origin, store)
    mirror.fetch(commit)
    mirror.worktree(commit, tmp_path / "tree")
    assert (tmp_path / "tree" / "a").read_bytes() == blob.encode()
    assert not (tmp_path / "smudged").exists()
    assert not (tmp_path / "hooked").exists()


def test_a_worktree_left_by_an_interrupted_run_is_replaced(origin: Origin, store: Store, tmp_path: Path) -> None:
    commit = origin.commit(a="1\n")
    mirror = mirror_of(origin, store)
    mirror.fetch(commit)
    for _ in range(2):
        mirror.worktree(commit, tmp_path / "tree")
        (tmp_path / "tree" / "left-over").write_text("x")
    mirror.worktree(commit, tmp_path / "tree")
    assert not (tmp_path / "tree" / "left-over").exists()


def test_links_that_lead_out_of_a_worktree_are_found(tmp_path: Path) -> None:
    (tmp_path / "inside").mkdir()
    (tmp_path / "good").symlink_to("inside")
    (tmp_path / "inside" / "bad").symlink_to("/etc")
    assert outside_links(tmp_path) == ["inside/bad"]
