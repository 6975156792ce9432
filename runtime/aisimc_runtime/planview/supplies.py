"""What a plan needs from outside, and whether the store has it already. Looks, and neither hashes nor fetches."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

Present = Callable[[str], bool]


class Supply(NamedTuple):
    """One thing that a run needs: `have` says whether the store holds it, `otherwise` how it would be got."""

    kind: str
    name: str
    sha256: str | None
    have: bool
    otherwise: str
    download: bool


def supplies(plan: dict[str, Any], present: Present) -> Iterator[Supply]:
    """Revisions, then inputs and their slices, each once."""
    seen: set[str] = set()
    for arm, revision in sorted(plan["revisions"].items()):
        supply = _revision(arm, revision, present)
        if supply.name not in seen:
            yield supply
        seen.add(supply.name)
    for name, entry in sorted(plan["inputs"].items()):
        yield _input(name, entry, present)


def _revision(arm: str, revision: dict[str, Any], present: Present) -> Supply:
    source = revision["source"]
    if source == "wheel":
        sha256 = revision["sha256"]
        return Supply("wheel", revision["requirement"], sha256, present(sha256), "pip downloads it", True)
    if source == "checkout":
        name = f"{revision['repository']} {revision['commit'][:12]}"
        return Supply("checkout", name, None, False, "git fetches it, unless its mirror is here", True)
    return Supply("sources", f"{revision['core']} ({arm})", None, False, "shipped with aisimc", False)


def _input(name: str, entry: dict[str, Any], present: Present) -> Supply:
    source, sha256 = entry["source"], entry["sha256"]
    if source["kind"] == "upstream":
        where = f"{source['repository']} {source['commit'][:12]} {source['path']}"
        return Supply(
            "input", name, sha256, present(sha256), f"found in AISIMC_INPUTS, else downloaded from {where}", True
        )
    if source["kind"] == "generator":
        how = f"generated: {source['rows']:,} rows from seed {source['seed']}"
        return Supply("input", name, sha256, present(sha256), how, False)
    return Supply(
        "input", name, sha256, present(sha256), f"read from {source['file']}, or found in AISIMC_INPUTS", False
    )
