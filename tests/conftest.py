"""What every test may use: the shared examples and traces where this checkout has them beside it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SHARED = ROOT.parent / "shared"


@pytest.fixture(scope="session")
def root() -> Path:
    """The top of the repository."""
    return ROOT


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of shared examples and real traces; tests that need it are skipped where it is absent."""
    if not SHARED.is_dir():
        pytest.skip("the folder ../shared with the shared examples and real traces is not here")
    return SHARED


@pytest.fixture(autouse=True)
def inputs_path(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let campaigns find the real traces by their checksum."""
    folders = [folder for folder in os.environ.get("AISIMC_INPUTS", "").split(os.pathsep) if folder]
    if (SHARED / "traces").is_dir():
        folders.append(str(SHARED / "traces"))
    monkeypatch.setenv("AISIMC_INPUTS", os.pathsep.join(folders))
