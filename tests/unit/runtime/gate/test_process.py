"""One pinned process, and what is recorded of it. These tests start real processes, each for milliseconds."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from aisimc_runtime.gate.process import Finished, run_pinned


@pytest.fixture(autouse=True)
def own_cpus() -> Iterator[None]:
    """Give this test process its CPUs back: the harness keeps off those it pins others to."""
    before = os.sched_getaffinity(0)
    yield
    os.sched_setaffinity(0, before)


def run(tmp_path: Path, script: str, time_limit_s: float = 20.0) -> Finished:
    cpus = sorted(os.sched_getaffinity(0))
    return run_pinned(
        ["/bin/sh", "-c", script],
        cwd=tmp_path,
        cpus=cpus[-1:],
        harness_cpus=cpus[:1],
        time_limit_s=time_limit_s,
        stderr=tmp_path / "stderr",
    )


def test_a_process_runs_on_its_cpus_only_and_is_read_back(tmp_path: Path) -> None:
    last = max(os.sched_getaffinity(0))
    done = run(tmp_path, "grep Cpus_allowed_list /proc/self/status >&2")
    assert (done.exit_status, done.signal, done.timed_out) == (0, None, False)
    assert done.stderr.split() == ["Cpus_allowed_list:", str(last)]
    assert done.affinity_at_start == done.affinity_at_end == (last,)
    assert done.last_cpu == last


def test_the_harness_leaves_the_pinned_cpus(tmp_path: Path) -> None:
    first = min(os.sched_getaffinity(0))
    run(tmp_path, "true")
    assert os.sched_getaffinity(0) == {first}


def test_what_it_took_is_recorded(tmp_path: Path) -> None:
    done = run(tmp_path, "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done")
    assert 0 < done.cpu_ms <= done.wall_ms * 1.05 + 20
    assert done.minor_faults > 0
    assert done.max_rss_bytes > 100_000
    assert done.run_delay_ms is None or done.run_delay_ms >= 0


def test_exit_status_and_signal_are_told_apart(tmp_path: Path) -> None:
    assert run(tmp_path, "echo why >&2; exit 7").exit_status == 7
    killed = run(tmp_path, "kill -TERM $$; sleep 5")
    assert (killed.exit_status, killed.signal) == (None, 15)


def test_a_limit_ends_it_with_its_children(tmp_path: Path) -> None:
    started = time.monotonic()
    done = run(tmp_path, "sleep 30 & echo $! > child; wait", time_limit_s=0.3)
    assert done.timed_out
    assert time.monotonic() - started < 10
    child = int((tmp_path / "child").read_text())
    assert _gone(child)


def test_children_that_outlive_it_are_ended_too(tmp_path: Path) -> None:
    run(tmp_path, "sleep 30 >/dev/null 2>&1 & echo $! > child")
    assert _gone(int((tmp_path / "child").read_text()))


def test_it_gets_no_environment_of_ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AISIMC_SECRET_OF_THE_SHELL", "1")
    assert "AISIMC_SECRET" not in run(tmp_path, "env >&2").stderr


def test_an_interrupted_wait_ends_the_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from aisimc_runtime.gate import process

    def interrupted(pid: int, limit: float | None) -> bool:
        while not (tmp_path / "child").is_file():
            time.sleep(0.005)
        raise KeyboardInterrupt

    monkeypatch.setattr(process, "_ended_within", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path, "echo $$ > new; mv new child; sleep 30")
    assert _gone(int((tmp_path / "child").read_text()))


def test_a_record_reads_back(tmp_path: Path) -> None:
    done = run(tmp_path, "exit 3")
    assert Finished.from_json(done.to_json()) == done


def _gone(pid: int) -> bool:
    """Whether a process ended; a killed orphan may still wait for init to reap it."""
    until = time.monotonic() + 5
    while time.monotonic() < until:
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except (FileNotFoundError, ProcessLookupError):
            return True
        if state in "ZX":
            return True
        time.sleep(0.01)
    return False
