"""Rows of the engine-only matrix to start from.

Shapes and capacities are those of AI Simulate's published matrix. A capacity edge belongs to its trace: on another
window the pressure counts will differ, and `aisimc requalify` finds the edge there.
"""

from __future__ import annotations

from dataclasses import dataclass

from aisimc_compiler.model.nearest import nearest
from aisimc_compiler.rules.refusal import did_you_mean
from aisimc_runtime.failures import Refused


@dataclass(frozen=True, slots=True)
class RowText:
    """The engine of a row, its topology in words, and the lines of its body."""

    engine: str
    topology: str
    body: tuple[str, ...]


def _capacity(blocks: int, block_size: int, seqs: int, tokens: int) -> str:
    return (
        f"capacity {{ num_gpu_blocks = {blocks:_} block_size = {block_size} "
        f"max_num_seqs = {seqs} max_num_batched_tokens = {tokens:_} }}"
    )


_PRESSURE = {"vllm": "preemptions = 1..3 ", "sglang": "retractions = 1..3 ", "trtllm": ""}
_TRANSFER_BYTES = {"vllm": 1, "sglang": 262_144, "trtllm": 1}
_LIMITS = {"vllm": (64, 16, 8_192), "sglang": (512, 256, 32_768), "trtllm": (32, 16, 8_192)}


def _aggregated(engine: str, blocks: int) -> RowText:
    return RowText(
        engine,
        "aggregated, 4 workers",
        (
            "topology aggregated { workers = 4 }",
            _capacity(blocks, *_LIMITS[engine]),
            "timing polynomial",
            f"evidence {{ {_PRESSURE[engine]}workers = all reuse = required }}",
        ),
    )


def _disaggregated(engine: str, prefill: int, decode: int, dp: tuple[int, int]) -> RowText:
    ranks = tuple("" if size == 1 else f" dp = {size}" for size in dp)
    roles = [
        f"  {role} {{ workers = 2{rank} {_capacity(blocks, *_LIMITS[engine])} }}"
        for role, rank, blocks in (("prefill", ranks[0], prefill), ("decode", ranks[1], decode))
    ]
    transfer = f"bytes_per_token = {_TRANSFER_BYTES[engine]:_} B bandwidth = 100 GB/s mode = full_prompt"
    sizes = "" if dp == (1, 1) else f", attention DP {dp[0]} and {dp[1]}"
    return RowText(
        engine,
        f"2 prefill and 2 decode workers{sizes}",
        (
            "topology disaggregated {",
            *roles,
            f"  transfer {{ {transfer} latency = 0 ms }}",
            "}",
            "timing polynomial",
            f"evidence {{ {_PRESSURE[engine]}handoffs = all workers = all reuse = required }}",
        ),
    )


ROWS: dict[str, RowText] = {
    "vllm-aggregated": _aggregated("vllm", 6_144),
    "vllm-disaggregated": _disaggregated("vllm", 9_000, 9_000, (1, 1)),
    "vllm-disaggregated-adp2-4": _disaggregated("vllm", 4_500, 6_000, (2, 4)),
    "sglang-aggregated": _aggregated("sglang", 1_536),
    "sglang-disaggregated": _disaggregated("sglang", 12_500, 12_500, (1, 1)),
    "sglang-disaggregated-adp2-4": _disaggregated("sglang", 6_250, 1_900, (2, 4)),
    "trtllm-aggregated": _aggregated("trtllm", 3_867),
    "trtllm-disaggregated-adp2-4": _disaggregated("trtllm", 3_867, 3_867, (2, 4)),
}
"""The eight rows of the authoritative matrix, by id."""


def table() -> str:
    """The rows as a short table: id, engine, topology."""
    names, engines = max(map(len, ROWS)), max(len(row.engine) for row in ROWS.values())
    return "".join(f"  {name:<{names}}  {row.engine:<{engines}}  {row.topology}\n" for name, row in ROWS.items())


def chosen(answer: str) -> tuple[str, ...]:
    """The rows that an answer names, in its order, each once; `all` is every row.

    Raises `Refused` for a name that is none, with the nearest one.
    """
    names = tuple(dict.fromkeys(answer.replace(",", " ").split()))
    if names == ("all",):
        return tuple(ROWS)
    rows = f"the rows are {', '.join(ROWS)}"
    for name in names:
        if name not in ROWS:
            raise Refused(f"there is no row `{name}`", help=did_you_mean(nearest(name, ROWS), rows))
    if not names:
        raise Refused("no row is named", help=rows)
    return names
