"""The plan's actions: a directed graph, and an order of it that is sorted within each stage."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from aisimc_compiler.model import closed
from aisimc_compiler.plan.schedule import steps

if TYPE_CHECKING:
    import networkx as nx

Json = dict[str, Any]

STAGES = ("acquire", "build", "replay", "judge", "gate", "report")
KINDS = {
    kind: (stage, rank)
    for rank, (kind, stage) in enumerate(
        (
            ("acquire-revision", "acquire"),
            ("acquire-input", "acquire"),
            ("verify-slice", "acquire"),
            ("apply-correction", "build"),
            ("build", "build"),
            ("probe", "build"),
            ("barrier", "replay"),
            ("replay", "replay"),
            ("determinism", "judge"),
            ("parity", "judge"),
            ("evidence", "judge"),
            ("golden", "judge"),
            ("exception-test", "judge"),
            ("input-unchanged", "judge"),
            ("warmup", "gate"),
            ("sample", "gate"),
            ("gate", "gate"),
            ("verdict", "report"),
            ("report", "report"),
            ("clean", "report"),
        )
    )
}
"""Kind → stage and place in the order of kinds."""


def action(id_: str, kind: str, needs: list[str], row: str | None = None, **parameters: Any) -> Json:
    """One action."""
    return {
        "id": id_,
        "kind": kind,
        "stage": KINDS[kind][0],
        "row": row,
        "needs": needs,
        "parameters": parameters,
    }


def actions(plan: Json) -> list[Json]:
    """Every action of a plan (which does not have them yet), in the order in which they may be carried out."""
    return order(list(_all(plan)))


def order(found: list[Json]) -> list[Json]:
    """The actions by stage, kind and name, which is a topological order. Raises ValueError where it is none.

    That everything needed stands before what needs it is looked at action by action, which also shows that there is
    no cycle: a graph library would find the same order in five times the time.
    """
    ordered = sorted(found, key=_key)
    done: set[str] = set()
    for entry in ordered:
        for need in entry["needs"]:
            if need not in done:
                raise ValueError(f"`{entry['id']}` needs `{need}`, which does not come before it")
        done.add(entry["id"])
    return ordered


def _key(entry: Json) -> tuple[Any, ...]:
    """By stage, and within it by kind and name; the gate keeps each row's persisted order."""
    stage = STAGES.index(entry["stage"])
    if entry["stage"] == "gate":
        return stage, 0, entry["row"], entry["parameters"].get("order", 1 << 30), ""
    return stage, KINDS[entry["kind"]][1], entry["row"] or "", 0, entry["id"]


def graph(found: list[Json]) -> nx.DiGraph[str]:
    """The actions as a graph whose edges run from what is needed to what needs it."""
    import networkx as nx

    made: nx.DiGraph[str] = nx.DiGraph()
    for entry in found:
        made.add_node(entry["id"], kind=entry["kind"], stage=entry["stage"], row=entry["row"])
    for entry in found:
        made.add_edges_from((need, entry["id"]) for need in entry["needs"])
    return made


def _all(plan: Json) -> Iterator[Json]:
    before: list[str] = []
    for entry in _preparation(plan):
        before.append(entry["id"])
        yield entry
    yield action("barrier", "barrier", before)
    judged: list[str] = []
    replays: dict[str, list[str]] = {name: [] for name in plan["inputs"]}
    for name, row in sorted(plan["rows"].items()):
        for entry in _row(name, row):
            if entry["kind"] == "replay":
                replays[row["input"]].append(entry["id"])
            else:
                judged.append(entry["id"])
            yield entry
    for name, record in sorted(plan["exceptions"].items()):
        for arm in closed.ARMS:
            test = action(
                f"exception-test/{name}/{arm}",
                "exception-test",
                [f"parity/{record['row']}"] if _replayed(plan["rows"][record["row"]]) else ["barrier"],
                record["row"],
                arm=arm,
                command=record["regression_test"]["command"],
                must="fail" if arm == "baseline" else "pass",
            )
            judged.append(test["id"])
            yield test
    gates = []
    for entry in _gate(plan):
        if entry["kind"] == "gate":
            gates.append(entry["id"])
        yield entry
    unchanged = []
    for name, given in sorted(plan["inputs"].items()):
        entry = action(
            f"input-unchanged/{name}", "input-unchanged", replays[name] or ["barrier"], sha256=given["sha256"]
        )
        unchanged.append(entry["id"])
        yield entry
    yield action("verdict", "verdict", [*judged, *unchanged, *gates])
    yield action("report", "report", ["verdict"])
    yield action("clean", "clean", ["report"])


def _replayed(row: Json) -> bool:
    return any(arm["repetitions"] for arm in row["arms"].values())


def _preparation(plan: Json) -> Iterator[Json]:
    patches = [entry for entry in plan["determinism"]["corrections"] if entry["kind"] == "patch"]
    for arm in closed.ARMS:
        revision = plan["revisions"][arm]
        acquired = f"acquire-revision/{arm}"
        yield action(acquired, "acquire-revision", [], arm=arm, revision=revision)
        ready = acquired
        if revision["source"] != "wheel":
            if patches:
                ready = f"apply-correction/{arm}"
                yield action(ready, "apply-correction", [acquired], arm=arm, corrections=patches)
            yield action(f"build/{arm}", "build", [ready], arm=arm, build=plan["build"])
            ready = f"build/{arm}"
        yield action(f"probe/{arm}", "probe", [ready], arm=arm, exclusions=plan["exclusions"])
    for name, given in sorted(plan["inputs"].items()):
        acquired = f"acquire-input/{name}"
        yield action(acquired, "acquire-input", [], input=name, sha256=given["sha256"], rows=given["rows"])
        yield action(f"verify-slice/{name}", "verify-slice", [acquired], input=name, **given["slice"])


def _row(name: str, row: Json) -> Iterator[Json]:
    digest = row["configuration_sha256"]
    judged = []
    replays = []
    for arm in closed.ARMS:
        made = []
        for repetition in range(1, row["arms"][arm]["repetitions"] + 1):
            id_ = f"replay/{name}/{arm}/{repetition}"
            made.append(id_)
            yield action(
                id_,
                "replay",
                ["barrier"],
                name,
                arm=arm,
                repetition=repetition,
                configuration_sha256=digest,
                input=row["input"],
            )
        replays += made
        if len(made) > 1:
            made, needs = [f"determinism/{name}/{arm}"], made
            yield action(made[0], "determinism", needs, name, arm=arm)
        judged += made
    if not replays:
        return
    yield action(f"parity/{name}", "parity", judged, name)
    yield action(f"evidence/{name}", "evidence", replays, name)
    if row["expect"]:
        yield action(f"golden/{name}", "golden", replays, name)


def _gate(plan: Json) -> Iterator[Json]:
    performance = plan["performance"]
    if performance is None:
        return
    last: str | None = None
    for name in performance["rows"]:
        needs = [f"parity/{name}"] + ([last] if last else [])
        samples = []
        for step in steps(performance["seed"], name):
            yield action(step.id, step.kind, needs, name, **step.parameters())
            needs = [step.id]
            if step.kind == "sample":
                samples.append(step.id)
        last = f"gate/{name}"
        yield action(last, "gate", samples, name, threshold=performance["threshold"])
