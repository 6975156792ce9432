"""Tools: bounded output, ended as a group, never left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from aisimc_runtime.ports.processes import Processes

PYTHON = [sys.executable, "-I", "-S", "-c"]


@pytest.mark.parametrize("guarded", [False, True])
class TestEndings:
    """With and without a guard a tool ends alike."""

    def test_status_and_streams(self, guarded: bool) -> None:
        code = "import sys; print('out'); print('err', file=sys.stderr); sys.exit(7)"
        done = Processes().run([*PYTHON, code], guarded=guarded)
        assert (done.status, done.stdout, done.stderr, done.timed_out) == (7, "out\n", "err\n", False)

    def test_a_signal(self, guarded: bool) -> None:
        done = Processes().run([*PYTHON, "import os; os.kill(os.getpid(), 11)"], guarded=guarded)
        assert done.status == -signal.SIGSEGV

    def test_a_tool_that_is_not_there(self, guarded: bool) -> None:
        with pytest.raises(FileNotFoundError):
            Processes().run(["no-such-tool-anywhere"], guarded=guarded)

    def test_its_time_runs_out_with_children_holding_the_pipes(self, guarded: bool) -> None:
        began = time.monotonic()
        done = Processes().run(["sh", "-c", "sleep 60 & sleep 60"], timeout_s=0.3, guarded=guarded)
        assert done.timed_out
        assert time.monotonic() - began < 5

    def test_a_child_that_stays_behind_is_not_waited_for(self, guarded: bool) -> None:
        began = time.monotonic()
        done = Processes().run(["sh", "-c", "sleep 60 & echo done"], guarded=guarded)
        assert (done.status, done.stdout) == (0, "done\n")
        assert time.monotonic() - began < 5

    def test_a_flood_is_read_and_not_kept(self, guarded: bool) -> None:
        code = "import os\nfor _ in range(800): os.write(1, b'x' * 65536)\nprint('the end')"
        done = Processes().run([*PYTHON, code], keep_bytes=1000, guarded=guarded)
        assert done.status == 0
        assert len(done.stdout) == 1000
        assert done.stdout.endswith("the end\n")

    def test_its_input_and_a_file_for_its_output(self, guarded: bool, tmp_path: Path) -> None:
        with (tmp_path / "out").open("wb") as sink:
            done = Processes().run(["cat"], stdin=b"given", stdout=sink, guarded=guarded)
        assert (done.status, done.stdout) == (0, "")
        assert (tmp_path / "out").read_bytes() == b"given"


def test_end_all_ends_what_runs_and_lets_nothing_start() -> None:
    processes = Processes()
    ended: list[int] = []
    thread = threading.Thread(target=lambda: ended.append(processes.run(["sleep", "60"]).status))
    thread.start()
    time.sleep(0.2)
    processes.end_all()
    thread.join(5)
    assert ended == [-signal.SIGKILL]
    assert processes.run(["echo"]).status == -signal.SIGTERM


def test_a_guarded_tool_does_not_outlive_a_killed_harness(tmp_path: Path) -> None:
    code = (
        "from aisimc_runtime.ports.processes import Processes\n"
        f"Processes().run(['sh', '-c', 'echo $$ > {tmp_path}/pid; sleep 61 & wait'], guarded=True)"
    )
    harness = subprocess.Popen([sys.executable, "-c", code])
    until = time.monotonic() + 10
    while not (tmp_path / "pid").exists() or not (tmp_path / "pid").read_text():
        assert time.monotonic() < until
        time.sleep(0.02)
    group = os.getpgid(int((tmp_path / "pid").read_text()))
    harness.kill()
    harness.wait()
    until = time.monotonic() + 5
    while time.monotonic() < until:
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return
        time.sleep(0.02)
    pytest.fail("the tool is still running")
