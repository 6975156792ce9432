"""What aisimc writes, held against the schemas that it prints: a member more, and one of these fails."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from aisimc_compiler.api import check_file
from aisimc_compiler.diagnostics.render import json as as_json
from aisimc_runtime.command import diff, verify
from aisimc_runtime.command.checking import code_of
from aisimc_runtime.command.run import _show, failed
from aisimc_runtime.compare import difference
from aisimc_runtime.compare.subjects import WALL_CLOCK
from aisimc_runtime.failures import Blocked, Failure, Interrupted, Refused
from aisimc_runtime.gate.result import build as build_gate
from aisimc_runtime.gate.result import not_measured
from aisimc_runtime.gate.sampler import Evicted, Measured
from aisimc_runtime.gate.samples import Recorder
from aisimc_runtime.gate.section import section
from aisimc_runtime.gate.stage import gate_folder
from aisimc_runtime.report import build
from aisimc_runtime.report.writing import encode, write_all
from aisimc_runtime.run.folder import RunFolder
from tests.builders import outcomes, records
from tests.builders.schemas import problems, validator
from tests.snapshots.test_rules import MISTAKES
from tests.unit.runtime.gate.making import DESIGN, plan, process, reading
from tests.unit.runtime.gate.test_sampler import FakeBench, ok, recorded, run
from tests.unit.runtime.gate.test_sampler import failed as product_failed

ROOT = Path(__file__).resolve().parents[4]
GOLDEN = ROOT / "tests" / "snapshots" / "__snapshots__"
EXAMPLES = [
    path
    for folder in (ROOT / "tests" / "cases" / "examples", ROOT.parent / "shared" / "examples")
    for path in sorted(folder.rglob("*.campaign"))
]


# Reports


@pytest.mark.parametrize("path", sorted(GOLDEN.glob("test_reports/*[[]report[]].json")), ids=lambda path: path.stem)
def test_golden_reports(path: Path) -> None:
    assert problems("report", json.loads(path.read_bytes())) == []


def test_every_golden_report_was_seen() -> None:
    assert len(list(GOLDEN.glob("test_reports/*[[]report[]].json"))) == len(outcomes.OUTCOMES)


def objects(value: Any, path: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Every object of a document with its place."""
    if isinstance(value, dict):
        yield path, value
        for key, item in value.items():
            yield from objects(item, f"{path}/{key}")
    elif isinstance(value, list):
        for at, item in enumerate(value):
            yield from objects(item, f"{path}/{at}")


def test_a_new_member_anywhere_in_a_report_is_noticed(tmp_path: Path) -> None:
    """But for maps by name, and what a revision says of itself."""
    report = json.loads(encode(build(outcomes.excused(tmp_path / "run"))))
    free = re.compile(
        r"/(inputs|unsupported)|.*/(counters|describe|configuration|configuration/.*|covered_by|expect|toolchain"
        r"|(terminal|routing)_counts|first_parting/record/[ab]|findings/\d+/(expected|observed)(/.*)?)"
    )
    seen: set[str] = set()
    for path, _ in list(objects(report)):
        form = re.sub(r"/\d+(?=/|$)", "/0", path)
        if form in seen or free.fullmatch(path):
            continue
        seen.add(form)
        changed = copy.deepcopy(report)
        dict(objects(changed))[path]["a_new_member"] = None
        assert not validator("report").is_valid(changed), path or "the report itself"
    assert len(seen) > 50


# The gate


def disturbed(number: int) -> Measured | None:
    """Warmer and slower clocked as time goes on; pair 2 loses its CPU for a while."""
    return ok("baseline", run_delay_ms=5.0 if number == 14 else 0.0, jitter=number % 7)


def sensors(number: int) -> Measured:
    told = {"temperature_c": 40.0 + number % 5, "frequency_mhz": 3000.0 + number % 3, "throttles": 0}
    more = {"context_switches": 10_000 + number, "pressure_us": 500 + number}
    timing = {"replay_execution_ms": 20.0 + number % 11 * 0.01, "setup_ms": 1.0, "end_to_end_ms": 23.0}
    return Measured(process(), reading(**told, **more), reading(at_s=100.03, **told, **more), timing)


def blind(number: int) -> Measured:
    """A machine that tells nothing but the time."""
    timing = {"replay_execution_ms": 20.0 + number % 11 * 0.01, "setup_ms": 1.0, "end_to_end_ms": 23.0}
    unknown: dict[str, Any] = dict.fromkeys(("run_delay_ms", "affinity_at_start", "affinity_at_end", "last_cpu"))
    bare: dict[str, Any] = dict.fromkeys(("load1", "runnable", "node", "pinned"))
    return Measured(process(**unknown), reading(**bare), reading(at_s=100.03, **bare), timing)


