"""Verification: a run folder proves itself, and one changed byte in any kept file is found."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import orjson
import pytest
from click.testing import CliRunner

from aisimc_runtime.command.report import command as report_command
from aisimc_runtime.command.verify import command
from aisimc_runtime.failures import Blocked
from aisimc_runtime.report import html, junit
from aisimc_runtime.report.manifest import kept_files, write_manifest
from aisimc_runtime.report.verification import Outcome, verify
from aisimc_runtime.report.verification.telling import first_difference
from aisimc_runtime.report.writing import write_all
from tests.builders import outcomes


def wrong(folder: Path) -> set[str]:
    return {check.what for check in verify(folder) if check.outcome is Outcome.WRONG}


@pytest.fixture(params=list(outcomes.OUTCOMES))
def finished(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A finished run of every kind."""
    folder: Path = outcomes.OUTCOMES[request.param](tmp_path / "run")
    write_all(folder)
    return folder


def test_a_finished_run_verifies(finished: Path) -> None:
    assert wrong(finished) == set()


def test_so_does_a_moved_and_read_only_one(finished: Path, tmp_path: Path) -> None:
    target = tmp_path / "archive" / "renamed"
    shutil.copytree(finished, target)
    for path in sorted(target.rglob("*"), reverse=True):
        path.chmod(0o555 if path.is_dir() else 0o444)
    target.chmod(0o555)
    before = sorted(path.relative_to(target) for path in target.rglob("*"))
    assert wrong(target) == set()
    assert sorted(path.relative_to(target) for path in target.rglob("*")) == before
    for path in (target, *target.rglob("*")):
        path.chmod(0o755)


