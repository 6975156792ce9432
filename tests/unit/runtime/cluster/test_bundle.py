"""A result is whole under its name or not there, and of two results one stands, unmixed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from aisimc_runtime.executors.cluster.bundle import MANIFEST, Broken, Checked, check_bundle, publish


@pytest.fixture
def made(tmp_path: Path) -> Path:
    """What a row runner left."""
    folder = tmp_path / "made"
    (folder / "replays" / "baseline-1").mkdir(parents=True)
    (folder / "replays" / "baseline-1" / "process.json").write_text("{}")
    (folder / "collected.json").write_text('{"row":"a"}')
    return folder


def published(made: Path, name: str = "partial", node: str = "n1") -> Path:
    target = made.parent / "row" / "result"
    target.parent.mkdir(exist_ok=True)
    publish(made, target, made.parent / "row" / name, {"row": "a", "node": node})
    return target


def test_what_is_published_holds(made: Path) -> None:
    checked = check_bundle(published(made))
    assert isinstance(checked, Checked)
    assert sorted(checked.manifest["files"]) == ["collected.json", "replays/baseline-1/process.json"]
    assert checked.manifest["node"] == "n1"


def test_nothing_published_is_no_bundle(tmp_path: Path) -> None:
    assert check_bundle(tmp_path / "result") is None


def test_the_first_of_two_results_stands(made: Path) -> None:
    target = published(made)
    before = (target / MANIFEST).read_bytes()
    (made / "collected.json").write_text('{"row":"b"}')
    again = publish(made, target, made.parent / "row" / "other", {"row": "a", "node": "n2"})
    assert again is False
    assert (target / MANIFEST).read_bytes() == before
    assert isinstance(check_bundle(target), Checked)


def test_what_a_killed_attempt_left_is_not_a_result(made: Path) -> None:
    row = made.parent / "row"
    (row / "partial").mkdir(parents=True)
    (row / "partial" / "half").write_text("…")
    assert check_bundle(row / "result") is None
    assert isinstance(check_bundle(published(made)), Checked)
    assert not (row / "result" / "half").exists()


@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        (lambda folder: (folder / "collected.json").write_text("{}"), "collected.json hashes to"),
        (lambda folder: (folder / "collected.json").unlink(), "collected.json is missing"),
        (lambda folder: (folder / "more.txt").write_text(""), "more.txt is not in the manifest"),
        (lambda folder: (folder / MANIFEST).write_text("{"), "is not a manifest of this version, or was changed"),
        (lambda folder: (folder / MANIFEST).write_text("[]"), "is not a manifest of this version, or was changed"),
        (lambda folder: (folder / MANIFEST).unlink(), "has no manifest"),
    ],
)
def test_damage_is_named(made: Path, damage: object, reason: str) -> None:
    folder = published(made)
    damage(folder)  # type: ignore[operator]
    found = check_bundle(folder)
    assert isinstance(found, Broken)
    assert reason in found.reason


def test_a_manifest_whose_list_was_changed_does_not_hold(made: Path) -> None:
    folder = published(made)
    manifest = json.loads((folder / MANIFEST).read_bytes())
    manifest["files"]["collected.json"]["sha256"] = "0" * 64
    (folder / MANIFEST).write_text(json.dumps(manifest))
    assert isinstance(check_bundle(folder), Broken)


def test_links_are_not_brought_back(made: Path) -> None:
    (made / "link").symlink_to("/etc/hostname")
    checked = check_bundle(published(made))
    assert isinstance(checked, Checked)
    assert "link" not in checked.manifest["files"]
