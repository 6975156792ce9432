"""Where the replays ran: run.same-node, run.affinity."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Any

from aisimc_runtime.evidence.finding import Finding, Status
from aisimc_runtime.evidence.view import ARMS, Row

_NODE_KEYS = ("hostname", "cpu_model", "microcode", "kernel")


def _processes(row: Row) -> list[dict[str, Any]]:
    return [replay.process for name in ARMS for replay in row.arms[name].replays if replay.process is not None]


def same_node(row: Row) -> Iterator[Finding]:
    """run.same-node: both arms and all repetitions of a row ran on one node."""
    processes = _processes(row)
    if not processes:
        return
    nodes = {tuple((process.get("node") or {}).get(key) for key in _NODE_KEYS) for process in processes}
    if any(node[0] is None for node in nodes):
        yield Finding("run.same-node", row.name, None, Status.MISSING, "a replay does not say on which node it ran")
    elif len(nodes) == 1:
        host = next(iter(nodes))[0]
        yield Finding("run.same-node", row.name, None, Status.SATISFIED, f"all replays ran on {host}", 1, 1)
    else:
        hosts = sorted({str(node[0]) for node in nodes})
        text = f"replays of one row ran on different nodes: {', '.join(hosts)}"
        if len(hosts) == 1:
            text = f"the node {hosts[0]} changed between replays of one row (kernel, microcode or processor)"
        yield Finding("run.same-node", row.name, None, Status.FAILED, text, 1, len(nodes))


def affinity(row: Row) -> Iterator[Finding]:
    """run.affinity: replays that ran at once had disjoint CPU sets of one size, and the sets were read back."""
    processes = _processes(row)
    if not processes:
        return
    problem = _affinity_problem(processes)
    if problem is None:
        count = len(processes[0]["cpus"])
        text = f"every replay kept to its own {count} CPU{'s' if count != 1 else ''}, read back from the process"
        yield Finding("run.affinity", row.name, None, Status.SATISFIED, text)
    else:
        status, text = problem
        yield Finding("run.affinity", row.name, None, status, text)


def _affinity_problem(processes: list[dict[str, Any]]) -> tuple[Status, str] | None:
    if any(not process.get("cpus") or not process.get("affinity_read_back") for process in processes):
        return Status.MISSING, "a replay's CPU set was not read back"
    for process in processes:
        if sorted(process["cpus"]) != sorted(process["affinity_read_back"]):
            return Status.FAILED, f"a {process['arm']} replay was pinned to {process['cpus']}, not kept there"
    if len({len(process["cpus"]) for process in processes}) > 1:
        return Status.FAILED, "replays of one row had CPU sets of different sizes"
    for one, other in combinations(processes, 2):
        if set(one["cpus"]) & set(other["cpus"]) and _at_once(one, other):
            return Status.FAILED, "two replays that ran at once shared a CPU"
        if _at_once(one, other) and _several_nodes(one, other):
            return Status.FAILED, "replays that ran at once were on different NUMA nodes"
    return None


def _at_once(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Whether two replays overlapped in time; those that do not say when they ran shared no CPU only if disjoint."""
    edges = [process.get(key) for process in (one, other) for key in ("started_at", "ended_at")]
    if None in edges:
        return set(one["cpus"]) != set(other["cpus"])
    start_one, end_one, start_other, end_other = (float(edge or 0) for edge in edges)
    return start_one < end_other and start_other < end_one


def _several_nodes(one: dict[str, Any], other: dict[str, Any]) -> bool:
    return bool(one.get("numa") and other.get("numa") and set(one["numa"]) != set(other["numa"]))
