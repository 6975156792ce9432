"""Whole campaigns on commits of a git repository made here: fetch, ancestry, correction, build, replay, verdict.

The repository has AI Simulate's layout: a workspace, its lock file, and the reference core at `crates/core`. The
second commit moves the event queue to an ordered set, which changes no byte; the third releases blocks prefix first,
which does.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from aisimc_runtime.engines import patching, sources
from aisimc_runtime.inputs.generator import generate
from aisimc_runtime.ports.files import sha256_bytes
from tests.campaigns.origin import Repository, core_files, workspace_files

pytestmark = [pytest.mark.cargo, pytest.mark.slow]

ROOT = Path(__file__).resolve().parents[2]
ROWS, SEED = 400, 20261129
LIB = "src/lib.rs"

CAMPAIGN = """campaign "checkouts" {{
  language = 1 purpose = "Two commits of one repository" corpus = preflight matrix = focused
}}
revision baseline {{ repository = "{url}" commit = "{baseline}" }}
revision candidate {{ repository = "{url}" commit = "{candidate}" relation = ancestor }}
build {{ toolchain = "system" profile = release features = [] rustflags = [] locked = true }}
determinism {{
  mode = canonical_v1
  repetitions = 2
  correction comment {{ patch = "comment.patch" sha256 = "{correction}" }}
}}
input generated {{
  format = mooncake block_size = 512 generator {{ seed = {seed} rows = {rows} }} sha256 = "{input}" rows = {rows}
}}
exclude {{
  /summary/wall_time_ms
  /summary/processed_tokens_per_s
  /summary/processed_output_tokens_per_s
  /planner/html_report_path
}}
row vllm-aggregated {{
  engine = vllm
  input  = generated
  topology aggregated {{ workers = 2 }}
  capacity {{ num_gpu_blocks = 2_400 block_size = 64 max_num_seqs = 16 max_num_batched_tokens = 8_192 }}
  timing polynomial
  evidence {{ preemptions = 1..3 reuse = required workers = all }}
}}
"""


class Commits:
    """A repository with three commits on one line."""

    def __init__(self, folder: Path) -> None:
        self.repository = Repository(folder)
        core = core_files("")
        self.first = self.repository.commit({**workspace_files(), **placed(core)}, "The core")
        for patch in ("event-queue-refactor", "prefix-first-release"):
            changed = patching.apply((ROOT / "specs" / "patches" / f"{patch}.patch").read_bytes(), core.get)
            core |= {name: data for name, data in changed.items() if data is not None}
            commit = self.repository.commit(placed(core), patch)
            if patch == "event-queue-refactor":
                self.refactored = commit
            else:
                self.regressed = commit


def placed(core: Mapping[str, bytes]) -> dict[str, bytes]:
    return {f"crates/core/{name}": data for name, data in core.items()}


@pytest.fixture(scope="module")
def commits(tmp_path_factory: pytest.TempPathFactory) -> Commits:
    return Commits(tmp_path_factory.mktemp("origin") / "aisimulate")


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("store")


def comment_patch() -> bytes:
    """A correction that both arms can take: a comment at the end of the core's `lib.rs`."""
    lines = core_files("")[LIB].split(b"\n")[:-1]
    path = f"crates/core/{LIB}".encode()
    header = b"--- a/%s\n+++ b/%s\n@@ -%d +%d,2 @@\n" % (path, path, len(lines), len(lines))
    return header + b" " + lines[-1] + b"\n+// A correction would stand here.\n"


def run(folder: Path, store: Path, commits: Commits, baseline: str, candidate: str) -> subprocess.CompletedProcess[str]:
    """Write the campaign into `folder` and run it with the command line."""
    patch = comment_patch()
    (folder / "comment.patch").write_bytes(patch)
    text = CAMPAIGN.format(
        url=commits.repository.url,
        baseline=baseline,
        candidate=candidate,
        correction=sha256_bytes(patch),
        seed=SEED,
        rows=ROWS,
        input=sha256_bytes(b"".join(generate(SEED, ROWS, 512))),
    )
    (folder / "checkouts.campaign").write_text(text)
    command = [sys.executable, "-m", "aisimc_runtime", "run", "checkouts.campaign"]
    env = os.environ | {"AISIMC_STORE": str(store), "NO_COLOR": "1"}
    return subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False)


def run_folder(folder: Path) -> Path:
    (found,) = (folder / ".aisimc" / "runs").iterdir()
    return found


def read(path: Path) -> Any:
    return json.loads(path.read_bytes())


def test_a_refactoring_passes(tmp_path: Path, store: Path, commits: Commits) -> None:
    done = run(tmp_path, store, commits, commits.first, commits.refactored)
    assert done.returncode == 0, done.stdout + done.stderr
    report = read(run_folder(tmp_path) / "report.json")
    assert report["verdict"]["semantic"] == "PASS"
    artifacts = read(run_folder(tmp_path) / "artifacts.json")
    baseline, candidate = artifacts["baseline"], artifacts["candidate"]
    assert baseline["describe"]["revision"] == commits.first
    assert candidate["describe"]["revision"] == commits.refactored
    assert baseline["sha256"] != candidate["sha256"]
    assert baseline["runner_source_sha256"] == sources.runner_sha256(sources.runner_files())
    assert baseline["runner_source_sha256"] == candidate["runner_source_sha256"]
    assert baseline["correction"] == candidate["correction"]
    assert baseline["correction"] == [{"name": "comment", "sha256": sha256_bytes(comment_patch())}]
    # Every action of the plan was carried out, and the journal says so.
    journal = [json.loads(line) for line in (run_folder(tmp_path) / "journal.jsonl").read_bytes().splitlines()]
    finished = {entry["action"] for entry in journal if entry["event"] == "done"} | {"barrier"}
    planned = {action["id"] for action in read(run_folder(tmp_path) / "plan.json")["actions"]}
    assert "apply-correction/candidate" in planned
    assert planned <= finished
    # Nothing of the worktrees stays, neither here nor in the repository they came from.
    assert not list(run_folder(tmp_path).rglob("Cargo.toml"))
    assert commits.repository.git("status", "--porcelain") == ""
    assert commits.repository.git("worktree", "list").count("\n") == 0


def test_a_regression_fails_and_the_first_parting_is_named(tmp_path: Path, store: Path, commits: Commits) -> None:
    done = run(tmp_path, store, commits, commits.refactored, commits.regressed)
    assert done.returncode == 1, done.stdout + done.stderr
    report = read(run_folder(tmp_path) / "report.json")
    assert report["verdict"]["semantic"] == "FAIL"
    difference = read(run_folder(tmp_path) / "rows" / "vllm-aggregated" / "difference.json")
    assert difference["first_parting"] is not None


def test_a_claimed_ancestry_that_git_denies_is_blocked(tmp_path: Path, store: Path, commits: Commits) -> None:
    done = run(tmp_path, store, commits, commits.refactored, commits.first)
    assert done.returncode == 3
    assert "is an ancestor of" in done.stderr
    assert "Traceback" not in done.stderr
