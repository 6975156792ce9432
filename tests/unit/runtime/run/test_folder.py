"""The run folder and its journal: one writer, nothing lost, nothing believed that was not written whole."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from aisimc_runtime.failures import Blocked
from aisimc_runtime.journal.journal import Journal, events, finished
from aisimc_runtime.ports.files import sha256_bytes, sha256_file
from aisimc_runtime.run.folder import RunFolder, is_finished, prepare, run_folder
from aisimc_runtime.run.plan import Plan, find_file, plan_of
from aisimc_runtime.store.content import Store


def plan(tmp_path: Path, name: str = "nightly") -> Plan:
    return plan_of(json.dumps({"campaign": {"name": name}}).encode(), tmp_path)


class TestNames:
    """`.aisimc/runs/NAME-DIGEST12`, and fresh ones beside it."""

    def test_the_first_and_those_beside_it(self, tmp_path: Path) -> None:
        mine = plan(tmp_path)
        first = run_folder(mine, tmp_path / "runs")
        assert first.path.name == f"nightly-{mine.digest[:12]}"
        assert run_folder(mine, tmp_path / "runs", again=True).path == first.path  # there is nothing to be beside
        first.path.mkdir(parents=True)
        second = run_folder(mine, tmp_path / "runs", again=True)
        assert second.path.name == first.path.name + "-2"
        second.path.mkdir()
        assert run_folder(mine, tmp_path / "runs").path == second.path  # the newest is continued
        assert run_folder(mine, tmp_path / "runs", again=True).path.name == first.path.name + "-3"

    def test_the_plan_in_the_folder_is_the_folders(self, tmp_path: Path) -> None:
        mine = plan(tmp_path)
        folder = run_folder(mine, tmp_path / "runs")
        assert prepare(folder, mine) is False
        Journal(folder.journal).append("started")
        assert prepare(folder, mine) is True
        (folder.path / "plan.json").write_text("{}")
        with pytest.raises(Blocked, match="was changed"):
            prepare(folder, mine)


class TestLock:
    """One process carries out a run; its lock dies with it."""

    def test_a_second_process_is_told_who_has_it(self, tmp_path: Path) -> None:
        folder = RunFolder(tmp_path)
        with folder.locked(), pytest.raises(Blocked, match=f"by process {os.getpid()}"), folder.locked():
            pass
        with folder.locked():
            pass

    def test_a_killed_process_leaves_no_lock(self, tmp_path: Path) -> None:
        code = (
            "import os, sys; from pathlib import Path; from aisimc_runtime.run.folder import RunFolder\n"
            f"with RunFolder(Path({str(tmp_path)!r})).locked(): os.kill(os.getpid(), 9)"
        )
        assert subprocess.run([sys.executable, "-c", code]).returncode == -9
        with RunFolder(tmp_path).locked():
            pass


class TestJournal:
    """Appended and synced; a torn last line was never acknowledged."""

    @pytest.mark.parametrize("cut", range(1, 60, 7))
    def test_a_torn_line_is_passed_over_and_cut_off(self, tmp_path: Path, cut: int) -> None:
        path = tmp_path / "journal.jsonl"
        journal = Journal(path)
        journal.append("started")
        whole = path.stat().st_size
        journal.append("done", "replay/row/baseline/1", message="é" * 20)
        journal.close()
        path.write_bytes(path.read_bytes()[: whole + cut])
        assert [event["event"] for event in events(path)] == ["started"]
        journal = Journal(path)
        journal.append("resumed")
        assert [event["event"] for event in events(path)] == ["started", "resumed"]
        assert path.read_bytes().count(b"\n") == 2

    def test_finished_until_taken_up_again(self, tmp_path: Path) -> None:
        journal = Journal(tmp_path / "journal.jsonl")
        assert finished(journal.path) is None
        journal.append("started")
        journal.append("finished", digest="d")
        found = finished(journal.path)
        assert found is not None
        assert found["digest"] == "d"
        journal.append("resumed")
        assert finished(journal.path) is None

    def test_a_run_is_finished_when_its_manifest_covers_the_journal(self, tmp_path: Path) -> None:
        folder = RunFolder(tmp_path)
        journal = Journal(folder.journal)
        journal.append("finished")
        assert not is_finished(folder)
        (tmp_path / "report.json").write_text("{}")
        assert not is_finished(folder)
        files = {"journal.jsonl": {"sha256": sha256_file(folder.journal)}}
        (tmp_path / "manifest.json").write_text(json.dumps({"files": files}))
        assert is_finished(folder)
        journal.append("note")
        assert not is_finished(folder)

    def test_a_full_disk_is_one_line(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        journal = Journal(tmp_path / "journal.jsonl")

        def full(handle: int) -> None:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(os, "fdatasync", full)
        with pytest.raises(Blocked, match="no space left on device"):
            journal.append("started")


class TestFiles:
    """Patch and golden files by their checksums, wherever they are."""

    def test_beside_the_plan_in_the_store_or_in_an_inputs_folder(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        store = Store(tmp_path / "store")
        (tmp_path / "base").mkdir()
        (tmp_path / "inputs").mkdir()
        mine = plan(tmp_path / "base")
        wanted = sha256_bytes(b"patch")
        monkeypatch.setenv("AISIMC_INPUTS", str(tmp_path / "inputs"))
        with pytest.raises(Blocked, match="is not here") as caught:
            find_file(mine, store, "fixes/a.patch", wanted)
        assert "aisimc store add a.patch" in caught.value.help
        (tmp_path / "inputs" / "a.patch").write_bytes(b"patch")
        assert find_file(mine, store, "fixes/a.patch", wanted) == tmp_path / "inputs" / "a.patch"
        (tmp_path / "inputs" / "a.patch").write_bytes(b"changed")
        with pytest.raises(Blocked, match="is not what the plan names"):
            find_file(mine, store, "fixes/a.patch", wanted)
        store.add_bytes(b"patch")
        assert find_file(mine, store, "fixes/a.patch", wanted) == store.path(wanted)


@pytest.mark.parametrize("signals", [1, 2])
def test_once_is_clean_and_twice_is_at_once(signals: int) -> None:
    code = f"""
import os, signal, sys, time
from aisimc_runtime.failures import Interrupted
from aisimc_runtime.run.signals import interruptible
try:
    with interruptible(lambda: sys.stderr.write("at once\\n")):
        try:
            os.kill(os.getpid(), signal.SIGTERM)
            time.sleep(5)
        finally:
            if {signals} == 2:
                os.kill(os.getpid(), signal.SIGINT)
                time.sleep(5)
except Interrupted as failure:
    sys.stderr.write(failure.message)
    sys.exit(int(failure.exit))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 130
    assert done.stderr == ("at once\n" if signals == 2 else "ended by SIGTERM; what was collected is kept")
