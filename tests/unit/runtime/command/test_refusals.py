"""What a command says when it cannot begin: one line, its status, and an object where `--json` is read."""

from __future__ import annotations

import json
import re
from pathlib import Path

import jsonschema
import pytest

from aisimc_runtime.command.requalify import _make
from aisimc_runtime.failures import Blocked
from aisimc_runtime.schemas import catalogue
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


MISSING = [
    ("check",), ("fmt",), ("plan",), ("run",), ("pin",), ("requalify", "--dimension", "num_gpu_blocks"),
    ("report",), ("verify",), ("diff",), ("golden", "record", "-o", "g.yaml"), ("cancel",),
]  # fmt: skip


@pytest.mark.parametrize("verb", MISSING, ids=lambda verb: verb[0])
def test_what_is_not_there_is_said_in_one_sentence_by_every_verb(tmp_path: Path, verb: tuple[str, ...]) -> None:
    done = aisimc(*verb, "nope", *(["row"] if verb[0] == "requalify" else []), cwd=tmp_path)
    assert (done.status, done.err) == (2, "aisimc: error: nope cannot be read: there is no such file\n")


@pytest.mark.parametrize("verb", MISSING[:6], ids=lambda verb: verb[0])
def test_a_campaign_without_its_ending_is_offered_with_it(tmp_path: Path, verb: tuple[str, ...]) -> None:
    (tmp_path / "parity5k.campaign").write_text(BROKEN)
    done = aisimc(*verb, "parity5k", *(["row"] if verb[0] == "requalify" else []), cwd=tmp_path)
    assert done.err.splitlines()[-1] == "  help: did you mean `parity5k.campaign`?"


@pytest.mark.parametrize("verb", MISSING[6:], ids=lambda verb: verb[0])
def test_what_is_no_run_is_refused_in_one_sentence(tmp_path: Path, verb: tuple[str, ...]) -> None:
    (tmp_path / "folder").mkdir()
    done = aisimc(*verb, "folder", cwd=tmp_path)
    assert done.status == 2
    assert done.err.splitlines()[0] == "aisimc: error: folder is not the folder of a run"
    assert done.err.splitlines()[1].startswith("  help: ")


@pytest.mark.parametrize("verb", ["report", "verify"])
def test_the_name_of_a_run_alone_is_offered_with_its_folder(tmp_path: Path, verb: str) -> None:
    folder = tmp_path / ".aisimc" / "runs" / "nightly-0123456789ab"
    folder.mkdir(parents=True)
    (folder / "plan.json").write_text("{}")
    done = aisimc(verb, "nightly-0123456789ab", cwd=tmp_path)
    assert done.err.splitlines()[-1] == "  help: did you mean `.aisimc/runs/nightly-0123456789ab`?"


@pytest.mark.parametrize("verb", ["run", "plan"])
def test_a_run_s_folder_is_sent_to_its_report(tmp_path: Path, verb: str) -> None:
    (tmp_path / "a run").mkdir()
    (tmp_path / "a run" / "plan.json").write_text("{}")
    done = aisimc(verb, "a run", cwd=tmp_path)
    assert done.status == 2
    assert done.err.splitlines() == [
        "aisimc: error: a run is the folder of a run",
        "  help: `aisimc report 'a run'` shows its verdict; name the campaign to continue it",
    ]


def test_verify_json_gives_an_object_for_what_is_no_run(tmp_path: Path) -> None:
    done = aisimc("verify", "nope", "--json", cwd=tmp_path)
    assert json.loads(done.out) == json.loads(aisimc("run", "nope", "--json", cwd=tmp_path).out)
    found = json.loads(done.out)
    assert (done.status, found["state"], found["exit_status"]) == (2, "refused", 2)
    jsonschema.validate(found, catalogue.bundled("verification"))


@pytest.mark.parametrize(
    ("wrong", "meant"),
    [
        ("nope", "`aisimc explain` lists them all"),
        ("comit", "did you mean `pin.commit`?"),
        ("commit", "did you mean `pin.commit`?"),
        ("rwo", "did you mean `row`?"),
        ("AC011", "did you mean `AC0101`?"),
    ],
)
def test_explain_offers_near_names_only(wrong: str, meant: str) -> None:
    done = aisimc("explain", wrong)
    assert (done.status, done.err.splitlines()[-1]) == (2, f"  help: {meant}")


def test_observations_that_cannot_be_kept_are_said_with_the_flag_that_helps(tmp_path: Path) -> None:
    _make(tmp_path / "new" / "folder")
    assert list((tmp_path / "new" / "folder").iterdir()) == []
    with pytest.raises(Blocked) as caught:
        _make(Path("/proc/observations"))
    assert caught.value.message.startswith("the observations cannot be kept in /proc/observations: ")
    assert "--folder" in caught.value.help


def test_reasons_of_the_file_system_begin_in_lower_case_wherever_they_are_said(root: Path) -> None:
    package = root / "runtime" / "aisimc_runtime"
    raw = [
        f"{path.relative_to(root)}: {line.strip()}"
        for path in package.rglob("*.py")
        for line in path.read_text("utf-8").splitlines()
        if re.search(r"\{[^{}]*\.strerror[^{}]*\}", line) and "lower()" not in line
    ]
    assert raw == []
