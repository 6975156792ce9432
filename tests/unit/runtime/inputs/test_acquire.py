"""Inputs found by content wherever they are, checked whole, and refused with one line when they are not it."""

from __future__ import annotations

import hashlib
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from aisimc_runtime.failures import Blocked
from aisimc_runtime.inputs.acquire import Sources, acquire, verify
from aisimc_runtime.inputs.capacity import too_small
from aisimc_runtime.inputs.generator import generate
from aisimc_runtime.inputs.rows import check_rows
from aisimc_runtime.ports.processes import Processes
from aisimc_runtime.store.content import Store

ROWS = list(generate(5, 60, 512))
DATA = b"".join(ROWS)


def sha(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def spec(source: dict[str, Any], data: bytes = DATA, start: int = 10, rows: int = 20) -> dict[str, Any]:
    lines = data.splitlines(keepends=True)
    return {
        "format": "mooncake",
        "block_size": 512,
        "source": source,
        "sha256": sha(data),
        "rows": len(lines),
        "slice": {"start": start, "rows": rows, "sha256": sha(b"".join(lines[start : start + rows]))},
    }


FILE = {"kind": "file", "file": "traces/t.jsonl"}


@pytest.fixture
def sources(tmp_path: Path) -> Sources:
    (tmp_path / "campaign").mkdir()
    (tmp_path / "elsewhere" / "deep").mkdir(parents=True)
    store = Store(tmp_path / "store")
    return Sources(store, tmp_path / "campaign", [tmp_path / "elsewhere"], Processes(), lambda _: None)


def put(path: Path, data: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


class TestWhereItIs:
    """Store, declared file, AISIMC_INPUTS, generator, upstream, in this order."""

    def test_in_the_store(self, sources: Sources) -> None:
        sources.store.add_bytes(DATA)
        assert acquire("t", spec(FILE), sources)[1] == "store"

    def test_beside_the_campaign(self, sources: Sources) -> None:
        path = put(sources.base / "traces" / "t.jsonl", DATA)
        assert acquire("t", spec(FILE), sources) == (path, "file")

    def test_in_an_inputs_folder_under_any_name(self, sources: Sources) -> None:
        path = put(sources.folders[0] / "deep" / "other-name.jsonl", DATA)
        put(sources.folders[0] / "t.jsonl", DATA[:-100])
        assert acquire("t", spec(FILE), sources) == (path, "AISIMC_INPUTS")

    def test_generated(self, sources: Sources) -> None:
        path, found = acquire("t", spec({"kind": "generator", "seed": 5, "rows": 60}), sources)
        assert found == "generator"
        assert path.read_bytes() == DATA

    def test_nowhere(self, sources: Sources) -> None:
        put(sources.folders[0] / "t.jsonl", b"".join(ROWS[:55]))
        with pytest.raises(Blocked) as caught:
            acquire("t", spec(FILE), sources)
        assert "t.jsonl has 55 rows, not 60" in caught.value.message
        assert "aisimc store add" in caught.value.help

    def test_a_truncated_file_beside_the_campaign_is_named(self, sources: Sources) -> None:
        put(sources.base / "traces" / "t.jsonl", DATA[:-30])
        with pytest.raises(Blocked, match="has other bytes") as caught:
            acquire("t", spec(FILE), sources)
        assert "aisimc pin --refresh" in caught.value.help

    def test_a_generator_with_a_wrong_checksum(self, sources: Sources) -> None:
        with pytest.raises(Blocked, match="not to the pinned") as caught:
            acquire("t", spec({"kind": "generator", "seed": 6, "rows": 60}), sources)
        assert "aisimc pin --refresh" in caught.value.help


class TestWhatItMustBe:
    """`input.checksum`, `input.slice` and `input.rows`."""

    def check(self, sources: Sources, data: bytes, declared: dict[str, Any]) -> Any:
        return verify("t", declared, put(sources.base / "t.jsonl", data), "file", sources.store)

    def test_whole_and_cut(self, sources: Sources) -> None:
        ready = self.check(sources, DATA, spec(FILE))
        assert sources.store.checked(ready.slice_sha256).read_bytes() == b"".join(ROWS[10:30])
        assert ready.facts.rows == 20
        entry = ready.to_json(spec(FILE))
        assert (entry["rows"], entry["slice_rows"], entry["unchanged"]) == (60, 20, None)
        assert not any(str(sources.base) in str(value) for value in entry.values())

    def test_a_store_that_has_the_window_need_not_be_writable(
        self, sources: Sources, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        self.check(sources, DATA, spec(FILE))

        def read_only(store: Store) -> Path:
            raise Blocked("read-only")

        monkeypatch.setattr(Store, "scratch", read_only)
        assert self.check(sources, DATA, spec(FILE)).facts.rows == 20
        with pytest.raises(Blocked, match="read-only"):
            self.check(sources, DATA, spec(FILE, start=11))

    def test_other_bytes(self, sources: Sources) -> None:
        with pytest.raises(Blocked, match="it has 59 rows, 60 are pinned") as caught:
            self.check(sources, b"".join(ROWS[:59]), spec(FILE))
        assert "aisimc pin --refresh" in caught.value.help

    def test_a_wrong_row_count(self, sources: Sources) -> None:
        with pytest.raises(Blocked, match="has 60 rows, the campaign declares 61") as caught:
            self.check(sources, DATA, spec(FILE) | {"rows": 61})
        assert "`rows = 60`" in caught.value.help and "aisimc pin --refresh" in caught.value.help

    def test_a_wrong_window(self, sources: Sources) -> None:
        declared = spec(FILE)
        declared["slice"] = declared["slice"] | {"start": 11}
        with pytest.raises(Blocked, match=r"rows 11\.\.30 .* hash to") as caught:
            self.check(sources, DATA, declared)
        assert "aisimc pin --refresh" in caught.value.help
        assert not any(entry.kind == "slice" for entry in sources.store.entries())

    def test_a_window_that_leads_beyond_the_file(self, sources: Sources) -> None:
        declared = spec(FILE)
        declared["slice"] = declared["slice"] | {"start": 50}
        with pytest.raises(Blocked, match="10 rows") as caught:
            self.check(sources, DATA, declared)
        assert "leads beyond the file, which has 60 rows" in caught.value.help

    def test_a_broken_row_is_named_by_its_line_in_the_whole_file(self, sources: Sources) -> None:
        lines = [*ROWS]
        lines[14] = lines[14].replace(b'"output_length"', b'"output_lenght"')
        data = b"".join(lines)
        with pytest.raises(Blocked) as caught:
            self.check(sources, data, spec(FILE, data))
        assert caught.value.message.startswith("input t, line 15, `output_lenght`: unknown key")

    def test_a_broken_row_outside_the_window_is_not_replayed_and_not_refused(self, sources: Sources) -> None:
        lines = [*ROWS]
        lines[40] = b'{"other": "format"}\n'
        data = b"".join(lines)
        assert self.check(sources, data, spec(FILE, data)).facts.rows == 20

    def test_an_empty_line_anywhere_is_refused(self, sources: Sources) -> None:
        data = b"".join([*ROWS[:5], b"\n", *ROWS[5:]])
        with pytest.raises(Blocked, match="line 6: the line is blank"):
            self.check(sources, data, spec(FILE, data))


def git(folder: Path, *words: str) -> str:
    env = os.environ | {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.org"]
    done = subprocess.run(["git", *identity, *words], cwd=folder, env=env, check=True, capture_output=True, text=True)
    return done.stdout.strip()


class TestUpstream:
    """A pinned commit of a repository, fetched without history."""

    @pytest.fixture
    def origin(self, tmp_path: Path) -> tuple[str, str]:
        folder = tmp_path / "origin"
        put(folder / "traces" / "t.jsonl", DATA)
        git(folder, "init", "--quiet", "--initial-branch=main")
        git(folder, "add", ".")
        git(folder, "commit", "--quiet", "-m", "trace")
        commit = git(folder, "rev-parse", "HEAD")
        put(folder / "traces" / "t.jsonl", b"changed since\n")
        git(folder, "commit", "--quiet", "-am", "change")
        return f"file://{folder}", commit

    def declared(self, origin: tuple[str, str], **changes: str) -> dict[str, Any]:
        source = {"kind": "upstream", "repository": origin[0], "commit": origin[1], "path": "traces/t.jsonl"}
        return spec(source | changes)

    def test_the_file_of_that_commit_comes_into_the_store(self, sources: Sources, origin: tuple[str, str]) -> None:
        path, found = acquire("t", self.declared(origin), sources)
        assert found == "upstream"
        assert path.read_bytes() == DATA
        assert acquire("t", self.declared(origin), sources)[1] == "store"

    def test_hooks_of_the_mirror_are_never_executed(
        self, sources: Sources, origin: tuple[str, str], tmp_path: Path
    ) -> None:
        acquire("t", self.declared(origin), sources)
        mirror = next((sources.store.root / "mirrors").glob("*.git"))
        hook = put(mirror / "hooks" / "reference-transaction", f"#!/bin/sh\ntouch {tmp_path}/ran\n".encode())
        hook.chmod(0o755)
        sources.store.path(sha(DATA)).unlink()
        other = git(Path(origin[0].removeprefix("file://")), "rev-parse", "HEAD")
        with pytest.raises(Blocked, match="not what was pinned"):
            acquire("t", self.declared(origin, commit=other), sources)
        assert not (tmp_path / "ran").exists()

    def test_a_commit_that_is_not_there(self, sources: Sources, origin: tuple[str, str]) -> None:
        with pytest.raises(Blocked, match="has no commit"):
            acquire("t", self.declared(origin, commit="0" * 39 + "1"), sources)

    def test_a_path_that_is_not_there(self, sources: Sources, origin: tuple[str, str]) -> None:
        with pytest.raises(Blocked, match="has no file traces/none"):
            acquire("t", self.declared(origin, path="traces/none.jsonl"), sources)

    def test_a_repository_that_is_not_there(self, sources: Sources, origin: tuple[str, str]) -> None:
        with pytest.raises(Blocked) as caught:
            acquire("t", self.declared(origin, repository=origin[0] + "-gone"), sources)
        assert "\n" not in caught.value.message
        assert "aisimc store add t.jsonl" in caught.value.help
        assert sha(DATA) in caught.value.help

    def test_no_network_is_one_line_with_a_way_out(self, sources: Sources, origin: tuple[str, str]) -> None:
        with pytest.raises(Blocked) as caught:
            acquire("t", self.declared(origin, repository="https://127.0.0.1:9/none"), sources)
        assert "cannot fetch" in caught.value.message
        assert "AISIMC_INPUTS" in caught.value.help


class TestCapacity:
    """`row.capacity`: a pool that cannot hold the input's largest request."""

    facts = check_rows(ROWS, 512)[0]

    def plan(self, rank: dict[str, Any], *, disaggregated: bool = False, error: str | None = None) -> dict[str, Any]:
        kind = "disaggregated" if disaggregated else "aggregated"
        engine = {"rank": rank} if not disaggregated else {"prefill": {"rank": rank}, "decode": {"rank": rank}}
        spec_ = {"topology": {"kind": kind}, "engine": engine}
        return {"rows": {"r": {"input": "t", "expect_error": error, "configuration": {"spec": spec_}}}}

    def test_exactly_enough(self) -> None:
        blocks = -(-self.facts.max_request_tokens // 64)
        assert too_small(self.plan({"num_gpu_blocks": blocks, "block_size": 64}), {"t": self.facts}) == []
        short = too_small(self.plan({"num_gpu_blocks": blocks - 1, "block_size": 64}), {"t": self.facts})
        assert len(short) == 1
        assert f"{blocks - 1} blocks of 64 tokens cannot hold" in short[0]

    def test_a_prefill_pool_needs_the_prompt_only(self) -> None:
        blocks = -(-self.facts.max_input_tokens // 2)
        assert blocks < -(-self.facts.max_request_tokens // 2)
        found = too_small(self.plan({"num_gpu_blocks": blocks, "block_size": 2}, disaggregated=True), {"t": self.facts})
        assert [line.split(":")[0] for line in found] == ["row r, decode"]

    def test_a_model_length_below_the_request(self) -> None:
        rank = {"num_gpu_blocks": 10**6, "block_size": 64, "max_model_len": 100}
        assert "max_model_len 100" in too_small(self.plan(rank), {"t": self.facts})[0]

    def test_a_row_that_expects_an_error_is_left_alone(self) -> None:
        tiny = self.plan({"num_gpu_blocks": 1, "block_size": 64}, error="rejected")
        assert too_small(tiny, {"t": self.facts}) == []
