"""The campaigns that ship: each compiles, and what it pins of this project is what is here."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from aisimc_compiler.api import compile_file
from aisimc_runtime.engines import patching, sources
from aisimc_runtime.ports.files import sha256_file

ROOT = Path(__file__).resolve().parents[2]
CAMPAIGNS = sorted(
    path for path in (ROOT / "specs").rglob("*.campaign") if "common" not in path.relative_to(ROOT).parts
)
EMBEDDED = re.compile(r'embedded\s*=\s*"([^"]+)"\s+sha256\s*=\s*"([0-9a-f]{64})"')
REFRESH = "the engine changed: `python -m tests.specs.refresh` makes patches and pins again"


def name_of(path: Path) -> str:
    return path.relative_to(ROOT / "specs").as_posix()


@pytest.mark.parametrize("path", CAMPAIGNS, ids=name_of)
def test_a_campaign_compiles(path: Path) -> None:
    compiled = compile_file(path)
    assert [f"{found.rule}: {found.message}" for found in compiled.diagnostics] == []
    assert compiled.plan is not None


@pytest.mark.parametrize("path", sorted((ROOT / "specs").rglob("*.campaign")), ids=name_of)
def test_a_pinned_engine_is_the_one_that_ships(path: Path) -> None:
    for core, sha256 in EMBEDDED.findall(path.read_text("utf-8")):
        assert sources.sources_sha256(core) == sha256, REFRESH


@pytest.mark.parametrize("path", CAMPAIGNS, ids=name_of)
def test_a_pinned_patch_is_here_and_fits_the_engine(path: Path) -> None:
    core = sources.package_files(sources.shipped(sources.CORE))
    for found in re.finditer(r'patch\s*=\s*"([^"]+)"\s+patch_sha256\s*=\s*"([0-9a-f]{64})"', path.read_text("utf-8")):
        patch = path.parent / found[1]
        assert sha256_file(patch) == found[2], REFRESH
        try:
            patching.apply(patch.read_bytes(), core.get)
        except patching.PatchError as error:
            pytest.fail(f"{found[1]} was made for other sources ({error}): {REFRESH}")


def test_every_patch_that_ships_is_used() -> None:
    text = "".join(path.read_text("utf-8") for path in CAMPAIGNS)
    for patch in sorted((ROOT / "specs" / "patches").glob("*.patch")):
        assert f'"patches/{patch.name}"' in text


def test_every_trace_that_ships_is_used() -> None:
    text = "".join(path.read_text("utf-8") for path in CAMPAIGNS)
    for trace in sorted((ROOT / "specs" / "fixtures" / "traces").glob("*.jsonl")):
        assert f'"traces/{trace.name}"' in text
