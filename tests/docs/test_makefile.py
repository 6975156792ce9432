"""`make run` and `make test` say that Rust is lacking before they install anything."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(shutil.which("make") is None, reason="this system has no make")


def make(root: Path, folder: Path, cargo: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """`make` on the project's Makefile, in a folder where nothing is installed."""
    (folder / "runner-rust" / "runner").mkdir(parents=True)
    for name in ("Makefile", "pyproject.toml", "runner-rust/runner/Cargo.toml"):
        shutil.copy(root / name, folder / name)
    command = ["make", "--no-print-directory", f"CARGO={cargo}", "PYTHON=false", *arguments]
    outer = ("MAKELEVEL", "MAKEFLAGS", "MFLAGS")  # `make test` itself may have started this
    environment = {name: value for name, value in os.environ.items() if name not in outer}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=60)


def cargo(folder: Path, said: str, status: int = 0) -> str:
    path = folder / "cargo"
    path.write_text(f"#!/bin/sh\n{said}\nexit {status}\n")
    path.chmod(0o755)
    return str(path)


@pytest.mark.parametrize("target", ["run", "test"])
@pytest.mark.parametrize(
    ("said", "status", "lacks"),
    [
        (None, 0, "does not run"),
        ("echo 'rustup could not choose a version of cargo to run' >&2", 1, "does not run"),
        ("echo 'cargo 1.70.0 (ec8a8a0ca 2023-04-25)'", 0, "this is 1.70.0"),
    ],
)
def test_without_a_usable_rust_nothing_is_installed(
    root: Path, tmp_path: Path, target: str, said: str | None, status: int, lacks: str
) -> None:
    tool = str(tmp_path / "nowhere" / "cargo") if said is None else cargo(tmp_path, said, status)
    done = make(root, tmp_path, tool, target)
    assert done.returncode != 0
    assert done.stdout == ""
    line, end = done.stderr.splitlines()
    assert lacks in line and "https://rustup.rs" in line
    assert end.startswith("make: *** ")
    assert not (tmp_path / ".venv").exists()


@pytest.mark.parametrize("version", ["1.88.0", "1.100.1", "1.95.0-nightly"])
def test_a_new_enough_rust_is_no_obstacle(root: Path, tmp_path: Path, version: str) -> None:
    done = make(root, tmp_path, cargo(tmp_path, f"echo 'cargo {version} (0 2026-01-01)'"), "run")
    assert "Rust" not in done.stderr
    assert "false -m venv" in done.stdout


def test_what_needs_no_rust_does_not_ask_for_it(root: Path, tmp_path: Path) -> None:
    done = make(root, tmp_path, str(tmp_path / "nowhere" / "cargo"), "setup")
    assert "Rust" not in done.stderr
    assert "false -m venv" in done.stdout
