"""Standard streams that are closed, full, or no longer read, and outputs that are no regular files."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from unittest import mock

import pytest

from aisimc_runtime.command.console import Console
from aisimc_runtime.command.writing import replace_file
from aisimc_runtime.failures import Blocked
from tests.builders.texts import SPECS

SPEC = next(path for path in SPECS if path.stem == "quickstart")
COMMANDS = ("--help", "explain", f"check {SPEC}", f"plan {SPEC}", f"plan --json {SPEC}", "check /nowhere", "frobnicate")
FULL = Path("/dev/full")
needs_full = pytest.mark.skipif(not FULL.is_char_device(), reason="this system has no full device")


def shell(command: str) -> subprocess.CompletedProcess[str]:
    line = command.replace("aisimc ", f"{sys.executable} -m aisimc_runtime ", 1)
    return subprocess.run(["bash", "-c", line], capture_output=True, text=True, check=False, timeout=120)


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


@pytest.mark.parametrize("command", ["explain", "--help", "store --help"])
def test_a_reader_who_has_seen_enough_is_no_mistake(command: str) -> None:
    done = shell(f"aisimc {command} | true; echo ${{PIPESTATUS[0]}}")
    assert (done.stdout, done.stderr) == ("0\n", "")


def test_a_verdict_that_nobody_read_is_no_pass(tmp_path: Path) -> None:
    path = tmp_path / "wrong.campaign"
    path.write_text("row x { a = 007 }\n" * 3000)
    done = shell(f"aisimc check {path} | true; echo ${{PIPESTATUS[0]}}")
    assert done.stdout in ("2\n", "3\n")
    assert done.stderr == ""


@needs_full
def test_a_device_is_written_to_and_not_replaced(tmp_path: Path) -> None:
    link = tmp_path / "full"
    link.symlink_to(FULL)
    with pytest.raises(Blocked, match="No space left"):
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


@pytest.mark.parametrize("command", [f"pin {SPEC}", f"pin --dry-run {SPEC}", "store verify", "store verify --json"])
def test_a_check_that_nobody_read_is_no_pass(command: str, tmp_path: Path) -> None:
    (tmp_path / "store").mkdir()
    done = shell(f"AISIMC_STORE={tmp_path / 'store'} aisimc {command} | true; echo ${{PIPESTATUS[0]}}")
    assert (done.stdout, done.stderr) == ("3\n", "")


def test_a_summary_leaves_the_status_to_the_command_when_its_reader_goes() -> None:
    """Status 1, which is what the library behind it ends with, would read as a FAIL."""
    with Path("/dev/null").open("w") as null:
        console = Console(file=null)
        with pytest.raises(BrokenPipeError), mock.patch.object(console, "_write_buffer", side_effect=BrokenPipeError):
            console.print("PASS")


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
