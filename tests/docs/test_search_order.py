"""Where a trace is looked for, first to last: the runtime does it in the order that the pages give."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from aisimc_runtime.inputs.acquire import Sources, acquire
from aisimc_runtime.ports.processes import Processes
from aisimc_runtime.store.content import Store

ROW = '{"timestamp": 0, "input_length": 4, "output_length": 1, "hash_ids": [1]}\n'
DATA = ROW.encode() * 3
SPEC = {
    "sha256": hashlib.sha256(DATA).hexdigest(),
    "rows": 3,
    "block_size": 512,
    "source": {"kind": "file", "file": "trace.jsonl"},
}
ORDER = ("store", "file", "AISIMC_INPUTS")
PLACES = {"store": r"\bstore\b", "file": r"own\s+`file`|file\s+beside", "AISIMC_INPUTS": r"`AISIMC_INPUTS`"}


@pytest.mark.parametrize("first", range(len(ORDER)))
def test_the_runtime_takes_the_first_place_that_has_it(tmp_path: Path, first: int) -> None:
    base, folder = tmp_path / "campaign", tmp_path / "inputs"
    base.mkdir()
    folder.mkdir()
    store = Store(tmp_path / "store")
    put: dict[str, Callable[[Path], object]] = {
        "store": lambda path: store.add_file(path, kind="input", name="trace"),
        "file": lambda path: os.link(path, base / "trace.jsonl"),
        "AISIMC_INPUTS": lambda path: os.link(path, folder / "elsewhere.jsonl"),
    }
    (tmp_path / "data").write_bytes(DATA)
    for place in ORDER[first:]:
        put[place](tmp_path / "data")
    _, found = acquire("trace", SPEC, Sources(store, base, [folder], Processes(), lambda text: None))
    assert found == ORDER[first]


@pytest.mark.parametrize("page", ["language.md", "inputs.md"])
def test_the_pages_give_that_order(root: Path, page: str) -> None:
    text = " ".join((root / "docs" / page).read_text("utf-8").split())
    passage = re.split(r"in this order:", text)[1][:900]
    where = [re.search(PLACES[place], passage) for place in ORDER]
    assert all(where), f"{page} leaves a place out"
    assert [match.start() for match in where if match] == sorted(match.start() for match in where if match)
