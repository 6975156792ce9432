"""Frozen rows: an existing qualification configuration, taken byte for byte after a strict look at it.

The engines ignore a misspelt key without a word; so here every key is known, and the rules that hold for a row hold
for its configuration as well. Errors stand at the file's name in the campaign and say the place in the file.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from aisimc_compiler.diagnostics.model import Diagnostic, Label
from aisimc_compiler.model import closed
from aisimc_compiler.model.campaign import Campaign, Frozen, Given, Input, Row
from aisimc_compiler.plan.canonical import digest_of
from aisimc_compiler.plan.configuration import Json, slice_of
from aisimc_compiler.records import NamedTuple
from aisimc_compiler.rules.digests import is_hex, sha256_fault
from aisimc_compiler.rules.refusal import refuse_name, refuse_value
from aisimc_compiler.schemas.problems import Problem, problems

_TRANSFER = ("kv_bytes_per_token", "kv_transfer_bytes_per_token", "kv_transfer_bandwidth", "kv_transfer_timing_mode")

_PARALLEL = ("dp_size", "tensor_parallel_size")


class Parsed(NamedTuple):
    """A configuration file as data, or why it is none."""

    value: Any
    fault: str
    problems: tuple[Problem, ...]


@lru_cache(maxsize=64)
def parse(data: bytes) -> Parsed:
    """The JSON document of a configuration file and what its schema has against it. Never raises."""
    try:
        value = json.loads(data, object_pairs_hook=_unique, parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        return Parsed(None, f"it is no JSON: {error.msg.lower()} at line {error.lineno}, column {error.colno}", ())
    except UnicodeDecodeError as error:
        return Parsed(None, f"it is not UTF-8 text (byte {error.start})", ())
    except RecursionError:
        return Parsed(None, "it is nested too deep", ())
    except ValueError as error:
        return Parsed(None, str(error), ())
    document = value
    if isinstance(value, dict):
        document = {key: entry for key, entry in value.items() if key != "source_revision"}
    return Parsed(value, "", tuple(problems("configuration", document)))


def _unique(pairs: list[tuple[str, Any]]) -> Json:
    found: Json = {}
    for key, value in pairs:
        if key in found:
            raise ValueError(f"the key `{key}` is given twice in one object")
        found[key] = value
    return found


def _no_constant(text: str) -> Any:
    raise ValueError(f"`{text}` is no JSON number")


def sound(data: bytes) -> Json | None:
    """The configuration, when its schema has nothing against it."""
    parsed = parse(data)
    return None if parsed.fault or parsed.problems else parsed.value


def frozen_shape(data: bytes) -> tuple[str, str, int, int] | None:
    """Engine, topology and DP sizes of a configuration; None when it is not sound."""
    value = sound(data)
    if value is None:
        return None
    engine, topology = described(value)
    if topology["kind"] == "aggregated":
        return engine, "aggregated", topology["dp"], topology["dp"]
    return engine, "disaggregated", topology["prefill"]["dp"], topology["decode"]["dp"]


def described(value: Json) -> tuple[str, Json]:
    """Engine and topology, in the plan's form, of a sound configuration."""
    spec = value["spec"]
    engine, kind = spec["engine"], spec["topology"]["kind"]
    backend = engine["rank"].get("backend", "vllm")
    if kind == "aggregated":
        return backend, {"kind": kind, **_pool(spec["topology"]["workers"], engine)}
    prefill, decode = engine.get("prefill") or engine, engine.get("decode") or engine
    return prefill.get("rank", {}).get("backend", backend), {
        "kind": kind,
        "prefill": _pool(spec["topology"]["prefill"], prefill),
        "decode": _pool(spec["topology"]["decode"], decode),
        "transfer": _transfer(prefill.get("rank", {}), spec["topology"]),
    }


def _pool(workers: Json, role: Json) -> Json:
    return {
        "workers": workers["initial_workers"],
        "dp": role.get("dp_size", 1),
        "tp": role.get("tensor_parallel_size", 1),
    }


def _transfer(rank: Json, topology: Json) -> Json:
    bandwidth = rank.get("kv_transfer_bandwidth")
    return {
        "bytes_per_token": rank.get("kv_bytes_per_token", rank.get("kv_transfer_bytes_per_token")),
        "bandwidth_gb_s": bandwidth,
        "mode": rank.get("kv_transfer_timing_mode", "full_prompt") if bandwidth else None,
        "latency_ms": topology.get("handoff_latency_ms", 0.0),
    }


