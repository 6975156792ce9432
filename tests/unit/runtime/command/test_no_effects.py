"""`check`, `fmt --check` and `explain` write nothing, start nothing and open no connection."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.builders.texts import SPECS

# Everything that Python can do to the world outside raises an audit event before it happens.
GUARD = """
import sys, os
FORBIDDEN = ("socket.", "subprocess.", "os.exec", "os.fork", "os.posix_spawn", "os.spawn", "os.system", "os.remove",
             "os.rename", "os.mkdir", "os.rmdir", "os.link", "os.symlink", "os.truncate", "os.chmod", "os.chown",
             "os.utime", "os.kill", "shutil.", "tempfile.", "urllib.", "http.", "ftplib.", "smtplib.", "ctypes.dlopen")
WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
def guard(event, arguments):
    wrong = event.startswith(FORBIDDEN)
    if event == "open":
        # A number is a stream that is open already: standard output and error are written to.
        wrong = isinstance(arguments[2], int) and bool(arguments[2] & WRITES) and arguments[0] not in (1, 2)
    if wrong:
        sys.stderr.write(f"FORBIDDEN {event} {arguments}\\n")
        os._exit(99)
sys.addaudithook(guard)
from aisimc_runtime.command.main import main
main()
"""


def guarded(*arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    """Run a command line in a process that ends with 99 when it does anything to the world outside."""
    command = [sys.executable, "-B", "-c", GUARD, *arguments]
    return subprocess.run(command, input=stdin, capture_output=True, text=True, check=False)


def test_the_guard_bites(tmp_path: Path) -> None:
    path = tmp_path / "a.campaign"
    path.write_text("row x { a=1 }\n")
    assert guarded("fmt", str(path)).returncode == 99
    assert path.read_text() == "row x { a=1 }\n"


@pytest.mark.parametrize("spec", SPECS, ids=lambda path: path.stem)
def test_checking_specs(spec: Path) -> None:
    for arguments in (("check", str(spec)), ("check", "--format", "sarif", str(spec)), ("fmt", "--check", str(spec))):
        done = guarded(*arguments)
        assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("form", ["text", "json", "github", "sarif"])
def test_refusing(tmp_path: Path, form: str) -> None:
    path = tmp_path / "a.campaign"
    path.write_text(
        'import "none.campaign"\nrow x { engine: vllm golden = "none.yaml" frozen = "none.json" sha256 = “a” }\n'
    )
    assert guarded("check", "--format", form, str(path)).returncode == 2
    assert guarded("fmt", "--diff", str(path)).returncode == 2
    assert [p.name for p in tmp_path.iterdir()] == ["a.campaign"]


def test_standard_input() -> None:
    assert guarded("check", "-", stdin="row x { a: 1 }").returncode == 2
    assert guarded("fmt", "-", stdin="row x { a=1 }").stdout == "row x { a = 1 }\n"


def test_explaining() -> None:
    assert guarded("explain", "pin.commit").returncode == 0
