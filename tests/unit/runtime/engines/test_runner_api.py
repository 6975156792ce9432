"""The runner calls only what AI Simulate's public replay API has, so that it compiles against a real `crates/core`."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PUBLIC = {
    "replay": {
        "CANONICAL_RESULT_EXCLUSIONS", "CanonicalReplayCoverage", "CanonicalReplayRecord", "ReplayCaptureOptions",
        "ReplayDeterminism", "ReplayEngineConfig", "ReplayEngineFactory", "ReplayReport", "ReplayRuntimeInput",
        "ReplaySpec", "ReplayTopology", "Replayer",
    },
    "replay::loadgen": {"Trace", "WorkloadDriver"},
}  # fmt: skip
"""The names that the facts about the public API list, by module."""

FUNCTIONS = {
    "CanonicalReplayCoverage": {"from_report"},
    "CanonicalReplayRecord": {"build", "into_json_line"},
    "ReplayCaptureOptions": {"default"},
    "ReplayDeterminism": {"CanonicalV1"},
    "ReplayEngineConfig": {"default"},
    "ReplayEngineFactory": {"new"},
    "ReplayRuntimeInput": {"Workload"},
    "ReplayTopology": {"Aggregated", "Disaggregated"},
    "Replayer": {"new", "run"},
    "Trace": {"from_mooncake"},
    "WorkloadDriver": {"new_trace", "new_concurrency"},
}
"""Their associated functions and variants that the runner may use."""

TIMING_EXTENSION = {"prepare", "execute", "into_report"}
"""Methods outside the public API; called in `timing.rs` only, under the feature that the engine sets where they are."""


def without_tests(text: str) -> str:
    return text.split("#[cfg(test)]")[0]


@pytest.fixture(scope="module")
def modules(root: Path) -> dict[str, str]:
    folder = root / "runner-rust" / "runner" / "src"
    return {
        path.relative_to(folder).as_posix(): without_tests(path.read_text("utf-8"))
        for path in sorted(folder.rglob("*.rs"))
        if path.name != "tests.rs"
    }


def imported(text: str) -> set[tuple[str, str]]:
    """Every `(module, Name)` of the core that a source text names."""
    found = set()
    for path, group in re.findall(r"aisimulate_core::([a-z_:]+?)::(\{[^}]*\}|[A-Z]\w*)", text):
        for name in re.findall(r"\w+", group):
            found.add((path, name))
    return found


def test_only_public_names_are_imported(modules: dict[str, str]) -> None:
    names = {pair for text in modules.values() for pair in imported(text)}
    assert names
    assert names <= {(module, name) for module, names in PUBLIC.items() for name in names}


def test_nothing_of_the_core_is_reached_in_another_way(modules: dict[str, str]) -> None:
    for name, text in modules.items():
        mentions = len(re.findall(r"\baisimulate_core\b", text))
        understood = len(re.findall(r"aisimulate_core::[a-z_:]+?::(?:\{|[A-Z])", text))
        assert mentions == understood, f"{name} names the core in a way that this test does not read"


def test_only_known_functions_of_its_types_are_called(modules: dict[str, str]) -> None:
    used = {name for text in modules.values() for _, name in imported(text)}
    for file, text in modules.items():
        for kind, function in re.findall(r"\b([A-Z]\w+)::(\w+)", text):
            if kind in used:
                assert function in FUNCTIONS.get(kind, set()), f"{file}: {kind}::{function}"


def test_the_timing_extension_stays_behind_its_feature(modules: dict[str, str]) -> None:
    for name, text in modules.items():
        calls = {call for call in TIMING_EXTENSION if re.search(rf"\.\s*{call}\(\)", text)}
        assert calls == (TIMING_EXTENSION if name == "timing.rs" else set()), name
    gated = modules["timing.rs"].split('#[cfg(feature = "prepared-loop")]')[1]
    assert all(f".{call}()" in gated.split("#[cfg(not")[0] for call in TIMING_EXTENSION)


def test_the_facts_page_lists_every_name(shared: Path) -> None:
    page = (shared / "facts" / "core-api.md").read_text("utf-8")
    names = {name for group in PUBLIC.values() for name in group}
    names |= {name for group in FUNCTIONS.values() for name in group if name not in ("default", "new", "run")}
    spelled = {"CanonicalV1": "canonical_v1", "Aggregated": "aggregated", "Disaggregated": "disaggregated"}
    missing = [name for name in sorted(names) if spelled.get(name, name) not in page]
    assert missing == []
