"""The content store: what comes in is whole, read-only and named by its bytes."""

from __future__ import annotations

import hashlib
import io
import json
import multiprocessing
import os
import stat
import time
from pathlib import Path

import pytest

from aisimc_runtime.failures import Blocked, Refused
from aisimc_runtime.store import upkeep
from aisimc_runtime.store.content import Store, open_store
from aisimc_runtime.store.known_runs import known, remember
from aisimc_runtime.store.mirrors import mirror_path, unneeded_mirrors

DATA = b"some bytes\n" * 1000
DIGEST = hashlib.sha256(DATA).hexdigest()


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "store")


def flip(path: Path, offset: int = 5) -> None:
    """Change one bit of a read-only file."""
    path.chmod(0o644)
    data = bytearray(path.read_bytes())
    data[offset] ^= 1
    path.write_bytes(data)
    path.chmod(0o444)


def test_what_comes_in_is_found_by_its_digest_and_cannot_be_written(store: Store) -> None:
    assert store.add_bytes(DATA, kind="input", name="a.jsonl") == DIGEST
    path = store.checked(DIGEST)
    assert path.read_bytes() == DATA
    assert stat.S_IMODE(path.stat().st_mode) == 0o444
    assert [(e.sha256, e.size_bytes, e.kind, e.name) for e in store.entries()] == [
        (DIGEST, len(DATA), "input", "a.jsonl")
    ]


def test_bytes_that_are_not_the_expected_ones_are_not_kept(store: Store) -> None:
    with pytest.raises(Blocked, match="not to the pinned"):
        store.add_stream(io.BytesIO(DATA), name="x", expected="0" * 64)
    assert not store.has(DIGEST)
    assert list((store.root / "tmp").iterdir()) == []


def test_one_flipped_bit_is_found_before_use(store: Store) -> None:
    store.add_bytes(DATA, kind="runtime", name="_runtime.so")
    flip(store.path(DIGEST))
    with pytest.raises(Blocked, match="has changed") as caught:
        store.checked(DIGEST)
    assert "verify" in caught.value.help


def test_a_vanished_object_is_one_clear_line(store: Store) -> None:
    with pytest.raises(Blocked, match="no longer has"):
        store.checked(DIGEST)


def test_verify_finds_the_damaged_one_and_changes_nothing(store: Store) -> None:
    other = store.add_bytes(b"other")
    store.add_bytes(DATA)
    flip(store.path(DIGEST))
    damaged = [problem for _, problem in upkeep.verify(store) if problem is not None]
    assert [problem.entry.sha256 for problem in damaged] == [DIGEST]
    assert store.has(DIGEST)
    assert store.has(other)


def test_quarantine_puts_the_damaged_one_where_nothing_uses_it(store: Store) -> None:
    store.add_bytes(DATA)
    flip(store.path(DIGEST))
    aside = upkeep.quarantine(store, DIGEST)
    assert not store.has(DIGEST)
    assert aside.is_file()
    assert store.add_bytes(DATA) == DIGEST  # and it can come in again
    assert store.checked(DIGEST).read_bytes() == DATA


def _add_many(root: Path, count: int) -> None:
    store = Store(root)
    for _ in range(count):
        store.add_bytes(DATA)


