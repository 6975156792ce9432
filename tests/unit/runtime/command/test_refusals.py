"""What a command says when it cannot begin: one line, its status, and an object where `--json` is read."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.unit.runtime.command.aisimc import aisimc

BROKEN = 'campaign "x" {\n  language = 2\n}\n'


def test_run_json_gives_an_object_for_a_campaign_that_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.campaign").write_text(BROKEN)
    done = aisimc("run", "--json", "x.campaign", cwd=tmp_path)
    found = json.loads(done.out)
    assert (done.status, found["state"], found["exit_status"], found["semantic"]) == (2, "refused", 2, None)
    assert "aisimc check --format json x.campaign" in found["help"]
    assert "language.version" in done.err


@pytest.mark.parametrize("below", ["", "/deeper/still"])
@pytest.mark.parametrize("command", [("store", "ls"), ("store", "verify"), ("store", "gc")])
def test_a_store_in_a_file_is_blocked(tmp_path: Path, command: tuple[str, ...], below: str) -> None:
    (tmp_path / "file").write_text("")
    done = aisimc(*command, AISIMC_STORE=f"{tmp_path}/file{below}")
    assert (done.status, done.out) == (3, "")
    assert done.err.splitlines() == [
        f"aisimc: error: the store cannot be at {tmp_path}/file{below}: {tmp_path}/file is a file",
        "  help: name a folder with AISIMC_STORE or --store",
    ]


def test_a_folder_that_is_not_there_is_named_without_temporary_files(tmp_path: Path) -> None:
    (tmp_path / "x.campaign").write_text(BROKEN)
    specs = Path(__file__).parents[4] / "specs" / "quickstart.campaign"
    done = aisimc("plan", "-o", f"{tmp_path}/none/plan.json", str(specs))
    assert done.status == 3
    assert done.err.splitlines()[0] == (
        f"aisimc: error: cannot write {tmp_path}/none/plan.json: no such file or directory"
    )


def test_records_that_differ_in_spelling_only_have_no_table(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('{"a": 1, "b": [2]}\n')
    (tmp_path / "b.json").write_text('{"b":[2],"a":1}\n')
    done = aisimc("diff", f"{tmp_path}/a.json", f"{tmp_path}/b.json")
    assert done.status == 0
    assert done.out.strip() == "the values are the same: only key order, white space or spelling differ"


@pytest.mark.parametrize("verb", ["check", "plan", "run"])
def test_a_misspelt_file_is_answered_with_the_nearest(tmp_path: Path, verb: str) -> None:
    (tmp_path / "nightly.campaign").write_text(BROKEN)
    done = aisimc(verb, "nigthly.campaign", cwd=tmp_path)
    assert done.status == 2
    assert done.err.splitlines()[-1] == "  help: did you mean `nightly.campaign`?"
    assert "help" not in aisimc(verb, "something-else.campaign", cwd=tmp_path).err
