"""Capacities that cannot hold the largest request of their input (`row.capacity`), found before any replay.

The smallest sufficient capacity of a pool that decodes is ceil((input + output) / block_size) blocks, as observed
on all builds; a prefill pool must hold the prompt. A row that expects an error is left alone: that may be it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from aisimc_runtime.inputs.rows import RowFacts

Json = dict[str, Any]


def too_small(plan: Json, facts: Mapping[str, RowFacts]) -> list[str]:
    """One line per pool that cannot hold a request of its row's input. Pure."""
    return [
        line
        for name, row in sorted(plan["rows"].items())
        if row["expect_error"] is None and row["input"] in facts
        for line in _pools(name, row["configuration"]["spec"], facts[row["input"]])
    ]


def _pools(name: str, spec: Json, facts: RowFacts) -> Iterator[str]:
    engine = spec.get("engine") or {}
    roles = {"prefill": facts.max_input_tokens, "decode": facts.max_request_tokens}
    if spec.get("topology", {}).get("kind") != "disaggregated":
        yield from _pool(f"row {name}", engine.get("rank") or {}, facts.max_request_tokens)
        return
    for role, tokens in roles.items():
        yield from _pool(f"row {name}, {role}", (engine.get(role) or engine).get("rank") or {}, tokens)


def _pool(where: str, rank: Json, tokens: int) -> Iterator[str]:
    blocks, block_size = rank.get("num_gpu_blocks"), rank.get("block_size")
    if isinstance(blocks, int) and isinstance(block_size, int) and block_size > 0:
        needed = -(-tokens // block_size)
        if blocks < needed:
            yield (
                f"{where}: {blocks} blocks of {block_size} tokens cannot hold the input's largest request "
                f"({tokens} tokens, {needed} blocks)"
            )
    longest = rank.get("max_model_len")
    if isinstance(longest, int) and longest < tokens:
        yield f"{where}: max_model_len {longest} is less than the input's largest request ({tokens} tokens)"
