"""What whole campaigns need: the real trace, and a store that has the published builds."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from aisimc_runtime.engines.base import EngineContext
from aisimc_runtime.engines.wheel import WheelEngine
from aisimc_runtime.failures import Blocked
from aisimc_runtime.ports.processes import Processes
from aisimc_runtime.store.content import Store
from tests.campaigns.wheels import BUILDS, TRACE, Place


@pytest.fixture(scope="session")
def wheel_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with the published builds, kept between test sessions; skipped where the index cannot be reached."""
    place = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "aisimc-tests" / "store"
    store = Store(place)
    scratch = tmp_path_factory.mktemp("wheels")
    context = EngineContext(store, Processes(), scratch, None, (), lambda name, sha256: scratch, lambda text: None)
    for version, sha256 in BUILDS.values():
        revision = {
            "source": "wheel",
            "requirement": f"aisimulate=={version}",
            "name": "aisimulate",
            "version": version,
            "sha256": sha256,
        }
        try:
            acquired = WheelEngine().acquire("baseline", revision, context)
            WheelEngine().build("baseline", acquired, context)
        except Blocked as failure:
            pytest.skip(f"published builds cannot be had: {failure.message}")
    return place


@pytest.fixture(scope="session")
def conversation(shared: Path) -> bytes:
    """The real conversation trace."""
    path = shared / "traces" / TRACE
    if not path.is_file():
        pytest.skip("the real conversation trace is not in ../shared/traces")
    return path.read_bytes()


@pytest.fixture
def place(tmp_path: Path, wheel_store: Path) -> Place:
    """A working folder with a store of its own, in which the builds are linked."""
    mine = Store(tmp_path / "store")
    (mine.root / "wheels").mkdir(parents=True)
    for _, sha256 in BUILDS.values():
        record = Path("wheels") / f"{sha256}.json"
        shutil.copy(wheel_store / record, mine.root / record)
        for digest in (sha256, json.loads((mine.root / record).read_bytes())["runtime"]):
            target = mine.path(digest)
            target.parent.mkdir(parents=True, exist_ok=True)
            link(Store(wheel_store).path(digest), target)
    return Place(tmp_path, mine.root)


def link(source: Path, target: Path) -> None:
    """A second name for a large file; a symbolic one where the file systems differ."""
    try:
        target.hardlink_to(source)
    except OSError:
        target.symlink_to(source)