def crashed(number: int) -> Measured | None:
    dead = process(exit_status=None, signal=11, stderr="panicked")
    return Measured(dead, reading(), reading(), None, "was killed by signal 11") if number == 30 else None


SCRIPTS: dict[str, Callable[[int], Any]] = {
    "pass": lambda number: None,
    "disturbed": disturbed,
    "sensors": sensors,
    "blind": blind,
    "constant": lambda number: ok("baseline"),
    "crashed": crashed,
    "failed in a warm-up": lambda number: product_failed("exit status 1: no blocks") if number == 3 else None,
    "exhausted": lambda number: ok("x", run_delay_ms=5.0) if number > 10 else None,
    "interrupted": lambda number: Interrupted("Ctrl-C") if number == 42 else None,
    "evicted": lambda number: Evicted("told to end by SIGTERM") if number == 12 else None,
}


@pytest.fixture(params=list(SCRIPTS))
def gated(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A run whose only gated row was tried in one of these ways."""
    monkeypatch.setattr("os.fsync", lambda handle: None)
    (tmp_path / "plan.json").write_text(json.dumps(plan()))
    sizes = {"source": "embedded", "size_bytes": 1000, "text_size_bytes": 500}
    (tmp_path / "artifacts.json").write_text(json.dumps({"baseline": sizes, "candidate": sizes}))
    folder = gate_folder(tmp_path, "row")
    folder.mkdir(parents=True)
    try:
        run(folder, FakeBench(SCRIPTS[request.param]))
    except Interrupted:
        pass
    else:
        gate = build_gate(DESIGN, "row", recorded(folder))
        (folder / "gate.json").write_text(json.dumps(gate))
    return tmp_path


def test_gates_and_their_samples(gated: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = gate_folder(gated, "row")
    lines = [json.loads(line) for line in (folder / "samples.jsonl").read_text().splitlines()]
    assert [found for line in lines for found in problems("gate-samples", line)] == []
    if (folder / "gate.json").exists():
        gate = json.loads((folder / "gate.json").read_bytes())
        assert problems("gate", gate) == []
        assert problems("gate", gate | {"a_new_member": 1})
    report = build(outcomes.passing(tmp_path_factory.mktemp("run") / "run"))
    whole = json.loads(encode(report | {"performance": section(gated)}))
    assert problems("report", whole) == []
    whole["performance"]["rows"][0]["samples"][0]["a_new_member"] = 1
    assert problems("report", whole)


def test_a_new_member_of_any_line_is_noticed(gated: Path) -> None:
    lines = (gate_folder(gated, "row") / "samples.jsonl").read_text().splitlines()
    events = {tuple(event): event for event in map(json.loads, lines)}
    for event in events.values():
        for path in [path for path, _ in objects(event) if path != "/verified"]:
            changed = copy.deepcopy(event)
            dict(objects(changed))[path]["a_new_member"] = 1
            assert not validator("gate-samples").is_valid(changed), (event["event"], path)


def test_a_gate_that_was_not_measured() -> None:
    gate = json.loads(json.dumps(not_measured(DESIGN, "row", "the candidate is not qualified on this row")))
    assert problems("gate", gate) == []
    assert problems("gate", gate | {"pairs": []})
    assert problems("gate", gate | {"result": "PASS"})


def test_the_note_of_a_torn_line(tmp_path: Path) -> None:
    with Recorder(tmp_path / "samples.jsonl") as record:
        record.write("note", text="a torn last line was cut off", bytes=30)
    assert problems("gate-samples", json.loads((tmp_path / "samples.jsonl").read_bytes())) == []


# Differences


def dropped(record: records.Record) -> None:
    del record["per_request"][2]
    record["summary"]["mean_ttft_ms"] = 21


def turned(record: records.Record) -> None:
    record["per_request"].reverse()
    record["summary"]["new"] = {"deep": [1, "x"]}


def retyped(record: records.Record) -> None:
    record["per_request"][0]["session_id"] = "another"
    record["per_request"][4]["first_token_ms"] += 0.25
    record["per_request"][5]["output_length"] = "4"
    record["planner"] = 0


@pytest.mark.parametrize("change", [dropped, turned, retyped])
def test_differences_of_every_kind(tmp_path: Path, change: Callable[[records.Record], None]) -> None:
    one = records.vllm_record()
    other = records.changed(one)
    change(other)
    found = difference(records.write(one, tmp_path / "a"), records.write(other, tmp_path / "b"))
    document = json.loads(json.dumps(found))
    assert problems("difference", document) == []
    for path in [path for path, _ in objects(document) if not re.search(r"first_parting/record/[ab]$", path)]:
        changed = copy.deepcopy(document)
        dict(objects(changed))[path]["a_new_member"] = 1
        assert not validator("difference").is_valid(changed), path


@pytest.mark.parametrize(
    ("old", "new", "newer"),
    [
        (b'"output_length":4,', b'"output_length":4,', b'"output_length":' + b"9" * 400 + b","),
        (b'"first_token_ms":20.5,', b'"first_token_ms":1e999,', b'"first_token_ms":2e999,'),
    ],
)
def test_numbers_beyond_every_double_leave_a_difference_json(
    tmp_path: Path, old: bytes, new: bytes, newer: bytes
) -> None:
    """They once made `difference.json` a file with the word Infinity in it, which no JSON parser takes."""
    path = records.write(records.vllm_record(), tmp_path / "record")
    for name, text in (("a", new), ("b", newer)):
        assert old in path.read_bytes()
        (tmp_path / name).write_bytes(path.read_bytes().replace(old, text, 1))
    for sides in (("a", "b"), ("b", "a")):
        found = difference(*(tmp_path / side for side in sides))
        assert found is not None
        assert found["first_parting"] is None
        assert problems("difference", json.loads(json.dumps(found, allow_nan=False))) == []


@pytest.mark.parametrize("outcome", ["exceptions", "difference", "instability"])
def test_differences_in_a_run(tmp_path: Path, outcome: str) -> None:
    folder = outcomes.OUTCOMES[outcome](tmp_path / "run")
    paths = [path for pattern in ("difference", "instability-*") for path in folder.glob(f"rows/*/{pattern}.json")]
    assert paths
    for path in paths:
        assert problems("difference", json.loads(path.read_bytes())) == []


def printed(command: Any, *arguments: object) -> Any:
    return json.loads(CliRunner().invoke(command, [str(argument) for argument in arguments]).output)


def test_what_diff_prints(tmp_path: Path) -> None:
    folder = outcomes.differing(tmp_path / "run")
    assert problems("difference", printed(diff.command, folder, "--row", outcomes.NAME, "--json", "--limit", 1)) == []
    same = printed(diff.command, folder, folder, "--row", outcomes.NAME, "--json")
    assert (problems("difference", same), same["equal"]) == ([], True)
    raw = records.vllm_record()["summary"] | {"per_request": records.vllm_record()["per_request"]}
    for number in (1, 2):
        (tmp_path / f"{number}.json").write_text(json.dumps(raw | dict.fromkeys(WALL_CLOCK, 1.0 * number)))
    left_out = printed(diff.command, tmp_path / "1.json", tmp_path / "2.json", "--json")
    assert (problems("difference", left_out), left_out["same_values"]) == ([], True)


# Verification, results of runs, diagnostics


@pytest.mark.parametrize("outcome", list(outcomes.OUTCOMES))
def test_what_verify_prints(tmp_path: Path, outcome: str) -> None:
    folder = outcomes.OUTCOMES[outcome](tmp_path / "run")
    write_all(folder)
    (folder / "a note of mine").write_text("keep")
    assert problems("verification", printed(verify.command, folder, "--json")) == []
    (folder / "report.json").write_text("{}")
    damaged = printed(verify.command, folder, "--json")
    assert (problems("verification", damaged), damaged["verified"]) == ([], False)
    assert problems("verification", damaged | {"verified": True})


@pytest.mark.parametrize("outcome", list(outcomes.OUTCOMES))
def test_the_result_of_a_run(tmp_path: Path, capsys: pytest.CaptureFixture[str], outcome: str) -> None:
    folder = outcomes.OUTCOMES[outcome](tmp_path / "run")
    status = _show(write_all(folder), RunFolder(folder), True)
    result = json.loads(capsys.readouterr().out)
    assert (problems("run-result", result), result["exit_status"]) == ([], status)
    assert problems("run-result", result | {"a_new_member": 1})


@pytest.mark.parametrize("failure", [Refused("no"), Blocked("no", help="do"), Interrupted("no")])
def test_a_run_without_a_verdict(failure: Failure) -> None:
    result = json.loads(json.dumps(failed(failure)))
    assert problems("run-result", result) == []
    assert problems("run-result", result | {"exit_status": 0})


def diagnosed(file: str) -> Any:
    return json.loads(as_json.render(check_file(Path(file)).diagnostics, code_of))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_diagnostics_of_the_examples(path: Path) -> None:
    document = diagnosed(str(path))
    assert problems("diagnostics", document) == []
    if path.parent.name == "invalid":
        assert document["diagnostics"]


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.rule)
def test_diagnostics_of_every_rule(mistake: Any) -> None:
    golden = GOLDEN / "test_rules" / f"test_what_a_rule_says[{mistake.rule}].txt"
    document = json.loads(golden.read_text()[golden.read_text().index('{\n  "diagnostics"') :])
    assert problems("diagnostics", document) == []
    for path, _ in list(objects(document)):
        changed = copy.deepcopy(document)
        dict(objects(changed))[path]["a_new_member"] = 1
        assert not validator("diagnostics").is_valid(changed), path
