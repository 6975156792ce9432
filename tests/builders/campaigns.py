"""Campaign texts to change in one place, and what the compiler says about the result.

A changed text marks the token that must be underlined: `commit = «"main"»`.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from aisimc_compiler.api import CheckResult, check_file
from aisimc_compiler.diagnostics.model import Diagnostic

HEAD = """campaign "one" {
  language = 1
  purpose  = "One change"
  corpus   = long
  matrix   = focused
}
"""
WHEELS = """
revision baseline {
  wheel  = "aisimulate==0.12.0.dev1"
  sha256 = "9334cf5150e74eeff8f55c68a6b01f3cc355d89f5652504ee6c235e02f9d9bd2"
}
revision candidate {
  wheel    = "aisimulate==0.12.0.dev2"
  sha256   = "9b50283211b7927a7d80a87a98a2eb0d869376b6459f9eaf0d18acebef4593e4"
  relation = "the next build of the same line"
}
"""
CHECKOUTS = """
revision baseline {
  repository = "https://github.com/ai-dynamo/aisimulate"
  commit     = "fb7b0d56de035d66ca9fcae7ff424055dcbf37cd"
}
revision candidate {
  repository = "https://github.com/ai-dynamo/aisimulate"
  commit     = "6f9a315e583e8c4ed95e0a4fb5d20bd79d5cf140"
  relation   = ancestor
}
build {
  toolchain = "1.93.1"
  profile   = release
  features  = ["replay-bench"]
}
"""
EMBEDDED = """
revision baseline {
  embedded = "reference-core"
  sha256   = "0000000000000000000000000000000000000000000000000000000000000000"
}
revision candidate {
  embedded     = "reference-core"
  sha256       = "0000000000000000000000000000000000000000000000000000000000000000"
  patch        = "patches/change.patch"
  patch_sha256 = "1111111111111111111111111111111111111111111111111111111111111111"
  relation     = "one patch on top"
}
build { toolchain = "system" profile = release }
"""
REST = """
determinism {
  mode        = canonical_v1
  repetitions = 2
}
input conversation {
  format     = mooncake
  block_size = 512
  upstream   = "https://github.com/kvcache-ai/Mooncake"
  commit     = "3cca71daccf2a7afb8fe3f0295358f70e3a69fdb"
  path       = "FAST25-release/traces/conversation_trace.jsonl"
  sha256     = "b8cbb061a85206d729d91cdc2981f43c9e0d99209dce588d3af5f7934408b9df"
  rows       = 12_031
  slice {
    start  = 0
    rows   = 5_000
    sha256 = "c2157405477e02aeaaa01e5fcc9794bd9ac146f64643a03aef067853471356b0"
  }
}
exclude {
  /summary/wall_time_ms
  /summary/processed_tokens_per_s
  /summary/processed_output_tokens_per_s
  /planner/html_report_path
}
family paged {
  input = conversation
  timing polynomial
}
row vllm-aggregated {
  family = paged
  engine = vllm
  arrival_speedup_ratio = 2.0
  topology aggregated { workers = 4 }
  capacity { num_gpu_blocks = 6_144 block_size = 64 max_num_seqs = 16 max_num_batched_tokens = 8_192 }
  evidence { preemptions = 1..3 workers = all }
}
row sglang-disaggregated {
  family = paged
  engine = sglang
  topology disaggregated {
    prefill { workers = 2 }
    decode { workers = 2 }
    transfer { bytes_per_token = 262_144 B bandwidth = 100 GB/s mode = full_prompt }
  }
  capacity { num_gpu_blocks = 1_664 block_size = 512 max_num_seqs = 256 max_num_batched_tokens = 32_768 }
  evidence { retractions = 1..3 handoffs = all }
}
fixture single {
  family = paged
  engine = trtllm
  topology aggregated { workers = 1 }
  capacity { num_gpu_blocks = 2_000 block_size = 32 max_num_seqs = 16 max_num_batched_tokens = 8_192 }
  timing fixed { prefill = 10 ms decode = 2.5 ms }
}
"""
EXCEPTION = """
exception earlier {
  row         = vllm-aggregated
  differs     = [/per_request/*/first_admit_ms, /per_request/*/admission_history/*/at_ms]
  requests    = all
  baseline    = "records the end of the pass"
  candidate   = "records the admission"
  source      = "the engine's scheduler"
  cause       = "the change moves the record"
  impact      = "charts shift by one pass"
  disposition = "accepted in review"
  regression_test {
    command   = ["pytest", "tests/test_admission.py"]
    fails_on  = baseline
    passes_on = candidate
  }
}
"""
PERFORMANCE = """
performance {
  metric    = replay_execution_ms
  rows      = [vllm-aggregated]
  warmups   = 5
  pairs     = 60
  seed      = 20261129
  threshold = 1.05
  exchangeability = "fresh pinned processes, order randomised from the seed"
  diagnostics { lag1_autocorrelation = 0.30 order_trend = 0.30 }
  invalidate_on = [affinity_violation, competing_load]
}
"""
ON_WHEELS = HEAD + WHEELS + REST
ON_CHECKOUTS = HEAD + CHECKOUTS + REST
ON_EMBEDDED = HEAD + EMBEDDED + REST


class Change(NamedTuple):
    """A text that is put in another's place. `new` may mark the token that must be underlined with «…»."""

    old: str
    new: str


def changed(base: str, *changes: Change | tuple[str, str]) -> tuple[str, tuple[int, int] | None]:
    """A base text with changes, and the span (offsets) of the marked token if there is one."""
    text = base
    for old, new in changes:
        assert text.count(old) == 1, f"{text.count(old)} × {old!r}"
        text = text.replace(old, new)
    start = text.find("«")
    if start < 0:
        return text, None
    text = text.replace("«", "", 1)
    end = text.index("»")
    return text.replace("»", "", 1), (start, end)


def check(text: str, folder: Path, files: dict[str, str | bytes] | None = None) -> CheckResult:
    """Check a text as `one.campaign` in a folder, with other files beside it."""
    for name, content in (files or {}).items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    path = folder / "one.campaign"
    path.write_text(text, encoding="utf-8")
    return check_file(path)


def said(diagnostics: tuple[Diagnostic, ...]) -> str:
    """What was reported, for a failing test's message."""
    return "\n".join(f"{d.rule} {d.span.source.position(d.span.start)} {token(d)!r}: {d.message}" for d in diagnostics)


def token(diagnostic: Diagnostic) -> str:
    """The text that a diagnostic underlines."""
    source, start, end = diagnostic.span
    return source.text[start:end]


def assert_refused(result: CheckResult, rule: str, span: tuple[int, int] | None) -> Diagnostic:
    """There is exactly one error, of this rule, at the marked token; and it is worth reading."""
    found = result.diagnostics
    assert [d.rule for d in found] == [rule], said(found) or f"nothing refused, {rule} expected"
    only = found[0]
    if span is not None:
        assert (only.span.start, only.span.end) == span, said(found)
    assert only.message and only.notes and only.label.strip() != only.message.strip()
    assert "{" not in only.message.replace("{ ", "").replace("{}", "") or "`" in only.message
    return only
