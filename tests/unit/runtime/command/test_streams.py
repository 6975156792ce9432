"""Standard streams that are closed, full, or no longer read, and outputs that are no regular files."""

from __future__ import annotations

import contextlib
import fcntl
import io
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from pathlib import Path

import pytest

from aisimc_runtime.command.console import console
from aisimc_runtime.command.writing import replace_file
from aisimc_runtime.failures import Blocked
from aisimc_runtime.report.writing import write_all
from aisimc_runtime.run.progress import Table
from tests.builders import outcomes
from tests.builders.texts import SPECS

SPEC = next(path for path in SPECS if path.stem == "quickstart")
COMMANDS = ("--help", "explain", f"check {SPEC}", f"plan {SPEC}", f"plan --json {SPEC}", "check /nowhere", "frobnicate")
FULL = Path("/dev/full")
needs_full = pytest.mark.skipif(not FULL.is_char_device(), reason="this system has no full device")


def shell(command: str) -> subprocess.CompletedProcess[str]:
    line = command.replace("aisimc ", f"{sys.executable} -m aisimc_runtime ", 1)
    return subprocess.run(["bash", "-c", line], capture_output=True, text=True, check=False, timeout=120)


STYLE = re.compile(r"\x1b\[[0-9;]*m")


def on_a_terminal(command: str) -> str:
    """What a command sends to a terminal of 100 columns."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 100, 0, 0))
    line = command.replace("aisimc ", f"{sys.executable} -m aisimc_runtime ", 1)
    child = subprocess.Popen(["bash", "-c", line], stdin=slave, stdout=slave, stderr=slave, start_new_session=True)
    os.close(slave)
    told = b""
    with contextlib.suppress(OSError):  # a terminal that nothing has open any more gives an error
        while chunk := os.read(master, 65536):
            told += chunk
    os.close(master)
    child.wait(120)
    return told.decode()


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_closed_streams_change_no_status(command: str, closed: str) -> None:
    whole, cut = shell(f"aisimc {command}"), shell(f"aisimc {command} {closed}")
    assert cut.returncode == whole.returncode
    assert "Traceback" not in cut.stderr


@needs_full
@pytest.mark.parametrize("command", COMMANDS[:5])
def test_output_that_cannot_be_written_is_blocked_in_one_line(command: str) -> None:
    done = shell(f"aisimc {command} > /dev/full")
    assert done.returncode == 3
    assert done.stderr == "aisimc: error: standard output: no space left on device\n"


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that failed, with a long summary."""
    folder: Path = outcomes.differing(tmp_path_factory.mktemp("left") / "run")
    write_all(folder)
    return folder


@pytest.mark.parametrize(
    ("command", "status"),
    [
        ("explain", 0),
        ("--help", 0),
        ("store --help", 0),
        ("schema report", 0),
        (f"check {SPEC}", 0),
        (f"check --format json {SPEC}", 0),
        ("check WRONG", 2),
        ("check /nowhere", 2),
        (f"plan {SPEC}", 0),
        (f"plan --json {SPEC}", 0),
        ("report RUN", 1),
        ("report RUN --format json", 1),
        ("verify RUN", 0),
        ("verify -v RUN", 0),
        ("diff RUN --row vllm-aggregated", 1),
        ("diff RUN --row vllm-aggregated --json", 1),
        ("diff RUN", 2),
        ("store verify", 0),
        ("store verify --json", 0),
    ],
)
@pytest.mark.parametrize("reader", ["true", "head -1 > /dev/null"])
def test_a_reader_who_leaves_changes_no_status(
    command: str, status: int, reader: str, finished: Path, tmp_path: Path
) -> None:
    wrong = tmp_path / "wrong.campaign"
    wrong.write_text("row x { a = 007 }\n" * 3000)
    (tmp_path / "store").mkdir()
    command = command.replace("RUN", str(finished)).replace("WRONG", str(wrong))
    before = f"export AISIMC_STORE={tmp_path / 'store'}; "
    done = shell(f"{before}aisimc {command} 2>&1 | {reader}; echo ${{PIPESTATUS[0]}}")
    assert (done.stdout, done.stderr) == (f"{status}\n", "")


def test_both_streams_may_be_left_at_once(finished: Path) -> None:
    done = shell(f"aisimc verify -v {finished} 2> >(true) > >(true); echo $?")
    assert done.stdout == "0\n"


@needs_full
def test_a_device_is_written_to_and_not_replaced(tmp_path: Path) -> None:
    link = tmp_path / "full"
    link.symlink_to(FULL)
    with pytest.raises(Blocked, match="no space left"):
        replace_file(link, "text")
    assert FULL.is_char_device()


def test_standard_output_by_its_name(tmp_path: Path) -> None:
    code = (
        "from pathlib import Path; from aisimc_runtime.command.writing import replace_file;"
        "replace_file(Path('/dev/stdout'), 'text')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert done.stdout == "text"
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("runs", ["file", "file/below"])
def test_runs_in_a_file_are_blocked_in_one_line(tmp_path: Path, runs: str) -> None:
    (tmp_path / "file").write_text("kept")
    done = shell(f"AISIMC_STORE={tmp_path / 'store'} aisimc run {SPEC} --runs {tmp_path / runs}")
    assert done.returncode == 3
    assert done.stderr.startswith("aisimc: error: cannot make the run folder")
    assert (tmp_path / "file").read_text() == "kept"


@pytest.mark.parametrize("command", ["report RUN", "diff RUN --row vllm-aggregated"])
def test_no_color_sends_no_style_at_all(command: str, finished: Path) -> None:
    line = f"TERM=xterm-256color NO_COLOR={{}} aisimc {command.replace('RUN', str(finished))}"
    coloured, plain = (on_a_terminal(line.format(choice)) for choice in ("", "1"))
    assert STYLE.search(coloured)
    assert STYLE.findall(plain) == []


def test_no_color_leaves_the_progress_of_a_run_plain(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    sent = {}
    monkeypatch.setenv("TERM", "xterm-256color")
    for choice in ("", "1"):
        monkeypatch.setenv("NO_COLOR", choice)
        stream = Terminal()
        with Table(console(stream)) as progress:
            progress.replaying({"a": {"arms": {"baseline": {"repetitions": 2}}}}, [], 1)
        sent[choice] = stream.getvalue()
    assert STYLE.search(sent[""])
    assert "\x1b[" in sent["1"]  # it still draws over itself
    assert STYLE.findall(sent["1"]) == []


@pytest.mark.parametrize(
    "command", ["check STRANGE", "plan STRANGE", "run STRANGE", "pin STRANGE", f"run --profile STRANGE {SPEC}"]
)
@pytest.mark.parametrize("strange", ["fifo", "/dev/null", "/dev/zero"])
def test_what_is_no_file_is_refused_and_not_waited_for(command: str, strange: str, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    done = shell(f"AISIMC_STORE={tmp_path / 'store'} aisimc {command.replace('STRANGE', str(tmp_path / strange))}")
    assert done.returncode == 2
    assert "cannot be read: it is not a regular file" in done.stderr


@pytest.mark.parametrize("option", ["--runs", "--store"])
def test_a_folder_whose_name_no_record_can_hold_is_refused(option: str, tmp_path: Path) -> None:
    environment = f"AISIMC_STORE={tmp_path / 'store'}"
    done = shell(f"{environment} aisimc run {SPEC} --runs {tmp_path / 'runs'} {option} {tmp_path}/$'st\\xffrange'")
    assert done.returncode == 2
    assert "the name is not UTF-8 text" in done.stderr
    assert not list(tmp_path.iterdir())