def test_many_writers_of_the_same_bytes_do_not_disturb_each_other(store: Store) -> None:
    context = multiprocessing.get_context("spawn")
    writers = [context.Process(target=_add_many, args=(store.root, 20)) for _ in range(4)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert [writer.exitcode for writer in writers] == [0, 0, 0, 0]
    assert store.checked(DIGEST).read_bytes() == DATA
    assert list((store.root / "tmp").iterdir()) == []


def test_a_full_disk_is_one_line_and_leaves_nothing(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(Blocked, match="no space left on device") as caught:
        store.add_bytes(DATA)
    assert "AISIMC_STORE" in caught.value.help
    assert list((store.root / "tmp").iterdir()) == []
    assert not store.has(DIGEST)


def test_a_store_that_cannot_be_made_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(Blocked, match="cannot make the store"):
        Store(tmp_path / "file" / "store").add_bytes(DATA)


def test_gc_waits_for_no_run_and_runs_wait_for_no_gc(store: Store) -> None:
    store.add_bytes(DATA)
    with store.in_use(), pytest.raises(Blocked, match="a run is using"), store.in_use(alone=True):
        pass
    with store.in_use(alone=True), pytest.raises(Blocked, match="gc"), store.in_use():
        pass
    with store.in_use(), store.in_use():
        pass  # two runs share it


def test_the_environment_names_the_store(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("AISIMC_STORE", str(tmp_path / "here"))
    assert open_store().root == tmp_path / "here"
    assert open_store(tmp_path / "there").root == tmp_path / "there"


class TestGc:
    """What no run needs goes; what a person put in stays."""

    def test_keeps_what_plans_name_and_the_runtimes_of_their_wheels(self, store: Store, tmp_path: Path) -> None:
        wheel, runtime, loose = (store.add_bytes(name) for name in (b"wheel", b"runtime", b"loose"))
        (store.root / "wheels").mkdir()
        (store.root / "wheels" / f"{wheel}.json").write_text(f'{{"runtime": "{runtime}"}}')
        (tmp_path / "runs" / "a").mkdir(parents=True)
        (tmp_path / "runs" / "a" / "plan.json").write_text(f'{{"sha256":"{wheel}"}}')
        assert [entry.sha256 for entry in upkeep.unneeded(store, [tmp_path / "runs"])] == [loose]

    def test_keeps_mirrors_of_repositories_that_plans_name(self, store: Store, tmp_path: Path) -> None:
        engine, trace, old = "https://example.com/engine", "https://example.com/trace", "https://example.com/old"
        paths = [
            mirror_path(store, name, history=history) for name in (engine, trace, old) for history in (True, False)
        ]
        for path in paths:
            path.mkdir(parents=True)
        (tmp_path / "runs" / "a").mkdir(parents=True)
        plan = {"revisions": {"baseline": {"repository": engine}}, "inputs": {"t": {"source": {"repository": trace}}}}
        (tmp_path / "runs" / "a" / "plan.json").write_text(json.dumps(plan))
        (tmp_path / "runs" / "torn").mkdir()
        (tmp_path / "runs" / "torn" / "plan.json").write_text("{")
        assert unneeded_mirrors(store, [tmp_path / "runs"]) == sorted(paths[4:])

    def test_a_removed_artifact_takes_its_build_records_along(self, store: Store) -> None:
        gone, kept = store.add_bytes(b"gone"), store.add_bytes(b"kept")
        (store.root / "builds").mkdir()
        for name, sha256 in (("a", gone), ("b", kept)):
            (store.root / "builds" / f"{name}.json").write_text(json.dumps({"artifact_sha256": sha256}))
        upkeep.remove(store, next(entry for entry in store.entries() if entry.sha256 == gone))
        assert [path.name for path in (store.root / "builds").iterdir()] == ["b.json"]

    def test_keeps_what_was_added_by_hand(self, store: Store, tmp_path: Path) -> None:
        mine = store.add_bytes(DATA)
        store.note_down(mine, kind="input", name="trace.jsonl", added=True)
        (tmp_path / "runs").mkdir()
        assert upkeep.unneeded(store, [tmp_path / "runs"]) == []
        assert [entry.sha256 for entry in upkeep.unneeded(store, [tmp_path / "runs"], added=True)] == [mine]

    def test_refuses_to_empty_the_store_for_want_of_a_runs_folder(self, store: Store, tmp_path: Path) -> None:
        with pytest.raises(Refused, match="no runs folder"):
            known(store, tmp_path / "nowhere", tmp_path / "default")
        with pytest.raises(Refused, match="no runs folder"):
            known(store, None, tmp_path / "default")

    def test_every_folder_that_used_the_store_counts(self, store: Store, tmp_path: Path) -> None:
        one, gone, here = (tmp_path / name for name in ("one", "gone", "here"))
        for folder in (one, gone, here):
            folder.mkdir()
        for folder in (one, one, gone):
            remember(store, folder)
        gone.rmdir()
        assert known(store, None, tmp_path / "default") == ([one], [gone])
        assert known(store, here, tmp_path / "default").there == [here, one]

    def test_sweeps_only_files_of_processes_that_are_gone(self, store: Store) -> None:
        host = os.uname().nodename
        gone, mine, elsewhere = (
            store.scratch() / name
            for name in (f"{host}-999999999-{'0' * 12}", f"{host}-{os.getpid()}-{'0' * 12}", f"far-1-{'0' * 12}")
        )
        for path in (gone, mine, elsewhere):
            path.write_text("x")
        later = time.time() + 2 * upkeep.STALE_S
        assert upkeep.stale(store, later) == [gone]
        assert upkeep.stale(store, time.time()) == []


def test_the_store_is_named_without_detours(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    assert open_store(tmp_path / "a" / ".." / "store").root == tmp_path / "store"
