"""Plan files: read back, held against their schema and against themselves before anything is done with them."""

from __future__ import annotations

import json
from typing import Any

from aisimc_compiler.plan.actions import order
from aisimc_compiler.plan.canonical import canonical_bytes, digest_of
from aisimc_compiler.records import NamedTuple
from aisimc_compiler.schemas.problems import Problem, problems

__all__ = ["LoadedPlan", "Problem", "load"]


class LoadedPlan(NamedTuple):
    """A sound plan, its exact bytes and their digest."""

    plan: dict[str, Any]
    data: bytes
    digest: str


def load(data: bytes) -> LoadedPlan | list[Problem]:
    """A plan from a file's bytes, or what is wrong with it, in the order of its places. Never raises."""
    try:
        plan = json.loads(data, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        return [Problem((), f"it is no JSON: {error}")]
    found = problems("plan", plan)
    if found:
        return found
    found = _incoherent(plan)
    if found:
        return found
    if canonical_bytes(plan) != data:
        return [
            Problem((), "it is not in canonical form: it was written or changed by something else than `aisimc plan`")
        ]
    return LoadedPlan(plan, data, digest_of(data))


def _no_constant(text: str) -> Any:
    raise ValueError(f"`{text}` is no number")


def _incoherent(plan: dict[str, Any]) -> list[Problem]:
    """What the schema cannot say: references, the configurations' digests, and the order of the actions."""
    found: list[Problem] = []
    for name, row in plan["rows"].items():
        if row["input"] not in plan["inputs"]:
            found.append(Problem(("rows", name, "input"), f"there is no input `{row['input']}`"))
        text = row["configuration_text"]
        data = canonical_bytes(row["configuration"]) if text is None else text.encode("utf-8", "surrogatepass")
        if digest_of(data) != row["configuration_sha256"]:
            found.append(Problem(("rows", name, "configuration_sha256"), "it is not the configuration's"))
    for name, record in plan["exceptions"].items():
        if record["row"] not in plan["rows"]:
            found.append(Problem(("exceptions", name, "row"), f"there is no row `{record['row']}`"))
    ids = {entry["id"] for entry in plan["actions"]}
    for number, entry in enumerate(plan["actions"]):
        unknown = [need for need in entry["needs"] if need not in ids]
        found += [Problem(("actions", number, "needs"), f"there is no action `{need}`") for need in unknown]
    if not found:
        try:
            if [entry["id"] for entry in order(plan["actions"])] != [entry["id"] for entry in plan["actions"]]:
                found.append(Problem(("actions",), "they are not in order"))
        except (ValueError, KeyError, TypeError) as error:
            found.append(Problem(("actions",), f"they cannot be put in order: {error}"))
    return found
