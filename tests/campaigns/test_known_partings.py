"""Pairs of published builds part where they are known to, and their run folders prove it by themselves."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.campaigns.wheels import Place, campaign

pytestmark = [pytest.mark.wheels, pytest.mark.slow]

ROW = """
row {name} {{
  family = window
  engine = sglang
  arrival_speedup_ratio = {ratio}
  topology aggregated {{ workers = 4 }}
  capacity {{ num_gpu_blocks = {blocks} block_size = 512 max_num_seqs = 256 max_num_batched_tokens = 32_768 }}
}}
"""

KNOWN = {
    # row: (ratio, blocks, first parting, request, field, requests with another first token, with another end)
    "even": ("1.0", 1536, 135008.59828500001, "request_384", "/admission_history/0/at_ms", 212, 245),
    "pressed": ("2.0", 1220, 63691.60791099979, "request_361", "/first_token_ms", 4117, 4211),
}


def requests_in(found: dict[str, Any], pattern: str) -> int:
    return next(int(entry["requests"]) for entry in found["classes"] if entry["pattern"] == pattern)


def test_they_part_at_the_known_instant(place: Place, conversation: bytes) -> None:
    rows = [ROW.format(name=name, ratio=known[0], blocks=known[1]) for name, known in KNOWN.items()]
    done = place.run(place.write(campaign(conversation, *rows, baseline="82", candidate="85", count=5000)))
    assert done.status == 1, done.stderr
    folder = place.run_folder()
    report = json.loads((folder / "report.json").read_bytes())
    for row in report["rows"]:
        _, _, at_ms, request, field, first_tokens, ends = KNOWN[row["name"]]
        parting = row["difference"]["first_parting"]
        assert (parting["at_ms"], parting["request"], parting["field"]) == (at_ms, request, field)
        assert requests_in(row["difference"], "/per_request/*/first_token_ms") == first_tokens
        assert requests_in(row["difference"], "/per_request/*/terminal_time_ms") == ends
        events = {
            finding["arm"]: finding["observed"] for finding in row["findings"] if finding["rule"] == "run.pressure"
        }
        assert events["candidate"] == row["arms"]["candidate"]["evidence"]["pressure"]["events"]
    check_diff(place, folder)
    check_verification(place, folder)


def check_diff(place: Place, folder: Path) -> None:
    shown = place.aisimc("diff", folder, "--row", "even", "--limit", "3")
    assert shown.status == 1
    assert "first parting 135,008.598 ms, request_384 admission_history/0/at_ms" in shown.stdout
    assert "135177.73520300002" in shown.stdout


def check_verification(place: Place, folder: Path) -> None:
    moved = place.folder / "moved"
    shutil.copytree(folder, moved)
    assert place.aisimc("verify", moved).status == 0
    record = moved / "rows" / "even" / "replays" / "candidate-1" / "canonical.jsonl"
    data = bytearray(record.read_bytes())
    data[data.index(b'"output_length":') + len(b'"output_length":')] ^= 1
    record.write_bytes(data)
    damaged = place.aisimc("verify", moved)
    assert damaged.status == 1
    assert "rows/even/replays/candidate-1/canonical.jsonl" in damaged.stdout
