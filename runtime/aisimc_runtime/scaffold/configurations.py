"""A campaign from a folder of AI Simulate's own qualification configurations, taken as they are (`frozen` rows)."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aisimc_compiler.plan.configuration import GENERATED, LOCAL
from aisimc_runtime.failures import Refused
from aisimc_runtime.pinning.edits import laid_out, quoted
from aisimc_runtime.ports.named import why
from aisimc_runtime.scaffold.campaign import EXCLUDE, determinism, header
from aisimc_runtime.scaffold.revisions import block, needs_build

_KEYS = {
    "row_name", "trace_file", "trace_sha256", "trace_rows", "trace_block_size", "arrival_speedup_ratio",
    "trace_upstream_repository", "trace_upstream_commit", "trace_upstream_path", "trace_full_sha256",
    "trace_full_rows", "trace_slice_start", "spec",
}  # fmt: skip
_LONG = 5_000


@dataclass(frozen=True, slots=True)
class Configuration:
    """One configuration file: its path as the campaign will name it, its bytes' checksum, and what it says."""

    file: str
    sha256: str
    body: dict[str, Any]


def read(folder: Path, beside: Path) -> list[Configuration]:
    """Every `*.json` of a folder as a configuration, in name order. `beside` is the folder of the new campaign.

    Raises `Refused` with all the files that are none, or when one lies outside `beside`.
    """
    found: list[Configuration] = []
    problems: list[str] = []
    for path in sorted(folder.glob("*.json")):
        try:
            found.append(_configuration(path, beside))
        except Refused as refused:
            problems.append(refused.message)
    if problems:
        raise Refused("; ".join(problems), help="move other JSON files out of the folder")
    if not found:
        raise Refused(f"{folder} holds no *.json configuration")
    return found


def text(name: str, configurations: list[Configuration], baseline: str, candidate: str, relation: str) -> str:
    """The campaign that takes each configuration as one row. Rows that share a trace window share an input."""
    inputs: dict[tuple[str, int, int], str] = {}
    blocks: list[str] = []
    for configuration in configurations:
        key = _window(configuration.body)
        if key not in inputs:
            inputs[key] = _unused(_input_name(configuration.body), set(inputs.values()))
            blocks.append(_input(inputs[key], configuration.body))
    names = _row_names(configurations)
    rows = [
        "\n".join(
            [
                f"row {row} {{",
                f"  input  = {inputs[_window(configuration.body)]}",
                f"  frozen = {quoted(configuration.file)}",
                f'  sha256 = "{configuration.sha256}"',
                "}",
            ]
        )
        for row, configuration in zip(names, configurations, strict=True)
    ]
    long = all(configuration.body["trace_rows"] >= _LONG for configuration in configurations)
    build = 'build {\n  toolchain = "system"\n  profile   = release\n  features  = []\n  locked    = true\n}'
    parts = [
        header(name, f"{len(rows)} existing qualification configurations, taken as they are",
               "long" if long else "preflight", authoritative=False),
        block("baseline", baseline, None),
        block("candidate", candidate, relation),
        *([build] if needs_build(baseline, candidate) else []),
        determinism(baseline, candidate),
        *blocks,
        EXCLUDE,
        *rows,
    ]  # fmt: skip
    return laid_out("\n\n".join(parts) + "\n")


def _configuration(path: Path, beside: Path) -> Configuration:
    try:
        data = path.read_bytes()
        body = json.loads(data)
    except OSError as reason:
        raise Refused(f"{path} cannot be read: {why(reason)}") from reason
    except ValueError as reason:
        raise Refused(f"{path} is not JSON: {reason}") from reason
    if not isinstance(body, dict) or not set(body) >= _KEYS:
        lacking = sorted(_KEYS - set(body)) if isinstance(body, dict) else sorted(_KEYS)
        raise Refused(f"{path} is no qualification configuration: it lacks {', '.join(lacking)}")
    if "source_revision" in body:
        raise Refused(f"{path} carries source_revision: a revision that can be edited is no pin (pin.embedded)")
    try:
        file = path.resolve().relative_to(beside.resolve()).as_posix()
    except ValueError as reason:
        raise Refused(
            f"{path} lies outside {beside}, where the campaign would stand; write the campaign nearer with -o"
        ) from reason
    return Configuration(file, hashlib.sha256(data).hexdigest(), body)


def _window(body: dict[str, Any]) -> tuple[str, int, int]:
    return body["trace_full_sha256"], body["trace_slice_start"], body["trace_rows"]


def _input(name: str, body: dict[str, Any]) -> str:
    lines = [
        f"input {name} {{",
        "  format     = mooncake",
        f"  block_size = {body['trace_block_size']}",
        *_source(body),
        f'  sha256     = "{body["trace_full_sha256"]}"',
        f"  rows       = {body['trace_full_rows']:_}",
    ]
    if body["trace_rows"] != body["trace_full_rows"]:
        lines += [
            "  slice {",
            f"    start  = {body['trace_slice_start']:_}",
            f"    rows   = {body['trace_rows']:_}",
            f'    sha256 = "{body["trace_sha256"]}"',
            "  }",
        ]
    return "\n".join([*lines, "}"])


def _source(body: dict[str, Any]) -> list[str]:
    """Where the trace comes from; a compiled configuration names no repository for a file or a generated trace."""
    repository, commit, path = (str(body[f"trace_upstream_{part}"]) for part in ("repository", "commit", "path"))
    seed = re.fullmatch(r"seed-(\d+)", commit)
    rows = re.fullmatch(r"mooncake-(\d+)-rows\.jsonl", path)
    if repository == GENERATED and seed and rows:
        return [f"  generator {{ seed = {int(seed[1])} rows = {int(rows[1])} }}"]
    if repository == LOCAL:
        return [f"  file       = {quoted(path)}"]
    return [
        f"  upstream   = {quoted(repository)}",
        f"  commit     = {quoted(commit)}",
        f"  path       = {quoted(path)}",
    ]


def _input_name(body: dict[str, Any]) -> str:
    return _identifier(Path(str(body["trace_upstream_path"])).stem, "trace")


def _row_names(configurations: list[Configuration]) -> list[str]:
    names: list[str] = []
    for configuration in configurations:
        names.append(_unused(_identifier(str(configuration.body["row_name"]), "row"), set(names)))
    return names


def _identifier(wanted: str, fallback: str) -> str:
    """A name of the language nearest to some text: letters, digits, `_` and `-`, a letter first."""
    name = re.sub(r"[^A-Za-z0-9_-]+", "-", wanted).strip("-")
    return name if re.match(r"[A-Za-z]", name) else f"{fallback}-{name}" if name else fallback


def _unused(name: str, taken: set[str]) -> str:
    candidate, number = name, 2
    while candidate in taken:
        candidate, number = f"{name}-{number}", number + 1
    return candidate
