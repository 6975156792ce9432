"""Unknown names that stand in the place of what a block lacks: `offset = 0` where `start` is missing is one mistake.

Only imported when something is wrong.
"""

from __future__ import annotations

from aisimc_compiler.diagnostics.model import Diagnostic
from aisimc_compiler.model.closed import ARMS
from aisimc_compiler.model.resolve.context import Context
from aisimc_compiler.model.resolve.reading import TREE_KINDS, Reading
from aisimc_compiler.model.vocabulary import OPTIONAL, QUANTITY, UNITS, Block
from aisimc_compiler.source import Span
from aisimc_compiler.syntax import tree

_MERGED = ("row", "fixture", "family")
"""What these lack is known only when a row has been put over its family."""
_ASKED = ("name.unknown", "row.engine")
"""The rules whose refusal says nothing better than what may have been meant."""


def settle(context: Context, reading: Reading) -> None:
    """Reports the unknown names of a block; each counts as one thing that the block lacks and that it may stand for."""
    if reading.spec.title in _MERGED:
        for _, diagnostic in reading.strangers:
            context.report(diagnostic)
        return
    for item, diagnostic in reading.strangers:
        meant = stand_in(item, _lacking(reading), reading.spec)
        if meant is not None:
            reading.touched.setdefault(meant, name_of(item))
        # A row's family may give the field of a capacity that it lacks.
        asked = None if reading.spec.title == "capacity" else meant
        context.report(_asking(diagnostic, asked))


def excused(missing: list[str], readings: list[Reading]) -> list[str]:
    """What a row lacks, without what the unknown names of the row and its family may stand for."""
    rest = list(missing)
    for reading in readings:
        for item, _ in reading.strangers:
            meant = stand_in(item, rest, reading.spec)
            if meant is not None:
                rest.remove(meant)
    return rest


def name_of(item: tree.Attribute | tree.Block) -> Span:
    """Where an item's name stands."""
    return item.name.span if isinstance(item, tree.Attribute) else item.keyword.span


def stand_in(item: tree.Attribute | tree.Block, lacking: list[str], spec: Block) -> str | None:
    """The first missing name that takes what the unknown one gives: a value of that kind, or a body."""
    if isinstance(item, tree.Block):
        return next((name for name in lacking if name in spec.blocks), None)
    fitting = [name for name in lacking if name in spec.attributes and _takes(spec, name, item.value)]
    closed = (name for name in fitting if item.value.value in spec.attributes[name].words)
    return next(closed, fitting[0] if fitting else None)


def _takes(spec: Block, name: str, value: tree.Value) -> bool:
    attribute = spec.attributes[name]
    if value.kind == "invalid":
        return True
    if value.kind not in TREE_KINDS[attribute.kind]:
        return False
    return attribute.kind != QUANTITY or value.unit in UNITS[attribute.dimension]


def _asking(diagnostic: Diagnostic, meant: str | None) -> Diagnostic:
    if meant is None or diagnostic.rule not in _ASKED or diagnostic.replacement is not None:
        return diagnostic
    return diagnostic._replace(help=f"did you mean `{meant}`, which is missing here?")


def _lacking(reading: Reading) -> list[str]:
    """What a block still has to say, in the order in which its vocabulary has it."""
    touched, spec = reading.touched, reading.spec
    if spec.title == "revision":
        needed = _of_a_revision(reading)
    elif spec.title == "input":
        needed = ["format", "block_size", *_of_an_input(reading), "sha256", "rows"]
    elif spec.title == "transfer":
        by_bytes = ("bytes_per_token", "bandwidth", "mode")
        needed = list(by_bytes) if touched.keys() & set(by_bytes) or "latency" not in touched else []
        needed += ["latency"] if not touched else []
    elif spec.title == "correction":
        needed = ["sha256"] if "patch" in touched else ["patch"] if "sha256" in touched else []
    else:
        needed = [name for name, attribute in spec.attributes.items() if attribute.presence != OPTIONAL]
        needed += [name for name in spec.blocks if name in _NEEDED_BLOCKS]
    return [name for name in needed if name not in touched]


_NEEDED_BLOCKS = ("prefill", "decode", "transfer", "regression_test", "diagnostics")


def _of_a_revision(reading: Reading) -> list[str]:
    touched = reading.touched
    needed = []
    if not touched.keys() & {"repository", "wheel", "embedded"}:
        patched = touched.keys() & {"patch", "patch_sha256"}
        needed.append("repository" if "commit" in touched else "embedded" if patched else "wheel")
    if "repository" in touched:
        needed.append("commit")
    if touched.keys() & {"wheel", "embedded"}:
        needed.append("sha256")
    if "patch" in touched:
        needed.append("patch_sha256")
    label = reading.tree.labels[0] if reading.tree.labels else None
    if isinstance(label, tree.Name) and label.text == ARMS[1]:
        needed.append("relation")
    return needed


def _of_an_input(reading: Reading) -> list[str]:
    touched = reading.touched
    if "upstream" in touched:
        return ["commit", "path"]
    if touched.keys() & {"file", "generator"}:
        return []
    return ["upstream"] if touched.keys() & {"commit", "path"} else ["file", "generator"]
