"""The generated tables of the language reference. `python -m tests.docs.reference` writes them anew."""

from __future__ import annotations

import re
from pathlib import Path

from aisimc_compiler.model import closed, vocabulary
from aisimc_compiler.model.vocabulary import BLOCKS, UNITS, Attribute

PAGE = Path(__file__).resolve().parents[2] / "docs" / "language.md"
_TABLE = re.compile(r"<!-- table: ([a-z_ ]+) -->\n.*?<!-- end -->", re.DOTALL)

_PRESENCE = {vocabulary.REQUIRED: "yes", vocabulary.OPTIONAL: "no"}
_PINNED = "yes (`aisimc pin` fills it in)"

WHEN: dict[str, str] = {
    "revision.repository": "for a checkout",
    "revision.commit": "for a checkout",
    "revision.wheel": "for a wheel",
    "revision.embedded": "for the embedded engine",
    "revision.sha256": "for a wheel, for the embedded engine",
    "revision.patch_sha256": "with `patch`",
    "revision.relation": "on the candidate",
    "correction.sha256": "with `patch`",
    "input.file": "or `upstream`, or `generator`",
    "input.upstream": "or `file`, or `generator`",
    "input.generator": "or `file`, or `upstream`",
    "input.commit": "with `upstream`",
    "input.path": "with `upstream`",
    "input.rows": _PINNED,
    "input.sha256": _PINNED,
    "slice.sha256": _PINNED,
    "row.engine": "unless `frozen`",
    "row.topology": "unless `frozen`",
    "row.capacity": "unless `frozen`, or in the roles",
    "row.timing": "unless `frozen`, or in the roles",
    "row.sha256": "with `frozen`",
    "role.capacity": "unless the row has it",
    "role.timing": "unless the row has it",
    "transfer.bytes_per_token": "unless `latency` alone",
    "transfer.bandwidth": "unless `latency` alone",
    "transfer.mode": "unless `latency` alone",
    "transfer.latency": "or the three above",
    **{f"exception.{name}": "yes" for name in (*closed.EXCEPTION_PARTS, "regression_test")},
    **{f"regression_test.{name}": "yes" for name in ("command", "fails_on", "passes_on")},
    **{f"performance.{name}": "yes" for name in ("seed", "exchangeability", "invalidate_on", "diagnostics")},
    **{f"diagnostics.{name}": "yes" for name in ("lag1_autocorrelation", "order_trend")},
}
"""When `BLOCK.NAME` is needed, where that depends on other places or a rule of its own says so."""


def tables_in(page: str) -> list[str]:
    """The blocks whose tables a page holds."""
    return [match[1] for match in _TABLE.finditer(page)]


def with_tables(page: str) -> str:
    """The page with every marked table as the vocabulary has it now."""
    return _TABLE.sub(lambda match: f"<!-- table: {match[1]} -->\n{table(match[1])}\n<!-- end -->", page)


def table(key: str) -> str:
    """A Markdown table of a block's attributes and of the blocks in it. KeyError where WHEN lacks a ruled one."""
    block = BLOCKS[key]
    lines = ["| name | takes | needed | what it says |", "| --- | --- | --- | --- |"]
    for name, attribute in block.attributes.items():
        needed = WHEN.get(f"{key}.{name}") or _needed(attribute)
        lines.append(f"| `{name}` | {_kind(attribute)} | {needed} | {_cell(attribute.doc)} |")
    for keyword, inside in block.blocks.items():
        inner = BLOCKS[inside]
        needed = WHEN.get(f"{key}.{keyword}") or _PRESENCE[inner.presence]
        times = ", any number" if inner.repeated else ""
        lines.append(f"| `{keyword}` | block{times} | {needed} | {_cell(inner.doc)} |")
    return "\n".join(lines)


def _kind(attribute: Attribute) -> str:
    kind = attribute.kind if not attribute.item else f"{attribute.kind} of {attribute.item}s"
    if attribute.dimension:
        kind = f"{kind} in {', '.join(f'`{unit}`' for unit in UNITS[attribute.dimension])}"
    if attribute.words:
        kind = f"{kind}: {', '.join(f'`{word}`' for word in attribute.words)}"
    return kind


def _needed(attribute: Attribute) -> str:
    if attribute.default is None:
        return _PRESENCE[attribute.presence]
    return f"no (`{written(attribute.default)}`)"


def written(default: object) -> str:
    """A default as the language writes it. By kind first: 1 and 1.0 equal True, and are written otherwise."""
    if isinstance(default, bool):
        return "true" if default else "false"
    return "[]" if default == () else str(default)


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


if __name__ == "__main__":
    PAGE.write_text(with_tables(PAGE.read_text("utf-8")), "utf-8")
