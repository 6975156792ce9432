"""The human view of a plan, as lines of plain text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from aisimc_compiler.rules.refusal import plural
from aisimc_runtime.planview.supplies import Supply

Json = dict[str, Any]
Style = Callable[[str], str]

_STAGES = ("acquire", "build", "replay", "judge", "gate", "report")


def render(
    plan: Json, digest: str, supplies: Sequence[Supply], *, strong: Style = str, faint: Style = str
) -> Iterator[str]:
    """Lines of the view: what is compared, on what, row by row with its frozen parameters, and stage by stage."""
    campaign = plan["campaign"]
    yield (
        strong(f"{campaign['name']}")
        + f"  {campaign['corpus']} corpus, {campaign['matrix']} matrix"
        + (", self check" if campaign["self_check"] else "")
    )
    yield f"  {campaign['purpose']}"
    yield f"  plan {digest}"
    yield ""
    yield from _revisions(plan, strong, faint)
    yield ""
    yield strong("inputs")
    for name, entry in sorted(plan["inputs"].items()):
        yield from _input(name, entry, faint)
    yield ""
    yield strong(f"rows ({len(plan['rows']):,})")
    for name, row in sorted(plan["rows"].items()):
        yield from _row(name, row, faint)
    yield from _coverage(plan, strong)
    if plan["exceptions"]:
        yield ""
        yield strong("exceptions")
        for name, record in sorted(plan["exceptions"].items()):
            requests = record["requests"]
            whose = "all requests" if requests == "all" else plural(len(requests), "request")
            yield f"  {name}  {record['row']}: {', '.join(record['differs'])} of {whose}"
    yield ""
    yield from _stages(plan, strong)
    yield ""
    yield from _supplies(supplies, strong)


def _revisions(plan: Json, strong: Style, faint: Style) -> Iterator[str]:
    yield strong("revisions")
    for arm in ("baseline", "candidate"):
        revision = plan["revisions"][arm]
        if revision["source"] == "wheel":
            text, sha = f"wheel {revision['requirement']}", revision["sha256"]
        elif revision["source"] == "checkout":
            text, sha = f"checkout {revision['repository']} {revision['commit']}", ""
        else:
            patch = revision["patch"]
            text = f"embedded {revision['core']}" + (f" + {patch['file']}" if patch else "")
            sha = (patch or revision)["sha256"]
        yield f"  {arm:9}  {text}" + (faint(f"  sha256 {sha[:12]}…") if sha else "")
    relation = plan["relation"]
    if relation:
        yield f"  relation   {'ancestor, verified in git' if relation['kind'] == 'ancestor' else relation['text']}"
    build = plan["build"]
    if build:
        features = ", ".join(build["features"]) or "none"
        flags = " ".join(build["rustflags"]) or "none"
        lock = "locked" if build["locked"] else "not locked"
        how = f"toolchain {build['toolchain']}, {build['profile']}, {lock}"
        yield f"  build      {how}, features: {features}, flags: {flags}"
    corrections = ", ".join(entry["name"] for entry in plan["determinism"]["corrections"]) or "none"
    yield f"  determinism {plan['determinism']['mode']}, two processes for each arm, corrections: {corrections}"


def _input(name: str, entry: Json, faint: Style) -> Iterator[str]:
    window = entry["slice"]
    if (window["start"], window["rows"]) == (0, entry["rows"]):
        rows = f"all {entry['rows']:,} rows"
    else:
        rows = f"rows {window['start']:,} to {window['start'] + window['rows'] - 1:,} of {entry['rows']:,}"
    yield f"  {name}  {entry['format']}, blocks of {entry['block_size']} tokens, {rows}" + faint(
        f"  sha256 {entry['sha256'][:12]}…, slice {window['sha256'][:12]}…"
    )


def _row(name: str, row: Json, faint: Style) -> Iterator[str]:
    configuration = row["configuration"]
    kind = "" if row["kind"] == "row" else " (fixture)"
    covers = f", covers {row['matrix_id']}" if row["matrix_id"] and row["matrix_id"] != name else ""
    speed = configuration.get("arrival_speedup_ratio", 1.0)
    yield f"  {name}{kind}  {row['engine']}, {row['topology']['kind']}, {row['input']} at ×{speed:g}{covers}"
    if row["frozen"]:
        yield f"    frozen     {row['frozen']['file']}"
    for line in _pools(row, configuration["spec"]):
        yield f"    {line}"
    yield f"    evidence   {_evidence(row)}"
    if row["expect_error"] is not None:
        yield f"    refused    with “{row['expect_error']}”, on both arms"
    elif row["expect"]:
        yield f"    expects    {', '.join(f'{key} {_shown(value)}' for key, value in sorted(row['expect'].items()))}"
    yield f"    processes  {_processes(row['arms'])}" + faint(f"  configuration {row['configuration_sha256'][:12]}…")


def _pools(row: Json, spec: Json) -> Iterator[str]:
    topology, engine = row["topology"], spec["engine"]
    if topology["kind"] == "aggregated":
        yield f"workers    {_pool(topology, engine)}"
        return
    for role in ("prefill", "decode"):
        yield f"{role:10} {_pool(topology[role], engine.get(role) or engine)}"
    transfer = topology["transfer"]
    if transfer["bandwidth_gb_s"]:
        yield (
            f"transfer   {transfer['bytes_per_token']:,} B a token at {transfer['bandwidth_gb_s']:g} GB/s, "
            f"{transfer['mode']}"
        )
    else:
        yield f"transfer   {transfer['latency_ms']:g} ms"


def _pool(pool: Json, role: Json) -> str:
    rank = role["rank"]
    ranks = (f", dp {pool['dp']}" if pool["dp"] > 1 else "") + (f", tp {pool['tp']}" if pool["tp"] > 1 else "")
    timing = rank.get("timing_model", {"type": "polynomial"})
    times = (
        timing["type"] if timing["type"] != "fixed" else f"fixed {timing['prefill_ms']:g} / {timing['decode_ms']:g} ms"
    )
    parts = [
        f"{pool['workers']}{ranks}",
        f"{rank['num_gpu_blocks']:,} blocks of {rank['block_size']}"
        if "num_gpu_blocks" in rank
        else "default capacity",
    ]
    if rank.get("max_num_seqs"):
        parts.append(f"{rank['max_num_seqs']:,} sequences")
    if rank.get("max_num_batched_tokens"):
        parts.append(f"{rank['max_num_batched_tokens']:,} tokens")
    extra = {key: rank[key] for key in ("max_model_len", "preemption_mode") if rank.get(key)}
    extra.update(rank.get("sglang") or {})
    parts += [f"{key} {_shown(value)}" for key, value in extra.items()]
    return ", ".join([*parts, times])


def _evidence(row: Json) -> str:
    words = []
    for name, value in row["evidence"].items():
        if isinstance(value, list):
            words.append(f"{name} {value[0]}..{value[1]}")
        elif value is not None:
            words.append(f"{name} {value}")
    return ", ".join(sorted(words)) or "terminal states and outputs only"


def _processes(arms: Json) -> str:
    parts = []
    for arm in ("baseline", "candidate"):
        entry = arms[arm]
        if not entry["repetitions"]:
            parts.append(f"{arm} not run")
        else:
            parts.append(f"{arm} {entry['repetitions']}" + ("" if entry["supported"] else " (must refuse)"))
    return ", ".join(parts)


def _coverage(plan: Json, strong: Style) -> Iterator[str]:
    covered = [entry for entry in plan["coverage"] if entry["status"] == "covered"]
    absent = [entry for entry in plan["coverage"] if entry["status"] != "covered"]
    if not absent and len(covered) == len(plan["coverage"]):
        yield ""
        yield strong("coverage") + f"  the whole matrix, {len(covered)} rows"
        return
    yield ""
    yield strong("not covered")
    for entry in absent:
        yield f"  {entry['id']}  {entry['reason'] or 'not declared'}"


def _stages(plan: Json, strong: Style) -> Iterator[str]:
    kinds: dict[str, Counter[str]] = {stage: Counter() for stage in _STAGES}
    for entry in plan["actions"]:
        kinds[entry["stage"]][entry["kind"]] += 1
    yield strong(f"stages ({len(plan['actions']):,} actions)")
    for stage in _STAGES:
        if kinds[stage]:
            counts = ", ".join(f"{kind} {count:,}" for kind, count in kinds[stage].items())
            yield f"  {stage:8} {counts}"
    replays = kinds["replay"]["replay"]
    measured = kinds["gate"]["warmup"] + kinds["gate"]["sample"]
    yield f"  {replays:,} replay processes" + (f", then {measured:,} timed ones" if measured else "")
    if plan["performance"]:
        from aisimc_runtime.gate.schedule import describe

        yield ""
        yield from describe(plan["performance"])


def _supplies(supplies: Sequence[Supply], strong: Style) -> Iterator[str]:
    yield strong("needs")
    for supply in supplies:
        state = "in the store" if supply.have else supply.otherwise
        yield f"  {supply.kind:8} {supply.name}: {state}"
    missing = [supply for supply in supplies if supply.download and not supply.have]
    if not missing:
        yield "  nothing is downloaded"


def _shown(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, int):
        return str(value)
    return f"{value:,}"
