"""A plan as the runtime takes it: the exact bytes, their digest, and the folder its files are looked for in."""

from __future__ import annotations

import hashlib
import json
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aisimc_runtime.failures import Blocked
from aisimc_runtime.inputs.locate import input_folders
from aisimc_runtime.ports.files import sha256_file
from aisimc_runtime.store.content import Store

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Plan:
    """One plan. It never changes while it is carried out."""

    data: Json
    raw: bytes
    base: Path
    """The folder of the campaign or plan file."""

    @property
    def digest(self) -> str:
        """SHA-256 of exactly the plan's bytes."""
        return hashlib.sha256(self.raw).hexdigest()

    @property
    def name(self) -> str:
        """The campaign's name."""
        return str(self.data["campaign"]["name"])

    @property
    def arms(self) -> tuple[str, ...]:
        """The arms in the order in which replays alternate."""
        return tuple(arm for arm in ("baseline", "candidate") if arm in self.data["revisions"])


def plan_of(raw: bytes, base: Path) -> Plan:
    """A plan from its bytes, which were checked already."""
    return Plan(json.loads(raw), raw, base)


def find_file(plan: Plan, store: Store, name: str, sha256: str) -> Path:
    """A patch or golden file by its checksum: beside the plan, in the store, or in AISIMC_INPUTS.

    Raises `Blocked` when nowhere there is a file of that content.
    """
    beside = plan.base / name
    places = [beside, plan.base / Path(name).name]
    places += [folder / Path(name).name for folder in input_folders()]
    changed = None
    for place in places:
        try:
            if sha256_file(place) == sha256:
                return place
            changed = changed or place
        except OSError:
            continue
    if store.has(sha256):
        return store.checked(sha256)
    if changed is not None:
        raise Blocked(f"{changed} is not what the plan names: its SHA-256 is not {sha256}", help="plan again")
    raise Blocked(f"{name} is not here (SHA-256 {sha256})", help=f"`aisimc store add {shlex.quote(Path(name).name)}`")