def test_every_byte_counts(finished: Path) -> None:
    for relative in [*kept_files(finished), Path("manifest.json")]:
        path = finished / relative
        data = path.read_bytes()
        for offset in sorted({0, len(data) // 2, len(data) - 1}) if data else ():
            path.write_bytes(data[:offset] + bytes([data[offset] ^ 1]) + data[offset + 1 :])
            assert wrong(finished), f"byte {offset} of {relative}"
        path.write_bytes(data + b"\n")
        assert wrong(finished), f"a line more in {relative}"
        path.write_bytes(data)
    assert wrong(finished) == set()


def test_a_white_space_byte_of_the_manifest_counts(tmp_path: Path) -> None:
    folder = outcomes.passing(tmp_path / "run")
    write_all(folder)
    path = folder / "manifest.json"
    path.write_bytes(path.read_bytes().replace(b'": ', b'":\t', 1))
    assert wrong(folder) == {"manifest.json"}


def test_a_file_that_is_gone_is_found(tmp_path: Path) -> None:
    folder = outcomes.differing(tmp_path / "run")
    write_all(folder)
    (folder / "rows" / outcomes.NAME / "replays" / "baseline-1" / "stderr.txt").unlink()
    assert wrong(folder) == {f"rows/{outcomes.NAME}/replays/baseline-1/stderr.txt"}


def forge(folder: Path, relative: str, **changes: Any) -> set[str]:
    """Change a kept file and make the manifest fit, as somebody would who wants another verdict."""
    path = folder / relative
    path.write_bytes(orjson.dumps(orjson.loads(path.read_bytes()) | changes))
    write_manifest(folder)
    return wrong(folder)


@pytest.mark.parametrize(
    ("relative", "changes"),
    [
        ("report.json", {"verdict": {"semantic": "PASS", "state": "complete"}}),
        ("report.json", {"digest": "0" * 64}),
        ("rows/vllm-aggregated/difference.json", {"values": 1}),
        ("rows/vllm-aggregated/evidence/baseline.json", {"readmissions_in_all": 2}),
        ("rows/vllm-aggregated/replays/baseline-1/digests.json", {"canonical_sha256": "0" * 64}),
        ("rows/vllm-aggregated/replays/candidate-1/qualification.jsonl", {"completed_requests": 7}),
        ("rows/vllm-aggregated/configuration.json", {"row_name": "other"}),
        ("plan.json", {"exceptions": {}}),
    ],
)
def test_a_fitting_manifest_does_not_hide_what_does_not_follow(
    tmp_path: Path, relative: str, changes: dict[str, Any]
) -> None:
    folder = outcomes.differing(tmp_path / "run")
    write_all(folder)
    assert forge(folder, relative, **changes)


@pytest.mark.parametrize(
    ("relative", "old", "new", "told"),
    [
        (
            "report.json",
            b"the canonical bytes",
            b"the canonicaL bytes",
            '/message is "the canonicaL bytes of the two arms',
        ),
        ("report.json", b'"exit_status": 1', b'"exit_status": 0', "/verdict/exit_status is 0, the files give 1"),
        ("report.json", b'"used": ', b'"usee": ', ""),
        ("report.json", b'"kind": "row"', b'"kind": "rox"', '/rows/0/kind is "rox", the files give "row"'),
        ("report.json", b'"schema": "aisimc.report/1"', b'"schema":  "aisimc.report/1"', "line "),
        ("report.md", b"## Rows", b"## rows", "line "),
        (
            "rows/vllm-aggregated/replays/candidate-2/process.json",
            b'"exit_status":0',
            b'"exit_status":7',
            "/verdict/reasons/",
        ),
    ],
)
def test_what_differs_is_said_and_never_the_same_twice(
    tmp_path: Path, relative: str, old: bytes, new: bytes, told: str
) -> None:
    folder = outcomes.differing(tmp_path / "run")
    write_all(folder)
    path = folder / relative
    data = path.read_bytes()
    path.write_bytes(data.replace(old, new, 1))
    messages = [check.message for check in verify(folder) if check.outcome is Outcome.WRONG]
    assert not messages or any(told in message for message in messages), messages
    assert bool(messages) == (path.read_bytes() != data)
    for message in messages:
        sides = re.search(r"(?:is|says) (.*), the files give (.*)", message)
        assert sides is None or sides[1] != sides[2], message


@pytest.mark.parametrize(
    ("kept", "made", "told"),
    [
        ({"a": 1, "b": [1, {"c": 2}]}, {"a": 1, "b": [1, {"c": 3}]}, "/b/1/c is 2, the files give 3"),
        ({"a": 1}, {"a": 1.0}, "/a is 1, the files give 1.0"),
        ({"a": 1}, {}, "/a is 1, the files give not there"),
        ({"a": [1]}, {"a": [1, 2]}, "/a/1 is not there, the files give 2"),
        (None, {"a": 1}, '/ is null, the files give {"a":1}'),
        ({"a": [1, 2]}, {"a": [1, 2]}, None),
        (
            "x" * 80 + "y" + "z" * 80,
            "x" * 80 + "Y" + "z" * 80,
            f"/ is …{'x' * 30}y{'z' * 27}…, the files give …{'x' * 30}Y{'z' * 27}…",
        ),
    ],
)
def test_the_first_key_that_differs(kept: Any, made: Any, told: str | None) -> None:
    assert first_difference(kept, made) == told


def test_what_is_no_longer_there_is_said(tmp_path: Path) -> None:
    folder = outcomes.passing(tmp_path / "run")
    write_all(folder)
    gone = [check for check in verify(folder) if check.outcome is Outcome.GONE]
    assert len(gone) == 8
    assert all(check.what.endswith("canonical.jsonl") for check in gone)


def test_a_folder_named_after_another_plan(tmp_path: Path) -> None:
    folder = outcomes.passing(tmp_path / "hand-made-0123456789ab")
    write_all(folder)
    assert wrong(folder) == {"plan.json"}


def test_an_unfinished_run_is_checked_as_far_as_it_goes(tmp_path: Path) -> None:
    folder = outcomes.passing(tmp_path / "run")
    outcome = {check.what: check.outcome for check in verify(folder)}
    assert outcome["manifest.json"] is Outcome.NOTED
    assert outcome["report.json"] is Outcome.GONE
    assert wrong(folder) == set()


def test_a_file_beside_the_run_is_noted_and_not_trusted(tmp_path: Path) -> None:
    folder = outcomes.passing(tmp_path / "run")
    write_all(folder)
    (folder / "extra.txt").write_text("mine")
    noted = {check.what for check in verify(folder) if check.outcome is Outcome.NOTED}
    assert noted == {"extra.txt"}
    assert wrong(folder) == set()


def test_pages_written_afterwards_are_compared(tmp_path: Path) -> None:
    folder = outcomes.passing(tmp_path / "run")
    report = write_all(folder)
    (folder / "report.html").write_text(html.render(report))
    (folder / "junit.xml").write_text(junit.render(report))
    assert wrong(folder) == set()
    (folder / "report.html").write_text(html.render(report).replace("PASS", "FAIL", 1))
    assert wrong(folder) == {"report.html"}


def test_no_run_folder(tmp_path: Path) -> None:
    with pytest.raises(Blocked, match="not a run folder"):
        verify(tmp_path)


def test_the_command_ends_with_its_status(tmp_path: Path) -> None:
    folder = outcomes.differing(tmp_path / "run")
    write_all(folder)
    runner = CliRunner()
    good = runner.invoke(command, [str(folder)])
    assert (good.exit_code, good.output.splitlines()[-1].split(":")[0]) == (0, "verified")
    (folder / "report.md").write_text("# PASS\n")
    bad = runner.invoke(command, [str(folder), "--json"])
    assert bad.exit_code == 1
    document = orjson.loads(bad.output)
    assert document["verified"] is False
    assert {entry["what"] for entry in document["checks"] if entry["outcome"] == "wrong"} == {"report.md"}
    assert runner.invoke(command, [str(tmp_path)]).exit_code == 2


@pytest.mark.parametrize("text", [b"{}", b"[]", b"1", b'"text"', b"null", b'{"columns": 3, "schema": {}}'])
def test_a_file_of_other_json_is_found_and_never_a_traceback(text: bytes, tmp_path: Path) -> None:
    folder = next(iter(outcomes.OUTCOMES.values()))(tmp_path / "run")
    write_all(folder)
    for path in [path for path in sorted(folder.rglob("*.json*")) if path.name != "manifest.json"]:
        kept = path.read_bytes()
        path.write_bytes(text)
        assert wrong(folder), path
        done = CliRunner().invoke(report_command, [str(folder)])
        assert done.exception is None or isinstance(done.exception, SystemExit), (path, done.exception)
        path.write_bytes(kept)
    assert wrong(folder) == set()