def frozen_faults(campaign: Campaign, row: Row, frozen: Frozen) -> Iterator[Diagnostic]:
    """Everything that keeps a frozen configuration from being a row of this campaign."""
    for given in row.beside_frozen:
        yield refuse_name(
            "row.frozen",
            given,
            f"`{given.value}` stands beside a frozen configuration, which is taken as it is",
            label="would change it",
            help="remove it, or unfreeze the row",
            secondary=(Label(frozen.file.span, "the frozen configuration"),),
        )
    digest = _digest_fault(frozen)
    if digest is not None:
        yield digest
        return
    if frozen.data is None:
        return
    parsed = parse(frozen.data)
    if parsed.fault:
        yield _fault("row.frozen", frozen, f"the frozen configuration cannot be read: {parsed.fault}")
        return
    stated = isinstance(parsed.value, dict) and "source_revision" in parsed.value
    if stated:
        yield _fault(
            "pin.embedded",
            frozen,
            "the frozen configuration states a `source_revision`",
            help_="remove the key from the file; a runner reports the revision that is built into it",
        )
    for problem in parsed.problems[:1]:
        more = f" (and {len(parsed.problems) - 1} more)" if len(parsed.problems) > 1 else ""
        yield _fault(_rule_of(problem), frozen, f"frozen configuration, {problem.where}: {problem.message}{more}")
    if not parsed.problems and not stated:
        yield from _inherited(frozen, parsed.value)
        yield from _method(campaign, row, frozen, parsed.value)


def _inherited(frozen: Frozen, value: Json) -> Iterator[Diagnostic]:
    """What the family says otherwise than the configuration, which would be silently passed over."""
    engine, topology = described(value)
    says = {
        "engine": engine,
        "topology": topology["kind"],
        "arrival_speedup_ratio": value.get("arrival_speedup_ratio", 1.0),
        "max_sim_time_ms": value["spec"].get("max_sim_time_ms"),
        "max_in_flight": value["spec"].get("max_in_flight"),
    }
    for name, given in frozen.inherited.items():
        if given.value != says[name]:
            yield refuse_value(
                "row.frozen",
                given,
                f"the family says {name} `{given.value}`, and the frozen configuration "
                + ("does not limit it" if says[name] is None else f"says `{says[name]}`"),
                label="has no effect on a frozen row",
                help="give the row another family, or none",
                secondary=(Label(frozen.file.span, "taken as it is"),),
            )


def _rule_of(problem: Problem) -> str:
    """The rule that a schema's problem breaks: what the method says of engines and sizes holds in a file as well."""
    last = problem.path[-1] if problem.path else ""
    if last == "backend" or (problem.key is not None and last == "rank"):
        return "row.engine"
    if problem.bound and last in (*closed.COMMON_CAPACITY, *_PARALLEL):
        return "row.capacity"
    return "row.frozen"


def _fault(rule: str, frozen: Frozen, message: str, help_: str = "", label: str = "this file") -> Diagnostic:
    return refuse_value(rule, frozen.file, message, label=label, help=help_)


def _digest_fault(frozen: Frozen) -> Diagnostic | None:
    given = frozen.sha256
    if given is None:
        if frozen.has_digest:
            return None
        return _fault(
            "row.frozen",
            frozen,
            "the frozen configuration is named without its SHA-256",
            help_='add `sha256 = "…"`; `aisimc pin` computes it',
            label="a file can be edited",
        )
    fault = sha256_fault("row.frozen", given, "the frozen configuration")
    if fault is not None or frozen.data is None:
        return fault
    found = digest_of(frozen.data)
    if found == given.value.lower():
        return None
    return refuse_value(
        "row.frozen",
        given,
        f"the frozen configuration's SHA-256 is {found}",
        label="of other bytes",
        help="if the file is meant as it is now, `aisimc pin --refresh` writes its digest",
        secondary=(Label(frozen.file.span, "this file"),),
    )


