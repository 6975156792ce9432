"""Patches of the shipped core that change its speed and nothing else, made from the sources as they stand."""

from __future__ import annotations

from difflib import unified_diff

from tests.campaigns.origin import core_files

LOOP = "src/engine/runtime/aggregated.rs"
AROUND = "src/replay/replayer.rs"

BUSY = """let longer = {limit};
{indent}while began.elapsed() < longer {{
{indent}    std::hint::spin_loop();
{indent}}}
"""


def slower_loop(percent: int = 15) -> bytes:
    """The aggregated loop keeps the processor busy for `percent` of its own time before it returns."""
    indent = " " * 8
    busy = BUSY.format(limit=f"began.elapsed().mul_f64(1.{percent:02})", indent=indent)
    before = f"{indent}rounds::play(self, limit_ms)\n"
    began = f"{indent}let began = std::time::Instant::now();\n{indent}let ended = rounds::play(self, limit_ms);\n"
    return _patch(LOOP, (before, f"{began}{indent}{busy}{indent}ended\n"))


def slower_around(milliseconds: int = 10) -> bytes:
    """Preparing and reporting a replay keep the processor busy for some time more; the loop is left alone."""
    indent = " " * 8
    busy = BUSY.format(limit=f"std::time::Duration::from_millis({milliseconds})", indent=indent)
    busy = f"{indent}let began = std::time::Instant::now();\n{indent}{busy}"
    before, after = f"{indent}let canonical = self.options.determinism", f"{indent}let engine = self.replay.engine;\n"
    return _patch(AROUND, (before, busy + before), (after, busy + after))


def _patch(path: str, *edits: tuple[str, str]) -> bytes:
    """A unified diff of one file; every edit's first text must stand in it exactly once."""
    before = core_files("")[path].decode()
    after = before
    for old, new in edits:
        assert after.count(old) == 1, f"{path}: {old!r} stands there {after.count(old)} times"
        after = after.replace(old, new)
    lines = unified_diff(before.splitlines(True), after.splitlines(True), f"a/{path}", f"b/{path}")
    return "".join(lines).encode()
