"""Small campaigns on published builds and the real conversation window, and the command that runs them."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.builders.schemas import problems

BUILDS = {
    # a short name: (version, SHA-256 of the wheel)
    "54": ("0.13.0.dev202609230000000054", "ad75121e550162999287c6a795ef7529c07ee42b80bced38b6ea521d84157b6b"),
    "81": ("0.13.0.dev202610230000000081", "a44b7bd9be692e58a86c37e9b64169576975e65ef674742bd3cfdfc5b983eed6"),
    "82": ("0.13.0.dev202610240000000082", "7f985fff3896dd371903b6aa6e4832d2ba99a74cdb37cf8a6772f51ed6b23bba"),
    "85": ("0.13.0.dev202610270000000085", "17dcb3be6687ebc0b6cb76c59fcd3df46212fe9c7247f1169537245002dc76b1"),
    "dev2": ("0.12.0.dev2", "9b50283211b7927a7d80a87a98a2eb0d869376b6459f9eaf0d18acebef4593e4"),
}
TRACE = "mooncake-conversation.jsonl"
TRACE_SHA256 = "b8cbb061a85206d729d91cdc2981f43c9e0d99209dce588d3af5f7934408b9df"
VLLM = """
row vllm-aggregated {{
  family = window
  engine = vllm
  topology aggregated {{ workers = 2 }}
  capacity {{ num_gpu_blocks = {blocks} block_size = 64 max_num_seqs = 16 max_num_batched_tokens = 8_192 }}
  {more}
}}
"""
SGLANG = """
row sglang-aggregated {{
  family = window
  engine = sglang
  topology aggregated {{ workers = 2 }}
  capacity {{ num_gpu_blocks = {blocks} block_size = 512 max_num_seqs = 256 max_num_batched_tokens = 32_768 }}
  {more}
}}
"""
TRTLLM = """
row trtllm-aggregated {{
  family = window
  engine = trtllm
  topology aggregated {{ workers = 2 }}
  capacity {{ num_gpu_blocks = {blocks} block_size = 32 max_num_seqs = 16 max_num_batched_tokens = 8_192 }}
  {more}
}}
"""


def vllm(blocks: int = 4400, more: str = "evidence { preemptions = 3..3 }") -> str:
    """A row with three preemptions on builds 81 and 82."""
    return VLLM.format(blocks=blocks, more=more)


def sglang(blocks: int = 410, more: str = "evidence { retractions = 1..1 }") -> str:
    """A row with one retraction on builds 81 and 82."""
    return SGLANG.format(blocks=blocks, more=more)


def trtllm(blocks: int = 3950, more: str = "") -> str:
    """A row that guarantees no evict."""
    return TRTLLM.format(blocks=blocks, more=more)


def campaign(
    trace: bytes, *rows: str, baseline: str = "81", candidate: str = "82", count: int = 300, correction: str = ""
) -> str:
    """The text of a campaign on the first `count` rows of the trace."""
    window = hashlib.sha256(b"".join(trace.splitlines(keepends=True)[:count])).hexdigest()
    revisions = ""
    for arm, build in (("baseline", baseline), ("candidate", candidate)):
        version, sha256 = BUILDS[build]
        relation = 'relation = "a later build"' if arm == "candidate" and baseline != candidate else ""
        revisions += f'revision {arm} {{\n wheel = "aisimulate=={version}"\n sha256 = "{sha256}"\n {relation}\n}}\n'
    self_check = "self_check = true" if baseline == candidate else ""
    return f"""
campaign "small" {{
  language = 1
  purpose  = "A small window, for tests"
  corpus   = preflight
  matrix   = focused
  {self_check}
}}
{revisions}
determinism {{
  mode = canonical_v1
  repetitions = 2
  {correction}
}}
input conversation {{
  format     = mooncake
  block_size = 512
  upstream   = "https://example.invalid/nowhere"
  commit     = "3cca71daccf2a7afb8fe3f0295358f70e3a69fdb"
  path       = "FAST25-release/traces/conversation_trace.jsonl"
  sha256     = "{hashlib.sha256(trace).hexdigest()}"
  rows       = {len(trace.splitlines())}
  slice {{ start = 0 rows = {count} sha256 = "{window}" }}
}}
exclude {{
  /summary/wall_time_ms
  /summary/processed_tokens_per_s
  /summary/processed_output_tokens_per_s
  /planner/html_report_path
}}
family window {{
  input = conversation
  arrival_speedup_ratio = 2.0
  timing polynomial
  evidence {{ workers = all }}
}}
{"".join(rows)}
"""


@dataclass(frozen=True, slots=True)
class Done:
    """How a command ended."""

    status: int
    stdout: str
    stderr: str

    @property
    def verdict(self) -> dict[str, Any]:
        """The object that `run --json` prints."""
        parsed: dict[str, Any] = json.loads(self.stdout)
        assert problems("run-result", parsed) == []
        return parsed


@dataclass(frozen=True, slots=True)
class Place:
    """A working folder with a store of its own or a shared one."""

    folder: Path
    store: Path
    inputs: str = ""
    more: dict[str, str] = field(default_factory=dict)

    def environment(self) -> dict[str, str]:
        """The environment of the command."""
        return {
            **os.environ,
            "AISIMC_STORE": str(self.store),
            "AISIMC_INPUTS": self.inputs or os.environ.get("AISIMC_INPUTS", ""),
            "NO_COLOR": "1",
            "COLUMNS": "160",
            **self.more,
        }

    def write(self, text: str, name: str = "small.campaign") -> Path:
        """Put a campaign into the folder."""
        path = self.folder / name
        path.write_text(text)
        return path

    def start(self, *words: str | Path, prelude: str = "") -> subprocess.Popen[str]:
        """Start `aisimc` here; `prelude` is Python that runs before it, to break something."""
        code = f"{prelude}\nfrom aisimc_runtime.command.main import main; main()"
        argv = [sys.executable, "-P", "-c", code, *map(str, words)]
        return subprocess.Popen(
            argv, cwd=self.folder, env=self.environment(), text=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip

    def aisimc(self, *words: str | Path, timeout_s: float = 300.0, prelude: str = "") -> Done:
        """Run `aisimc` here to its end; never with a traceback."""
        process = self.start(*words, prelude=prelude)
        stdout, stderr = process.communicate(timeout=timeout_s)
        assert "Traceback" not in stderr, stderr
        return Done(process.returncode, stdout, stderr)

    def run(self, spec: Path, *words: str, prelude: str = "") -> Done:
        """`aisimc run --json --quiet SPEC`."""
        return self.aisimc("run", "--json", "--quiet", *words, spec, prelude=prelude)

    def run_folder(self) -> Path:
        """The one run folder here."""
        (found,) = (self.folder / ".aisimc" / "runs").iterdir()
        return found

    def journal(self) -> list[dict[str, Any]]:
        """The journal of the one run here."""
        return [json.loads(line) for line in (self.run_folder() / "journal.jsonl").read_bytes().splitlines()]
