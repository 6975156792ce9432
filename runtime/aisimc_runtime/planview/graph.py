"""A plan's actions as a picture: Graphviz or Mermaid text, with the edges that say something."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

_REDUCED_UP_TO = 3000
"""Larger graphs keep every edge: finding the superfluous ones takes quadratic time."""


def edges(plan: dict[str, Any]) -> list[tuple[str, str]]:
    """Edges from what is needed to what needs it, without those that longer ways imply."""
    import networkx as nx

    from aisimc_compiler.plan.actions import graph

    made = graph(plan["actions"])
    if made.number_of_nodes() <= _REDUCED_UP_TO:
        made = nx.transitive_reduction(made)
    return sorted(made.edges)


def dot(plan: dict[str, Any]) -> Iterator[str]:
    """Lines for Graphviz, one cluster for each stage."""
    yield "digraph plan {"
    yield "  rankdir=LR; node [shape=box, style=rounded];"
    for stage, ids in _stages(plan):
        yield f"  subgraph {_quoted('cluster_' + stage)} {{ label={_quoted(stage)};"
        yield from (f"    {_quoted(id_)};" for id_ in ids)
        yield "  }"
    yield from (f"  {_quoted(need)} -> {_quoted(id_)};" for need, id_ in edges(plan))
    yield "}"


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def mermaid(plan: dict[str, Any]) -> Iterator[str]:
    """Lines for Mermaid, one subgraph for each stage."""
    names = {entry["id"]: f"a{number}" for number, entry in enumerate(plan["actions"])}
    yield "flowchart LR"
    for stage, ids in _stages(plan):
        yield f"  subgraph {stage}"
        yield from (f'    {names[id_]}["{id_}"]' for id_ in ids)
        yield "  end"
    yield from (f"  {names[need]} --> {names[id_]}" for need, id_ in edges(plan))


def _stages(plan: dict[str, Any]) -> Iterator[tuple[str, list[str]]]:
    found: dict[str, list[str]] = {}
    for entry in plan["actions"]:
        found.setdefault(entry["stage"], []).append(entry["id"])
    yield from found.items()
