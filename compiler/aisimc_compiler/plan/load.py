"""Plan files: read back, held against their schema and against themselves before anything is done with them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import zip_longest
from typing import Any

from aisimc_compiler.plan.actions import actions, order
from aisimc_compiler.plan.build import coverage
from aisimc_compiler.plan.canonical import canonical_bytes, digest_of
from aisimc_compiler.records import NamedTuple
from aisimc_compiler.rules.language import folder_objection
from aisimc_compiler.schemas.problems import Problem, problems

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")
_THRESHOLD = 1.05

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
    found = _names(plan)
    gate = plan["performance"]
    if gate is not None and gate["threshold"] != _THRESHOLD:
        found.append(Problem(("performance", "threshold"), f"takes only `{_THRESHOLD}`, not `{gate['threshold']}`"))
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
    return found or list(_not_derived(plan))


def _not_derived(plan: dict[str, Any]) -> Iterator[Problem]:
    """Coverage and actions follow from the rest of a plan: an edited one would be run otherwise than it reads."""
    if coverage(plan["rows"], plan["unsupported"]) != plan["coverage"]:
        yield Problem(("coverage",), "it is not what the rows and the `unsupported` records give")
    try:
        due = actions(plan)
    except (ValueError, KeyError, TypeError) as error:
        yield Problem(("actions",), f"the rows give none: {error}")
        return
    for number, (entry, other) in enumerate(zip_longest(plan["actions"], due)):
        if entry != other:
            name = (entry or other)["id"]
            yield Problem(("actions", number), f"`{name}` is not what the rest of the plan gives in this place")
            return


def _names(plan: dict[str, Any]) -> list[Problem]:
    """Names that become parts of paths: an edited plan must not lead out of the run's folder."""
    found: list[Problem] = []
    why = folder_objection(plan["campaign"]["name"])
    if why:
        found.append(Problem(("campaign", "name"), f"it cannot name the run's folder: {why}"))
    for key in ("inputs", "rows", "exceptions"):
        strange = [name for name in plan[key] if not _NAME.fullmatch(name)]
        found += [Problem((key,), f"`{name}` is no name of letters, digits, `_` and `-`") for name in strange]
    return found
