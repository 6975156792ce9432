"""Run folders as the runtime leaves them, made by hand: plan, replays, digests, evidence, differences."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path
from typing import Any

import orjson

from aisimc_runtime.compare import difference
from aisimc_runtime.evidence.counters import counters_of
from aisimc_runtime.evidence.extract import extract
from tests.builders.records import EXCLUSIONS, Record, encode

Json = dict[str, Any]

SLICE = "5" * 64
WHEELS = {
    "baseline": ("0.13.0.dev202610230000000081", "a" * 64),
    "candidate": ("0.13.0.dev202610240000000082", "b" * 64),
}
NODE = {
    "hostname": "node-1",
    "cpu_model": "Example CPU",
    "microcode": "0x1",
    "governor": "performance",
    "kernel": "6.1.0",
    "load_before": [0.5, 0.4, 0.3],
    "load_after": [0.6, 0.4, 0.3],
}


def wheel(arm: str, version: str | None = None) -> Json:
    name, digest = WHEELS[arm]
    version = version or name
    return {
        "source": "wheel",
        "requirement": f"aisimulate=={version}",
        "name": "aisimulate",
        "version": version,
        "sha256": digest,
    }


def plan_row(
    engine: str = "vllm",
    *,
    kind: str = "row",
    matrix_id: str | None = "vllm-aggregated",
    topology: Json | None = None,
    evidence: Json | None = None,
    expect: Json | None = None,
    expect_error: str | None = None,
    baseline: Json | None = None,
    candidate: Json | None = None,
    spec: Json | None = None,
) -> Json:
    """A row of a plan; two workers, two repetitions on both arms."""
    configuration = {"row_name": "row", "trace_file": "window.jsonl", "spec": spec or {"version": 1, "requests": []}}
    data = canonical_json(configuration)
    repetitions = 1 if expect_error is not None else 2
    return {
        "kind": kind,
        "engine": engine,
        "input": "window",
        "topology": topology or {"kind": "aggregated", "workers": 2, "dp": 1, "tp": 1},
        "matrix_id": matrix_id,
        "frozen": None,
        "configuration": configuration,
        "configuration_text": None,
        "configuration_sha256": hashlib.sha256(data).hexdigest(),
        "evidence": {
            "preemptions": None,
            "retractions": None,
            "workers": None,
            "reuse": None,
            "handoffs": None,
            "waiting": None,
            "barrier": None,
        }
        | (evidence or {}),
        "expect": expect or {},
        "golden": None,
        "expect_error": expect_error,
        "arms": {
            "baseline": baseline or {"repetitions": repetitions, "supported": True},
            "candidate": candidate or {"repetitions": repetitions, "supported": True},
        },
    }


def disaggregated(prefill: int = 2, decode: int = 2, prefill_dp: int = 1, decode_dp: int = 1) -> Json:
    return {
        "kind": "disaggregated",
        "prefill": {"workers": prefill, "dp": prefill_dp, "tp": 1},
        "decode": {"workers": decode, "dp": decode_dp, "tp": 1},
        "transfer": {"bytes_per_token": 1, "bandwidth_gb_s": 100.0, "mode": "full_prompt", "latency_ms": 0.0},
    }


def plan(rows: dict[str, Json], **changes: Any) -> Json:
    """A plan over the rows, on two published wheels."""
    covered = {row["matrix_id"] for row in rows.values()}
    return {
        "schema": "aisimc.plan/1",
        "campaign": {
            "name": "hand-made",
            "language": 1,
            "purpose": "Do the two builds replay the window alike?",
            "corpus": "long",
            "matrix": "focused",
            "self_check": False,
        },
        "revisions": {arm: wheel(arm) for arm in WHEELS},
        "relation": {"kind": "stated", "text": "the next nightly of the same line"},
        "build": None,
        "determinism": {"mode": "canonical_v1", "repetitions": 2, "corrections": []},
        "exclusions": EXCLUSIONS,
        "inputs": {
            "window": {
                "format": "mooncake",
                "block_size": 512,
                "source": {"kind": "file", "file": "window.jsonl"},
                "sha256": "4" * 64,
                "rows": 8,
                "slice": {"start": 0, "rows": 8, "sha256": SLICE},
            }
        },
        "rows": rows,
        "unsupported": {},
        "coverage": [
            {"id": name, "row": None, "status": "not-declared", "reason": "this campaign is focused"}
            if name not in covered
            else {"id": name, "row": name, "status": "covered", "reason": ""}
            for name in ("vllm-aggregated", "vllm-disaggregated", "sglang-aggregated")
        ],
        "exceptions": {},
        "performance": None,
        "actions": [],
    } | changes


def exception(row: str, differs: list[str], requests: Any = "all") -> Json:
    return {
        "row": row,
        "differs": differs,
        "requests": requests,
        "baseline": "records the admission at the end of the pass",
        "candidate": "records the admission when the scheduler admits",
        "source": "the engine's own scheduler holds blocks from the start of the pass",
        "cause": "the change moves the record; both repetitions of each arm agree",
        "impact": "queue-wait charts shift by one pass",
        "disposition": "accepted in review",
        "regression_test": {"command": ["pytest", "-q"], "fails_on": "baseline", "passes_on": "candidate"},
    }


def canonical_json(value: Any) -> bytes:
    return (json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False) + "\n").encode()


class RunBuilder:
    """Writes one run folder, step by step; `finish` adds the plan and what belongs to the whole run."""

    def __init__(self, folder: Path, made_plan: Json) -> None:
        self.folder = folder
        self.plan = made_plan
        self.artifacts = {arm: self._artifact(arm) for arm in WHEELS}
        self.inputs: Json = {
            "window": {
                "sha256": "4" * 64,
                "rows": 8,
                "slice_sha256": SLICE,
                "slice_rows": 8,
                "found": "file",
                "unchanged": True,
                "total_input_tokens": 828,
                "total_output_tokens": 36,
                "max_input_tokens": 107,
                "max_output_tokens": 8,
                "max_request_tokens": 111,
                "first_timestamp_ms": 0.0,
                "last_timestamp_ms": 70.0,
                "out_of_order_rows": 0,
            }
        }
        self.journal: list[Json] = [{"at": "2026-11-29T10:00:00Z", "event": "started", "action": None}]
        folder.mkdir(parents=True, exist_ok=True)

    def _artifact(self, arm: str) -> Json:
        revision = self.plan["revisions"][arm]
        return {
            "source": revision["source"],
            "describe": {"contract": 1, "revision": f"aisimulate=={revision['version']}"},
            "sha256": ("c" if arm == "baseline" else "d") * 64,
            "size_bytes": 16_180_520,
            "text_size_bytes": 9_000_000,
            "features": [],
            "runner_source_sha256": None,
            "toolchain": None,
            "correction": [],
            "exclusions": None,
            "revision": revision,
        }

    def row(self, name: str, baseline: Any, candidate: Any) -> RunBuilder:
        """Replays of both arms: a record (both repetitions alike), a pair of records, or a text of refusal."""
        folder = self.folder / "rows" / name
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "configuration.json").write_bytes(canonical_json(self.plan["rows"][name]["configuration"]))
        kept: dict[str, Path] = {}
        for arm, what in (("baseline", baseline), ("candidate", candidate)):
            repetitions = self.plan["rows"][name]["arms"][arm]["repetitions"]
            if what is None:
                continue
            if isinstance(what, str):
                for repetition in range(1, repetitions + 1):
                    self._refusal(folder, arm, repetition, what)
                continue
            pair = what if isinstance(what, tuple) else (what,) * repetitions
            kept[arm] = self._replays(folder, arm, pair)
        self._compare(folder, kept)
        return self

    def _replays(self, folder: Path, arm: str, records: tuple[Record | Path, ...]) -> Path:
        paths = [self._replay(folder, arm, number, record) for number, record in enumerate(records, 1)]
        (folder / "evidence").mkdir(exist_ok=True)
        made = extract(paths[0])
        (folder / "evidence" / f"{arm}.json").write_bytes(orjson.dumps(made, option=orjson.OPT_APPEND_NEWLINE))
        if len(paths) > 1:
            unstable = difference(paths[0], paths[1])
            if unstable is not None:
                (folder / f"instability-{arm}.json").write_bytes(orjson.dumps(unstable))
            else:
                paths[1].unlink()
        return paths[0]

    def _replay(self, folder: Path, arm: str, number: int, record: Record | Path) -> Path:
        out = folder / "replays" / f"{arm}-{number}"
        out.mkdir(parents=True)
        path = out / "canonical.jsonl"
        if isinstance(record, Path):
            shutil.copyfile(record, path)
        else:
            path.write_bytes(encode(record))
        counters = self._counters(extract(path), folder)
        qualification = orjson.dumps(counters, option=orjson.OPT_SORT_KEYS | orjson.OPT_APPEND_NEWLINE)
        (out / "qualification.jsonl").write_bytes(qualification)
        digests = {
            "canonical_sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
            "canonical_bytes": path.stat().st_size,
            "qualification_sha256": hashlib.sha256(qualification).hexdigest(),
        }
        (out / "digests.json").write_bytes(orjson.dumps(digests))
        (out / "process.json").write_bytes(orjson.dumps(process(arm, number)))
        (out / "stderr.txt").write_text("")
        return path

    def _counters(self, made: Json, folder: Path) -> Json:
        return counters_of(made) | {
            "row_name": folder.name,
            "source_revision": None,
            "config_sha256": self.plan["rows"][folder.name]["configuration_sha256"],
            "runner_binary_sha256": None,
            "canonical_sha256": made["canonical_sha256"],
            "max_pressure_records_per_request": None,
            "vllm_preemptions": None,
            "sglang_retractions": None,
            "all_pressure_records_readmitted": None,
            "pressure_records": None,
            "reported_wall_time_ms": 12.5,
            "measured_process_ms": 20.5,
            "derived": ["handoffs_complete", "decode_workers", "prefill_workers", "readmissions"],
        }

    def _refusal(self, folder: Path, arm: str, number: int, text: str) -> None:
        out = folder / "replays" / f"{arm}-{number}"
        out.mkdir(parents=True)
        ended = process(arm, number) | {"exit_status": 1, "error": text}
        (out / "process.json").write_bytes(orjson.dumps(ended))
        (out / "stderr.txt").write_text(text + "\n")

    def _compare(self, folder: Path, kept: dict[str, Path]) -> None:
        if len(kept) == 2:
            found = difference(kept["baseline"], kept["candidate"])
            if found is not None:
                (folder / "difference.json").write_bytes(orjson.dumps(found))
                return
        for arm, path in kept.items():
            if not (folder / f"instability-{arm}.json").exists():
                path.unlink()

    def edit(self, relative: str, **changes: Any) -> RunBuilder:
        """Change members of a JSON file of the folder."""
        path = self.folder / relative
        path.write_bytes(orjson.dumps(orjson.loads(path.read_bytes()) | changes, option=orjson.OPT_SORT_KEYS))
        return self

    def ended(self, name: str, *, baseline: bool, candidate: bool) -> RunBuilder:
        """Outcomes of an exception's regression test."""
        folder = self.folder / "exceptions" / name
        folder.mkdir(parents=True)
        for arm, passed in (("baseline", baseline), ("candidate", candidate)):
            outcome = {
                "arm": arm,
                "exit_status": 0 if passed else 1,
                "passed": passed,
                "stdout": "1 passed" if passed else "1 failed",
                "stderr": "",
                "artifact_sha256": self.artifacts[arm]["sha256"],
            }
            (folder / f"{arm}.json").write_bytes(orjson.dumps(outcome))
        return self

    def block(self, message: str, help_text: str = "") -> RunBuilder:
        self.journal.append(
            {
                "at": "2026-11-29T10:01:00Z",
                "event": "blocked",
                "action": "acquire-input/window",
                "message": message,
                "help": help_text,
            }
        )
        return self

    def finish(self) -> Path:
        """Write what belongs to the whole run; the folder."""
        (self.folder / "plan.json").write_bytes(canonical_json(self.plan))
        (self.folder / "artifacts.json").write_bytes(orjson.dumps(self.artifacts))
        (self.folder / "inputs.json").write_bytes(orjson.dumps(self.inputs))
        lines = [orjson.dumps(event, option=orjson.OPT_APPEND_NEWLINE) for event in self.journal]
        (self.folder / "journal.jsonl").write_bytes(b"".join(lines))
        return self.folder


def process(arm: str, number: int) -> Json:
    cpu = 0 if arm == "baseline" else 1
    return {
        "arm": arm,
        "repetition": number,
        "exit_status": 0,
        "signal": None,
        "limit": None,
        "error": None,
        "cpus": [cpu],
        "numa": [0],
        "affinity_read_back": [cpu],
        "node": NODE,
        "wall_ms": 120.5,
        "cpu_ms": 100.0,
        "max_rss_bytes": 50_000_000,
        "threads_seen": 1,
    }
