"""The batch script of a row. Pure text; the scheduler's own words come in as shell expressions."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple


class Surroundings(NamedTuple):
    """What the script takes from the scheduler and the profile."""

    attempt: str
    """A shell expression for `JOB.RESTART` of this start of the job."""
    node: str
    """A shell expression for the node's name as the scheduler has it."""
    name: str
    """A shell expression for the job's name."""
    python: str
    local_storage: str = ""
    setup: Sequence[str] = ()
    beat_s: float = 10.0
    cpus: int = 1


def batch_script(row_folder: Path, token: str, around: Surroundings) -> str:
    """Make a staging folder of our own, run the node's part in it, remove that folder whatever happens."""
    local = shlex.quote(around.local_storage) if around.local_storage else '"${TMPDIR:-/tmp}"'
    setup = "\n".join(around.setup)
    return f"""#!/bin/bash
# One row of one aisimc run. Everything it makes is in $staging and in $attempt.
row={shlex.quote(str(row_folder))}
name="{around.attempt}"
node="{around.node}"
attempt="$row/attempts/$name"
staging=
child=
[ -d "$row" ] || exit 0  # put back into the queue after the run had its end: there is nothing left to do
give_up() {{ printf '%s\\n' "$1" >"$attempt/failed.txt"; printf 'aisimc: %s\\n' "$1" >&2; exit 3; }}
tidy() {{ [ -n "$staging" ] && rm -rf -- "$staging"; }}
trap tidy EXIT
trap '[ -n "$child" ] && kill -TERM "$child" 2>/dev/null' TERM INT HUP
mkdir -p "$attempt" || exit 3
printf '%s\\n' "$node" >"$attempt/node"
printf '%s\\n' "{around.name}" >"$attempt/name"
{setup}
local={local}
staging=$(mktemp -d "$local/aisimc-{token}-XXXXXXXX" 2>"$attempt/mktemp.txt") ||
  give_up "no staging folder can be made under $local on $node: $(sed 's/.*: //' "$attempt/mktemp.txt" | tail -n 1)"
python={shlex.quote(around.python)}
export AISIMC_ALLOTTED_CPUS={around.cpus}
"$python" -c 'import aisimc_runtime.executors.cluster.node' ||
  give_up "$python on $node cannot import aisimc (slurm.python and slurm.setup in the profile say where it is)"
"$python" -m aisimc_runtime.executors.cluster.node "$row" "$name" "$node" "$staging" {around.beat_s:g} &
child=$!
wait "$child"
status=$?
while kill -0 "$child" 2>/dev/null; do wait "$child"; status=$?; done
exit "$status"
"""
