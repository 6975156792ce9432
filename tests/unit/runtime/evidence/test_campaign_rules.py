"""What holds for a whole campaign: exclusions, revisions, inputs, builds, corrections."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pytest

from aisimc_runtime.evidence.checks import campaign_findings
from aisimc_runtime.evidence.finding import Finding, Status
from aisimc_runtime.verdict.collect import collect
from tests.builders import records, runs
from tests.unit.runtime.evidence.findings import ROW, Json, bad, checked


def about(run: Path) -> list[Finding]:
    found = collect(run)
    return campaign_findings(found.plan, found.artifacts, found.inputs)


def campaign(tmp_path: Path, change: Callable[[runs.RunBuilder], None], **plan_changes: Any) -> set[tuple[str, str]]:
    plan = runs.plan({ROW: runs.plan_row()}, **plan_changes)
    builder = runs.RunBuilder(tmp_path, plan)
    change(builder)
    return bad(about(builder.finish()))


def own_exclusions(*pointers: str) -> Callable[[runs.RunBuilder], None]:
    return lambda builder: builder.artifacts["candidate"].update(exclusions=list(pointers))


def test_exclusions_of_the_revision_itself(tmp_path: Path) -> None:
    assert campaign(tmp_path / "a", lambda builder: None) == set()
    assert campaign(tmp_path / "b", own_exclusions(*reversed(records.EXCLUSIONS))) == set()
    assert campaign(tmp_path / "c", own_exclusions(*records.EXCLUSIONS[:3])) == {("exclude.pinned", "failed")}


def test_wheels_cannot_be_asked_for_exclusions(tmp_path: Path) -> None:
    plan = runs.plan({ROW: runs.plan_row()})
    findings = about(runs.RunBuilder(tmp_path, plan).finish())
    assert {f.status for f in findings if f.rule == "exclude.pinned"} == {Status.NOT_OBSERVABLE}


def test_the_artifact_says_which_revision_it_is(tmp_path: Path) -> None:
    def other(builder: runs.RunBuilder) -> None:
        builder.artifacts["candidate"]["describe"]["revision"] = "aisimulate==0.12.0.dev1"

    def silent(builder: runs.RunBuilder) -> None:
        builder.artifacts["candidate"]["describe"] = {}

    assert campaign(tmp_path / "a", other) == {("pin.embedded", "failed")}
    assert campaign(tmp_path / "b", silent) == {("pin.embedded", "missing")}


@pytest.mark.parametrize(("state", "status"), [(False, "failed"), (None, "missing")])
def test_inputs_are_unchanged(tmp_path: Path, state: bool | None, status: str) -> None:
    def change(builder: runs.RunBuilder) -> None:
        builder.inputs["window"]["unchanged"] = state

    assert campaign(tmp_path, change) == {("input.unchanged", status)}


def test_the_input_is_the_declared_one(tmp_path: Path) -> None:
    def change(builder: runs.RunBuilder) -> None:
        builder.inputs["window"]["slice_sha256"] = "9" * 64

    assert campaign(tmp_path, change) == {("input.checksum", "failed")}


def test_both_arms_are_built_alike(tmp_path: Path) -> None:
    build = {"toolchain": "1.93.1", "profile": "release", "features": [], "rustflags": [], "locked": True}

    def change(builder: runs.RunBuilder) -> None:
        builder.artifacts["candidate"]["runner_source_sha256"] = "1" * 64

    assert campaign(tmp_path / "a", lambda builder: None, build=build) == set()
    assert campaign(tmp_path / "b", change, build=build) == {("pin.same-build", "failed")}


def test_corrections_are_for_both_arms_alike(tmp_path: Path) -> None:
    declared = {
        "mode": "canonical_v1",
        "repetitions": 2,
        "corrections": [{"name": "stable_request_identity", "kind": "built_in"}],
    }
    entry = {"name": "stable_request_identity", "sha256": "7" * 64}

    def both(builder: runs.RunBuilder) -> None:
        for arm in ("baseline", "candidate"):
            builder.artifacts[arm]["correction"] = [entry]

    def one(builder: runs.RunBuilder) -> None:
        builder.artifacts["candidate"]["correction"] = [entry]

    def unlike(builder: runs.RunBuilder) -> None:
        both(builder)
        builder.artifacts["candidate"]["correction"] = [entry | {"sha256": "8" * 64}]

    failed = {("pin.correction", "failed")}
    assert campaign(tmp_path / "a", both, determinism=declared) == set()
    assert campaign(tmp_path / "b", one, determinism=declared) == failed
    assert campaign(tmp_path / "c", unlike, determinism=declared) == failed
    assert campaign(tmp_path / "d", both) == failed


@pytest.mark.parametrize(
    ("pinned", "told", "holds"),
    [
        ({"source": "checkout", "repository": "r", "commit": "1" * 40}, "1" * 40, True),
        ({"source": "checkout", "repository": "r", "commit": "1" * 40}, "1" * 39, False),
        ({"source": "embedded", "core": "c", "sha256": "1" * 64, "patch": None}, "c@" + "1" * 64, True),
        ({"source": "embedded", "core": "c", "sha256": "1" * 64, "patch": None}, f"c@{'1' * 64}+{'2' * 64}", False),
        (
            {"source": "embedded", "core": "c", "sha256": "1" * 64, "patch": {"file": "p", "sha256": "2" * 64}},
            f"c@{'1' * 64}+{'2' * 64}",
            True,
        ),
        (runs.wheel("candidate", "0.12.0.dev2"), "aisimulate==0.12.0.dev202609170000000044", False),
        (runs.wheel("candidate", "0.12.0.dev2"), f"aisimulate==0.12.0.dev2 sha256:{'b' * 64}", True),
    ],
)
def test_reported_revisions(tmp_path: Path, pinned: Json, told: str, holds: bool) -> None:
    plan = runs.plan({ROW: runs.plan_row()})
    builder = runs.RunBuilder(tmp_path, plan)
    builder.artifacts["candidate"]["describe"]["revision"] = told
    plan["revisions"]["candidate"] = pinned
    broken = set() if holds else {("pin.embedded", "failed")}
    assert bad(about(builder.finish())) == broken


def test_findings_are_plain_data(tmp_path: Path) -> None:
    findings = checked(tmp_path, runs.plan_row(), records.vllm_record())
    assert orjson.loads(orjson.dumps([finding._asdict() for finding in findings]))[0]["rule"] == "run.fresh"
