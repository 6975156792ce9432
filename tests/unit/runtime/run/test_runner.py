"""The row runner against engines that hang, flood, fork, crash, lie and are killed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from itertools import combinations
from pathlib import Path

import pytest

from aisimc_runtime.executors.base import RowFinished
from aisimc_runtime.executors.local import LocalExecutor
from aisimc_runtime.run.job import Limits, Order, RowJob
from aisimc_runtime.run.profile import Profile
from tests.unit.runtime.run.jobs import BOTH, job, others, process, run

ONE = (Order("baseline", 1),)


def only(tmp_path: Path, act: str, **limits: float) -> RowJob:
    return job(tmp_path, act, orders=ONE, limits=Limits(**{"time_s": 30.0, **limits}))  # type: ignore[arg-type]


def gone(*marks: str) -> bool:
    """Whether no process with these marks is left, after a moment for the kernel."""
    until = time.monotonic() + 2
    while time.monotonic() < until:
        if not any(others(mark) for mark in marks):
            return True
        time.sleep(0.05)
    return False


class TestLimits:
    """`run.limit`: a failed row with its evidence, never a hang; the whole group is ended."""

    def test_time(self, tmp_path: Path) -> None:
        one = only(tmp_path, "hang", time_s=0.5)
        status, _ = run(one)
        assert status == 0  # the row has its result: a failed replay
        record = process(one)
        assert (record["limit"], record["exit_status"], record["signal"]) == ("time", None, signal.SIGKILL)
        assert record["error"] == "no end after 0.5 s: ended by the time limit"
        assert 500 <= record["wall_ms"] < 1500

    def test_memory(self, tmp_path: Path) -> None:
        one = only(tmp_path, "eat", memory_bytes=128 << 20)
        run(one)
        record = process(one)
        assert record["limit"] == "memory"
        assert (128 << 20) < record["max_rss_bytes"] < (400 << 20)

    @pytest.mark.parametrize("act", ["flood", "fill"])
    def test_output(self, tmp_path: Path, act: str) -> None:
        one = only(tmp_path, act, output_bytes=32 << 20)
        run(one)
        assert process(one)["limit"] == "output"
        kept = sum(path.stat().st_size for path in (one.folder / "replays" / "baseline-1").glob("stderr.txt"))
        assert kept < 100_000

    def test_processes(self, tmp_path: Path) -> None:
        one = only(tmp_path, "fork", processes=10)
        run(one)
        assert process(one)["limit"] == "processes"
        assert gone(str(one.folder))

    def test_a_child_that_left_the_group_is_ended_too(self, tmp_path: Path) -> None:
        before = set(others("time.sleep(600)"))
        run(only(tmp_path, "escape"))
        time.sleep(0.1)
        assert set(others("time.sleep(600)")) <= before


class TestEndings:
    """How a process ended decides whether there is a result."""

    def test_a_refusal_is_the_engines_own_line(self, tmp_path: Path) -> None:
        one = only(tmp_path, "refuse")
        assert run(one)[0] == 0
        record = process(one)
        assert (record["exit_status"], record["error"]) == (1, "engine error: no such thing")

    def test_a_crash_is_the_engines_result(self, tmp_path: Path) -> None:
        one = only(tmp_path, "abort")
        assert run(one)[0] == 0
        assert process(one)["error"] == "crashed with SIGABRT"

    def test_a_kill_from_outside_is_no_result_and_is_made_again(self, tmp_path: Path) -> None:
        one = only(tmp_path, "killed")
        status, events = run(one)
        assert status == 3
        assert "SIGKILL" in events[-1]["reason"]
        assert not (one.folder / "replays" / "baseline-1" / "process.json").exists()
        again, events = run(one)
        assert again == 3
        assert next(event["event"] for event in events) == "started"

    def test_a_full_disk_is_the_machines_fault_and_no_result(self, tmp_path: Path) -> None:
        one = only(tmp_path, "full")
        status, events = run(one)
        assert status == 3
        reason = next(event["reason"] for event in events if event["event"] == "blocked")
        assert "the disk gave up: canonical.jsonl: No space left on device" in reason
        assert not (one.folder / "replays" / "baseline-1" / "process.json").exists()

    def test_success_without_a_record_is_none(self, tmp_path: Path) -> None:
        one = only(tmp_path, "nothing")
        run(one)
        assert process(one)["error"] == "ended with status 0 but left no canonical.jsonl"

    def test_a_record_that_is_not_the_one_counted_is_none(self, tmp_path: Path) -> None:
        one = only(tmp_path, "lie")
        run(one)
        assert "its counters name the digest" in process(one)["error"]
        assert not (one.folder / "replays" / "baseline-1" / "canonical.jsonl").exists()

    def test_an_artifact_with_one_changed_byte_is_never_executed(self, tmp_path: Path) -> None:
        one = only(tmp_path, "same")
        one.artifacts["baseline"].path.write_bytes(b"tampered")
        status, events = run(one)
        assert status == 3
        assert "has changed: it hashes to" in events[-1]["reason"]
        assert not (one.folder / "replays" / "baseline-1").exists()

    @pytest.mark.parametrize("name", ["t.jsonl", "configuration.json"])
    def test_an_input_or_configuration_that_changed_is_never_replayed(self, tmp_path: Path, name: str) -> None:
        one = only(tmp_path, "same")
        (one.folder / name).write_bytes((one.folder / name).read_bytes() + b" ")
        status, events = run(one)
        assert status == 3
        assert name in events[-1]["reason"]


class TestPlacement:
    """`run.fresh` and `run.affinity`."""

    def test_every_replay_is_a_process_on_its_own_cpus(self, tmp_path: Path) -> None:
        one = job(tmp_path, "slow")
        status, events = run(one)
        assert status == 0
        assert [event["event"] for event in events].count("started") == 4
        records = [process(one, order.arm, order.repetition) for order in BOTH]
        assert all(record["cpus"] == record["affinity_read_back"] for record in records)
        assert {len(record["cpus"]) for record in records} == {1}
        started = [event["arm"] for event in events if event["event"] == "started"]
        assert started == ["baseline", "candidate", "baseline", "candidate"]

    @pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="this machine has one CPU")
    def test_replays_at_once_never_share_a_cpu(self, tmp_path: Path) -> None:
        jobs = [job(tmp_path, "slow", name=name) for name in ("a", "b")]
        run(*jobs)
        records = [process(one, order.arm, order.repetition) for one in jobs for order in BOTH]
        assert all(record["started_at"] < record["ended_at"] for record in records)
        at_once = [
            (one, other)
            for one, other in combinations(records, 2)
            if one["started_at"] < other["ended_at"] and other["started_at"] < one["ended_at"]
        ]
        assert at_once
        assert not any(set(one["cpus"]) & set(other["cpus"]) for one, other in at_once)

    def test_nothing_of_the_environment_reaches_a_replay(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("AISIMC_SECRET", "x")
        monkeypatch.setenv("PYTHONPATH", "/nowhere")
        one = job(tmp_path, "environment", orders=ONE)
        run(one)
        record = (one.folder / "replays" / "baseline-1" / "digests.json").read_text()
        (tmp_path / "again").mkdir()
        again = job(tmp_path / "again", "environment", orders=ONE)
        monkeypatch.delenv("AISIMC_SECRET")
        run(again)
        assert (again.folder / "replays" / "baseline-1" / "digests.json").read_text() == record

    def test_more_threads_than_cpus_in_a_set_make_the_sets_larger(self, tmp_path: Path) -> None:
        if len(os.sched_getaffinity(0)) < 2:
            pytest.skip("this machine has one CPU")
        one = only(tmp_path, "threads")
        status, events = run(one, options=())
        seen = events[0]["arms"]["baseline"]
        assert seen["threads"] >= 4
        if seen["runnable"] > len(os.sched_getaffinity(0)):
            assert status == 3  # no set is large enough, and that is said
        else:
            assert len(process(one)["cpus"]) == max(1, seen["runnable"])


class TestContinuing:
    """What an earlier run left whole is not made again; anything else is."""

    def test_finished_replays_are_kept(self, tmp_path: Path) -> None:
        one = job(tmp_path, "same", orders=BOTH[:2])
        run(one)
        (one.folder / "collected.json").unlink()
        more = job_with(one, BOTH)
        # the records were deleted when the digests matched, so the replays are made again
        _, events = run(more)
        assert [event["event"] for event in events].count("started") == 4

    def test_a_collected_row_is_done(self, tmp_path: Path) -> None:
        one = job(tmp_path, "same")
        run(one)
        _, events = run(one)
        assert [event["event"] for event in events] == ["row"]

    def test_an_unfinished_folder_is_emptied_first(self, tmp_path: Path) -> None:
        one = only(tmp_path, "same")
        leftover = one.folder / "replays" / "baseline-1"
        leftover.mkdir(parents=True)
        (leftover / "canonical.jsonl").write_text("half")
        assert run(one)[0] == 0
        assert process(one)["error"] is None

    def test_a_replay_of_another_node_does_not_count(self, tmp_path: Path) -> None:
        one = job(tmp_path, "random")
        run(one)
        (one.folder / "collected.json").unlink()
        for order in BOTH:
            path = one.folder / "replays" / order.name / "process.json"
            record = json.loads(path.read_bytes())
            if order.arm == "baseline":
                record["node"]["hostname"] = "elsewhere"
            path.write_text(json.dumps(record))
        _, events = run(one)
        assert {event["arm"] for event in events if event["event"] == "started"} == {"baseline"}

    def test_a_changed_record_does_not_count(self, tmp_path: Path) -> None:
        one = job(tmp_path, "random")
        run(one)
        (one.folder / "collected.json").unlink()
        with (one.folder / "replays" / "candidate-2" / "canonical.jsonl").open("ab") as stream:
            stream.write(b" ")
        _, events = run(one)
        started = [(event["arm"], event["repetition"]) for event in events if event["event"] == "started"]
        assert started == [("candidate", 2)]


def job_with(one: RowJob, orders: tuple[Order, ...]) -> RowJob:
    from dataclasses import replace

    more = replace(one, orders=orders)
    more.write()
    return more


class TestRetention:
    """`run.retain`: matching records go, differing ones stay with a focused difference."""

    def test_equal_arms_keep_digests_only(self, tmp_path: Path) -> None:
        one = job(tmp_path, "same")
        run(one)
        assert list(one.folder.glob("replays/*/canonical.jsonl")) == []
        assert len(list(one.folder.glob("replays/*/digests.json"))) == 4
        assert (one.folder / "evidence" / "baseline.json").is_file()
        assert not (one.folder / "difference.json").exists()

    def test_an_unstable_arm_keeps_both_of_its_records(self, tmp_path: Path) -> None:
        one = job(tmp_path, "random")
        run(one)
        assert len(list(one.folder.glob("replays/*/canonical.jsonl"))) == 4
        found = json.loads((one.folder / "instability-baseline.json").read_bytes())
        assert [entry["pattern"] for entry in found["classes"]] == ["/summary/v"]
        assert not (one.folder / "difference.json").exists()


class TestEndingEarly:
    """Nothing that was started outlives the runner."""

    def start(self, tmp_path: Path, *options: str) -> subprocess.Popen[bytes]:
        one = job(tmp_path, "hang", limits=Limits(time_s=60.0))
        argv = [sys.executable, "-P", "-m", "aisimc_runtime.run.row", "--no-preflight", *options, str(one.folder)]
        process_ = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert process_.stdout is not None
        while json.loads(process_.stdout.readline())["event"] != "started":
            pass
        return process_

    def test_when_its_input_closes(self, tmp_path: Path) -> None:
        runner = self.start(tmp_path, "--end-with-stdin")
        assert runner.stdin is not None
        runner.stdin.close()
        assert runner.wait(5) == 3
        assert gone(str(tmp_path))

    def test_on_a_signal(self, tmp_path: Path) -> None:
        runner = self.start(tmp_path)
        runner.send_signal(signal.SIGTERM)
        assert runner.wait(5) == 128 + signal.SIGTERM
        assert gone(str(tmp_path))

    def test_when_it_is_killed(self, tmp_path: Path) -> None:
        runner = self.start(tmp_path)
        runner.kill()
        runner.wait(5)
        assert gone(str(tmp_path))


def test_little_is_added_to_each_process(tmp_path: Path) -> None:
    """Not a measurement: only that nothing waits in steps that add up (32 short replays in well under 20 s)."""
    began = time.monotonic()
    run(*[job(tmp_path, "same", name=f"row{n}") for n in range(4)])
    assert time.monotonic() - began < 20


@pytest.mark.parametrize("name", ["a b", "new\nline", "\rquote\"'", "\N{SNOWMAN}", "\u2028"])
def test_the_local_executor_replays_rows_in_a_folder_of_any_name(name: str, tmp_path: Path) -> None:
    (tmp_path / name).mkdir()
    one = only(tmp_path / name, "work")
    before = set(Path(tempfile.gettempdir()).glob("*.rows"))
    events = LocalExecutor().run([one], Profile())
    assert any(isinstance(event, RowFinished) for event in events)
    assert set(Path(tempfile.gettempdir()).glob("*.rows")) <= before
