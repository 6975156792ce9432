"""Blocks with the wrong label, without one that they need, or with one too many.

Only imported when something is wrong.
"""

from __future__ import annotations

from aisimc_compiler.diagnostics.model import Diagnostic
from aisimc_compiler.model.closed import ARMS
from aisimc_compiler.model.nearest import nearest
from aisimc_compiler.model.resolve.kinds import KINDS, is_name
from aisimc_compiler.model.resolve.stray import stray
from aisimc_compiler.model.vocabulary import Block
from aisimc_compiler.rules.refusal import article, did_you_mean, listed, refuse
from aisimc_compiler.syntax import tree


def for_one_arm(block: tree.Block, spec: Block) -> str | None:
    """The rule that refuses a block's label because it names an arm: `capacity candidate { … }`."""
    if spec.label == "name" or spec.title == "revision" or len(block.labels) != 1:
        return None
    label = block.labels[0]
    text = label.text if isinstance(label, tree.Name) else label.value
    rule = spec.stray.get(ARMS[0]) or ("row.frozen" if spec.title in ("topology", "timing") else None)
    return rule if text in ARMS else None


def label_misfit(block: tree.Block, spec: Block) -> Diagnostic:
    """A block with the wrong label, without one that it needs, or with one too many."""
    keyword = block.keyword
    labels = block.labels
    arm = for_one_arm(block, spec)
    if arm:
        named = labels[0]
        return stray(arm, spec, named if isinstance(named, tree.Name) else tree.Name(str(named.value), named.span))
    if not spec.label or len(labels) > 1:
        extra = labels[0] if not spec.label else labels[1]
        return refuse(
            "type.mismatch",
            extra.span,
            f"`{keyword.text}` takes {'no' if not spec.label else 'one'} name",
            label="one too many",
        )
    example = {"string": '"…"', "name": "NAME", "word": listed(spec.words)}[spec.label]
    if not labels:
        return refuse(
            "name.missing",
            keyword.span,
            f"`{keyword.text}` is given without its {'kind' if spec.label == 'word' else 'name'}",
            label=f"{example} follows here",
        )
    label = labels[0]
    if spec.label == "string":
        word = label.text if isinstance(label, tree.Name) else str(label.value)
        return refuse(
            "type.mismatch",
            label.span,
            f"the name of {article(keyword.text)} `{keyword.text}` is a string in double quotes",
            label="not a string",
            help=f'write `"{word}"`',
            replace=f'"{word}"',
            applicable=True,
        )
    if isinstance(label, tree.Value):
        word = str(label.value)
        fits = is_name(word) if word else False
        return refuse(
            "type.mismatch",
            label.span,
            f"the name of {article(keyword.text)} `{keyword.text}` is a bare name of letters, digits, `_` and `-`",
            label=f"this is {KINDS.get(label.kind, 'a value')}",
            help=f"write `{word}`" if fits else "",
            replace=word if fits else None,
            applicable=fits,
        )
    return _unknown_kind(keyword, label, spec)


def _unknown_kind(keyword: tree.Name, label: tree.Name, spec: Block) -> Diagnostic:
    meant = nearest(label.text, spec.words)
    rule, message = "name.unknown", f"there is no {keyword.text} `{label.text}`"
    if keyword.text == "revision":
        rule, message = "pin.arms", f"`{label.text}` is no arm: a campaign compares one baseline with one candidate"
    return refuse(
        rule,
        label.span,
        message,
        label=f"takes {listed(spec.words)}",
        help=did_you_mean(meant),
        replace=meant,
    )