def _method(campaign: Campaign, row: Row, frozen: Frozen, value: Json) -> Iterator[Diagnostic]:
    """The rules that hold for every row, held against the configuration."""
    spec = value["spec"]
    for rule, place, problem in (*_composition(spec), *_admission(row, value), *_capture(value), *_shape(row, value)):
        yield _fault(rule, frozen, f"frozen configuration, {place}: {problem}")
    entry = campaign.inputs.get(row.input.value) if row.input else None
    if entry is not None and row.input is not None:
        yield from _input_faults(entry, row.input, frozen, value)


_Said = Iterator[tuple[str, str, str]]


def _composition(spec: Json) -> _Said:
    for name, only in (("placement", "round_robin"), ("scaling", "none")):
        provider = spec.get("adapters", {}).get(name, {}).get("provider", only)
        if provider != only:
            yield "row.composition", f"spec.adapters.{name}", f"it is `{provider}`, and takes only `{only}`"


def _admission(row: Row, value: Json) -> _Said:
    if value.get("iterations", 1) != 1:
        yield "row.admission", "iterations", f"a row runs one iteration, not {value['iterations']}"
    if row.kind == "row" and value["spec"].get("max_in_flight") is not None:
        yield "row.admission", "spec.max_in_flight", "a row is driven by the trace's timestamps"


def _capture(value: Json) -> _Said:
    for key, only in (("capture_canonical", True), ("write_full_report", False), ("mode", "qualify")):
        if value.get(key, only) != only:
            yield "row.frozen", key, f"it takes only `{json.dumps(only)}`"
    name = value["trace_file"]
    if "/" in name and not name.startswith("/"):
        yield "row.frozen", "trace_file", f"`{name}` is not a bare name"


def _shape(row: Row, value: Json) -> _Said:
    _, topology = described(value)
    pools = [topology] if topology["kind"] == "aggregated" else [topology["prefill"], topology["decode"]]
    if row.kind == "row" and any(pool["workers"] * pool["dp"] < 2 for pool in pools):
        yield "row.observable", "spec.topology", "with one worker, round-robin placement cannot be seen"
    if topology["kind"] == "aggregated":
        return
    transfer = topology["transfer"]
    if transfer["bandwidth_gb_s"] and transfer["bytes_per_token"] and transfer["latency_ms"]:
        yield "row.transfer", "spec.topology.handoff_latency_ms", "it would be ignored beside a bandwidth"
    engine = value["spec"]["engine"]
    prefill, decode = ((engine.get(role) or engine).get("rank", {}) for role in ("prefill", "decode"))
    if [prefill.get(key) for key in _TRANSFER] != [decode.get(key) for key in _TRANSFER]:
        yield "row.transfer", "spec.engine", "both roles state the same transfer"
    if prefill.get("backend") != decode.get("backend"):
        yield "row.engine", "spec.engine", "both roles run the same backend"


def _input_faults(entry: Input, named: Given[str], frozen: Frozen, value: Json) -> Iterator[Diagnostic]:
    """The configuration's trace is the row's input, slice and all."""
    if entry.sha256 is None or not is_hex(entry.sha256.value, 64) or entry.rows is None or entry.block_size is None:
        return
    if entry.rows.value < 1:
        return
    if entry.slice is not None and None in (entry.slice.start, entry.slice.rows, entry.slice.sha256):
        return
    window = slice_of(entry)
    facts: list[tuple[str, Any]] = [
        ("trace_sha256", window["sha256"]),
        ("trace_rows", window["rows"]),
        ("trace_slice_start", window["start"]),
        ("trace_block_size", entry.block_size.value),
        ("trace_full_sha256", entry.sha256.value.lower()),
        ("trace_full_rows", entry.rows.value),
    ]
    if entry.upstream is not None and entry.commit is not None and entry.path is not None:
        facts += [("trace_upstream_commit", entry.commit.value.lower()), ("trace_upstream_path", entry.path.value)]
    odd = [(key, want) for key, want in facts if value[key] != want]
    if odd:
        key, want = odd[0]
        more = f" (and {len(odd) - 1} more)" if len(odd) > 1 else ""
        yield refuse_value(
            "row.frozen",
            frozen.file,
            f"frozen configuration, {key}: it says `{value[key]}`, and the input says `{want}`{more}",
            label="another trace",
            secondary=(Label(named.span, "the row's input"),),
        )
