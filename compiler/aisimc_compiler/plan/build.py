"""From a sound campaign to its plan: plain JSON-able data, the same for the same meaning."""

from __future__ import annotations

from typing import Any

from aisimc_compiler.model import closed
from aisimc_compiler.model.campaign import Campaign, Input, Revision, SemanticException
from aisimc_compiler.plan.actions import actions
from aisimc_compiler.plan.canonical import canonical_bytes, digest_of
from aisimc_compiler.plan.configuration import Json, slice_of, value_of
from aisimc_compiler.plan.rows import plan_row
from aisimc_compiler.rules.pinning.identity import wheel_pin

__all__ = ["build_plan", "canonical_bytes", "digest_of"]

SCHEMA = "aisimc.plan/1"


def build_plan(campaign: Campaign) -> Json:
    """The plan of a whole campaign in which nothing was refused."""
    unsupported = {
        entry.id.value: {"on": value_of(entry.on), "reason": value_of(entry.reason)} for entry in campaign.unsupported
    }
    rows = {row.name.value: plan_row(campaign, row, unsupported) for row in campaign.rows}
    used = {row["input"] for row in rows.values()}
    plan: Json = {
        "schema": SCHEMA,
        "campaign": _header(campaign),
        "revisions": {arm: _revision(campaign.revisions[arm]) for arm in closed.ARMS},
        "relation": _relation(campaign),
        "build": _build(campaign),
        "determinism": _determinism(campaign),
        "exclusions": list(closed.EXCLUSIONS),
        "inputs": {name: _input(entry) for name, entry in campaign.inputs.items() if name in used},
        "rows": rows,
        "unsupported": unsupported,
        "coverage": coverage(rows, unsupported),
        "exceptions": {entry.name.value: _exception(entry) for entry in campaign.exceptions},
        "performance": _performance(campaign, rows),
    }
    plan["actions"] = actions(plan)
    return plan


def _header(campaign: Campaign) -> Json:
    return {
        "name": value_of(campaign.name),
        "language": value_of(campaign.language),
        "purpose": value_of(campaign.purpose),
        "corpus": value_of(campaign.corpus),
        "matrix": value_of(campaign.matrix),
        "self_check": value_of(campaign.self_check),
    }


def _revision(revision: Revision) -> Json:
    if revision.wheel is not None:
        pin = wheel_pin(revision.wheel.value)
        assert pin is not None
        return {
            "source": "wheel",
            "requirement": "==".join(pin),
            "name": pin[0],
            "version": pin[1],
            "sha256": value_of(revision.sha256).lower(),
        }
    if revision.embedded is not None:
        patch = None
        if revision.patch is not None:
            patch = {
                "file": placed(revision.base, revision.patch.value),
                "sha256": value_of(revision.patch_sha256).lower(),
            }
        return {
            "source": "embedded",
            "core": revision.embedded.value,
            "sha256": value_of(revision.sha256).lower(),
            "patch": patch,
        }
    return {
        "source": "checkout",
        "repository": value_of(revision.repository),
        "commit": value_of(revision.commit).lower(),
    }


def placed(base: str, text: str) -> str:
    """A path relative to the campaign's folder."""
    import posixpath

    return posixpath.normpath(base + text)


def _relation(campaign: Campaign) -> Json | None:
    candidate = campaign.revisions["candidate"]
    if candidate.relation is None:
        return None
    if candidate.relation_is_word:
        return {"kind": "ancestor"}
    return {"kind": "stated", "text": candidate.relation.value}


def _build(campaign: Campaign) -> Json | None:
    build = campaign.build
    if build is None:
        return None
    return {
        "toolchain": value_of(build.toolchain),
        "profile": value_of(build.profile),
        "features": sorted(item.value for item in value_of(build.features)),
        "rustflags": [item.value for item in value_of(build.rustflags)],
        "locked": value_of(build.locked),
    }


def _determinism(campaign: Campaign) -> Json:
    determinism = campaign.determinism
    assert determinism is not None
    corrections = []
    for entry in determinism.corrections:
        correction: Json = {"name": entry.name.value, "kind": "built_in"}
        if entry.patch is not None:
            correction["kind"] = "patch"
            correction["file"] = placed(entry.base, entry.patch.value)
            correction["sha256"] = value_of(entry.sha256).lower()
        corrections.append(correction)
    return {
        "mode": value_of(determinism.mode),
        "repetitions": value_of(determinism.repetitions),
        "corrections": corrections,
    }


def _input(entry: Input) -> Json:
    if entry.upstream is not None:
        source: Json = {
            "kind": "upstream",
            "repository": entry.upstream.value,
            "commit": value_of(entry.commit).lower(),
            "path": value_of(entry.path),
        }
    elif entry.generator is not None:
        source = {
            "kind": "generator",
            "seed": value_of(entry.generator.seed),
            "rows": value_of(entry.generator.rows),
        }
    else:
        source = {"kind": "file", "file": placed(entry.base, value_of(entry.file))}
    return {
        "format": value_of(entry.format),
        "block_size": value_of(entry.block_size),
        "source": source,
        "sha256": value_of(entry.sha256).lower(),
        "rows": value_of(entry.rows),
        "slice": slice_of(entry),
    }


def coverage(rows: dict[str, Json], unsupported: dict[str, Json]) -> list[Json]:
    """The eight ids in the matrix's order, then the others that the campaign declares."""
    carried = {row["matrix_id"]: (name, row) for name, row in rows.items() if row["matrix_id"]}
    others = sorted((carried.keys() | unsupported.keys()) - set(closed.AUTHORITATIVE))
    found = []
    for name in (*closed.AUTHORITATIVE, *others):
        row_name, row = carried.get(name, (None, None))
        entry = unsupported.get(name)
        if entry is not None and entry["on"] != "baseline":
            status, reason = "unsupported", entry["reason"]
        elif row is None:
            status, reason = ("unsupported", entry["reason"]) if entry else ("not-declared", "")
        else:
            status, reason = "covered", entry["reason"] if entry else ""
        found.append({"id": name, "row": row_name, "status": status, "reason": reason})
    return found


def _exception(entry: SemanticException) -> Json:
    parts: dict[str, Any] = {name: value_of(given) for name, given in entry.parts.items()}
    test = entry.test
    assert test is not None
    requests = parts["requests"]
    return {
        **parts,
        "differs": sorted(item.value for item in parts["differs"]),
        "requests": requests if isinstance(requests, str) else sorted(item.value for item in requests),
        "regression_test": {
            "command": [item.value for item in value_of(test.command)],
            "fails_on": value_of(test.fails_on),
            "passes_on": value_of(test.passes_on),
        },
    }


def _performance(campaign: Campaign, rows: dict[str, Json]) -> Json | None:
    gate = campaign.performance
    if gate is None:
        return None
    parts: dict[str, Any] = {name: value_of(given) for name, given in gate.parts.items()}
    measurable = sorted(
        name
        for name, row in rows.items()
        if row["kind"] == "row" and all(arm["supported"] and arm["repetitions"] == 2 for arm in row["arms"].values())
    )
    named = parts["rows"]
    return {
        "metric": parts["metric"],
        "rows": measurable if named == "all" else sorted(item.value for item in named),
        "warmups": parts["warmups"],
        "pairs": parts["pairs"],
        "seed": parts["seed"],
        "threshold": parts["threshold"],
        "exchangeability": parts["exchangeability"],
        "diagnostics": {name: given.value for name, given in (gate.diagnostics or {}).items()},
        "invalidate_on": sorted(item.value for item in parts["invalidate_on"]),
        "size_explanation": parts.get("size_explanation"),
    }
