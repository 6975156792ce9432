"""Rules about the whole campaign: what was executed, what was read, what is left out of the comparison."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from aisimc_runtime.evidence.finding import Finding, Status
from aisimc_runtime.evidence.view import ARMS, Row


def exclusions(plan: dict[str, Any], artifacts: dict[str, Any]) -> Iterator[Finding]:
    """exclude.pinned: the list that the revision's own runner reports is the declared one.

    A wheel cannot be asked for it: that is not observable, neither satisfied nor failed.
    """
    declared = sorted(plan["exclusions"])
    for arm in ARMS:
        artifact = artifacts.get(arm)
        if artifact is None:
            continue
        own = artifact.get("exclusions")
        if own is None:
            text = f"the {arm} cannot be asked for its own exclusion list"
            yield Finding("exclude.pinned", None, arm, Status.NOT_OBSERVABLE, text, declared)
        elif sorted(own) == declared:
            text = f"the {arm}'s own exclusion list is the declared one"
            yield Finding("exclude.pinned", None, arm, Status.SATISFIED, text, declared, sorted(own))
        else:
            text = f"the {arm}'s own exclusion list is another than the declared one"
            yield Finding("exclude.pinned", None, arm, Status.FAILED, text, declared, sorted(own))


def planner(row: Row) -> Iterator[Finding]:
    """exclude.planner: an engine-only record carries `planner: null`."""
    for arm in row.judged():
        if arm.extract is None:
            continue
        state = arm.extract["planner"]
        if state == "null":
            yield Finding("exclude.planner", row.name, arm.name, Status.SATISFIED, "no planner ran", "null", state)
        else:
            text = f"the {arm.name}'s record does not say that no planner ran"
            yield Finding("exclude.planner", row.name, arm.name, Status.FAILED, text, "null", state)


def identity(plan: dict[str, Any], artifacts: dict[str, Any]) -> Iterator[Finding]:
    """pin.embedded: the artifact reports the revision that was pinned, from what was built into it."""
    for arm in ARMS:
        artifact = artifacts.get(arm)
        if artifact is None:
            continue
        pinned, told = plan["revisions"][arm], (artifact.get("describe") or {}).get("revision")
        wanted = _pinned_words(pinned)
        if told is None:
            text = f"the {arm}'s artifact does not say which revision it is"
            yield Finding("pin.embedded", None, arm, Status.MISSING, text, wanted)
        elif _is(pinned, str(told)):
            text = f"the {arm}'s artifact reports the pinned revision"
            yield Finding("pin.embedded", None, arm, Status.SATISFIED, text, wanted, told)
        else:
            text = f"the {arm}'s artifact reports another revision than the pinned one"
            yield Finding("pin.embedded", None, arm, Status.FAILED, text, wanted, told)


def _pinned_words(revision: dict[str, Any]) -> str:
    if revision["source"] == "checkout":
        return str(revision["commit"])
    if revision["source"] == "wheel":
        return str(revision["requirement"])
    patch = revision.get("patch")
    return str(revision["sha256"]) + (f"+{patch['sha256']}" if patch else "")


def _is(revision: dict[str, Any], told: str) -> bool:
    """Whether a reported revision is the pinned one: by commit, by version or file hash, by sources and patch."""
    if revision["source"] == "checkout":
        return str(revision["commit"]) == told
    if revision["source"] == "wheel":
        words = told.split()
        return revision["requirement"] in words or f"sha256:{revision['sha256']}" in words
    return told.endswith(_pinned_words(revision))


def artifact(row: Row, artifacts: dict[str, Any]) -> Iterator[Finding]:
    """pin.artifact: what a replay executed is the artifact that was pinned or built."""
    for name in ARMS:
        pinned = (artifacts.get(name) or {}).get("sha256")
        executed = {
            str(replay.counters["runner_binary_sha256"])
            for replay in row.arms[name].replays
            if replay.counters and replay.counters.get("runner_binary_sha256")
        }
        if not executed or pinned is None:
            continue
        if executed == {pinned}:
            yield Finding(
                "pin.artifact", row.name, name, Status.SATISFIED, f"the {name}'s replays ran the pinned bytes"
            )
        else:
            text = f"a replay of the {name} ran other bytes than the artifact that was pinned or built"
            yield Finding("pin.artifact", row.name, name, Status.FAILED, text, pinned, sorted(executed))


def same_build(plan: dict[str, Any], artifacts: dict[str, Any]) -> Iterator[Finding]:
    """pin.same-build: both arms run under the same runner source, built with the same toolchain and features."""
    if any(arm not in artifacts for arm in ARMS):
        return
    keys = ["runner_source_sha256"] if plan.get("build") is None else ["runner_source_sha256", "toolchain", "features"]
    baseline, candidate = (artifacts[arm] for arm in ARMS)
    other = [key for key in keys if baseline.get(key) != candidate.get(key)]
    if other:
        text = f"the two arms were not built alike: {', '.join(other)} differ"
        status, seen = Status.FAILED, {key: [baseline.get(key), candidate.get(key)] for key in other}
        yield Finding("pin.same-build", None, None, status, text, "the same", seen)
    else:
        text = "both arms: the same runner source" + (", toolchain and features" if plan.get("build") else "")
        yield Finding("pin.same-build", None, None, Status.SATISFIED, text)


def corrections(plan: dict[str, Any], artifacts: dict[str, Any]) -> Iterator[Finding]:
    """pin.correction: the declared corrections were applied to both arms alike, each with its checksum."""
    if any(arm not in artifacts for arm in ARMS):
        return
    declared = sorted(entry["name"] for entry in plan["determinism"].get("corrections") or ())
    applied = [artifacts[arm].get("correction") or [] for arm in ARMS]
    names = [sorted(entry["name"] for entry in found) for found in applied]
    if applied[0] != applied[1] or names[0] != declared or not all(entry.get("sha256") for entry in applied[0]):
        text = "the corrections applied to the two arms are not the declared ones, or not alike"
        yield Finding("pin.correction", None, None, Status.FAILED, text, declared, names)
    elif declared:
        text = f"both arms were corrected alike: {', '.join(declared)}"
        yield Finding("pin.correction", None, None, Status.SATISFIED, text, declared, names[0])


def unchanged(plan: dict[str, Any], inputs: dict[str, Any]) -> Iterator[Finding]:
    """input.unchanged, input.slice: the input is the declared one, and still is after the last replay."""
    for name, declared in sorted(plan["inputs"].items()):
        seen = inputs.get(name) or {}
        cut = declared.get("slice") or {}
        pairs = (("sha256", declared["sha256"]), ("slice_sha256", cut.get("sha256")))
        other = [key for key, wanted in pairs if wanted is not None and seen.get(key) not in (None, wanted)]
        if other:
            text = f"input {name} is not the declared one: {', '.join(other)}"
            yield Finding(
                "input.checksum", None, None, Status.FAILED, text, dict(pairs), {key: seen[key] for key in other}
            )
        state = seen.get("unchanged")
        if state is True:
            text = f"input {name} has its checksum still, after the last replay"
            yield Finding("input.unchanged", None, None, Status.SATISFIED, text, cut.get("sha256"), cut.get("sha256"))
        elif state is False:
            text = f"input {name} changed while the campaign ran"
            yield Finding("input.unchanged", None, None, Status.FAILED, text, cut.get("sha256"))
        else:
            text = f"input {name} was not hashed again after the last replay"
            yield Finding("input.unchanged", None, None, Status.MISSING, text, cut.get("sha256"))
