"""The text of a new campaign, complete but for the pins that `aisimc pin` computes."""

from __future__ import annotations

from dataclasses import dataclass

from aisimc_runtime.pinning.edits import laid_out, quoted
from aisimc_runtime.scaffold.revisions import block, honours_no_canonical_mode, needs_build
from aisimc_runtime.scaffold.rows import ROWS

EXCLUDE = """exclude {
  /summary/wall_time_ms
  /summary/processed_tokens_per_s
  /summary/processed_output_tokens_per_s
  /planner/html_report_path
}"""

BUILD = """build {
  toolchain = "system"
  profile   = release
  features  = []
  locked    = true
}"""


@dataclass(frozen=True, slots=True)
class TraceInput:
    """Where the rows come from: a file beside the campaign, or a path in an upstream repository."""

    name: str
    file: str | None = None
    upstream: str | None = None
    commit: str | None = None
    path: str | None = None
    window: tuple[int, int] | None = None
    block_size: int = 512


@dataclass(frozen=True, slots=True)
class Outline:
    """What a person decides; the rest of the campaign follows from the method."""

    name: str
    purpose: str
    baseline: str
    candidate: str
    relation: str
    trace: TraceInput
    rows: tuple[str, ...]
    authoritative: bool
    corpus: str
    arrival_speedup_ratio: float = 1.0


PLACEHOLDERS = """\
# The capacities of the rows are placeholders: they fitted another trace. Where pressure does not come out as `evidence`
# asks, `aisimc requalify SPEC ROW` finds a capacity that fits this one, and both arms run with it."""


def text(outline: Outline) -> str:
    """The campaign file for an outline, laid out. Raises `Refused` when a revision's name cannot be read."""
    parts = [
        header(outline.name, outline.purpose, outline.corpus, outline.authoritative),
        block("baseline", outline.baseline, None),
        block("candidate", outline.candidate, outline.relation),
        *([BUILD] if needs_build(outline.baseline, outline.candidate) else []),
        determinism(outline.baseline, outline.candidate),
        trace_input(outline.trace),
        EXCLUDE,
        PLACEHOLDERS + "\n" + "\n\n".join(_row(row, outline) for row in outline.rows),
    ]
    return laid_out("\n\n".join(parts) + "\n")


def header(name: str, purpose: str, corpus: str, authoritative: bool) -> str:
    """The `campaign` block."""
    return "\n".join(
        [
            f"campaign {quoted(name)} {{",
            "  language = 1",
            f"  purpose  = {quoted(purpose)}",
            f"  corpus   = {corpus}",
            f"  matrix   = {'authoritative' if authoritative else 'focused'}",
            "}",
        ]
    )


def determinism(*revisions: str) -> str:
    """The `determinism` block; builds that ignore `canonical_v1` get the built-in correction, on both arms alike."""
    lines = ["determinism {", "  mode        = canonical_v1", "  repetitions = 2"]
    if any(honours_no_canonical_mode(revision) for revision in revisions):
        lines.append("  correction stable_request_identity { }")
    return "\n".join([*lines, "}"])


def trace_input(trace: TraceInput) -> str:
    """The `input` block, without the checksums that are still to be computed."""
    lines = [f"input {trace.name} {{", "  format     = mooncake", f"  block_size = {trace.block_size}"]
    if trace.file is not None:
        lines.append(f"  file       = {quoted(trace.file)}")
    else:
        lines += [
            f"  upstream   = {quoted(trace.upstream or '')}",
            f"  commit     = {quoted(trace.commit or '')}",
            f"  path       = {quoted(trace.path or '')}",
        ]
    if trace.window is not None:
        start, rows = trace.window
        lines += ["  slice {", f"    start  = {start:_}", f"    rows   = {rows:_}", "  }"]
    return "\n".join([*lines, "}"])


def _row(name: str, outline: Outline) -> str:
    lines = [f"row {name} {{", f"  engine = {ROWS[name].engine}", f"  input  = {outline.trace.name}"]
    if outline.arrival_speedup_ratio != 1.0:
        lines.append(f"  arrival_speedup_ratio = {outline.arrival_speedup_ratio}")
    return "\n".join([*lines, *(f"  {line}" for line in ROWS[name].body), "}"])
