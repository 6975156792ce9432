"""One capacity dimension of a row: where it stands in the configuration, and the row with another value there."""

from __future__ import annotations

import copy
import hashlib
from typing import Any

from aisimc_runtime.failures import Refused
from aisimc_runtime.run.staging import configuration_bytes

FIELDS = ("num_gpu_blocks", "max_num_seqs", "max_num_batched_tokens")
ROLES = ("prefill", "decode")
Json = dict[str, Any]


def current(row: Json, dimension: str) -> int:
    """The value that the row declares. Raises `Refused` for a dimension the row does not have, or has twice."""
    values = {rank[_field(dimension)] for rank in _ranks(row, dimension)}
    if len(values) != 1:
        raise Refused(
            f"the two pools have different {dimension}: {', '.join(map(str, sorted(values)))}",
            help=f"move one at a time: prefill.{dimension} or decode.{dimension}",
        )
    value: int = values.pop()
    return value


def with_value(row: Json, dimension: str, value: int) -> Json:
    """The row with another value in one dimension and everything else as it was; digests follow."""
    changed = copy.deepcopy(row)
    for rank in _ranks(changed, dimension):
        rank[_field(dimension)] = value
    changed["configuration_text"] = None
    changed["configuration_sha256"] = hashlib.sha256(configuration_bytes(changed)).hexdigest()
    return changed


def place_of(row: Json, dimension: str) -> str:
    """Where the dimension is written: the row's capacity, or that of one pool or of both."""
    role = dimension.rpartition(".")[0]
    if row["topology"]["kind"] == "aggregated":
        return "the row's capacity"
    return f"the capacity of the {role} pool" if role else "the capacity of both pools, prefill and decode"


def minimum(dimension: str) -> int:
    """The smallest value worth asking about: engines want two blocks for a request and one of everything else."""
    return 2 if _field(dimension) == "num_gpu_blocks" else 1


def _field(dimension: str) -> str:
    return dimension.rpartition(".")[2]


def _ranks(row: Json, dimension: str) -> list[Json]:
    """The rank objects of the configuration that hold the dimension."""
    role, _, field = dimension.rpartition(".")
    if field not in FIELDS or (role and role not in ROLES):
        wanted = ", ".join([*FIELDS, *(f"{name}.{FIELDS[0]}" for name in ROLES)])
        raise Refused(f"{dimension!r} is not a capacity dimension", help=f"one of {wanted}")
    engine = row["configuration"]["spec"]["engine"]
    if row["topology"]["kind"] == "aggregated":
        if role:
            raise Refused(f"the row is aggregated: it has no {role} pool", help=f"--dimension {field}")
        return [engine["rank"]]
    ranks: list[Json] = [engine[name]["rank"] for name in ROLES if role in ("", name)]
    return ranks
