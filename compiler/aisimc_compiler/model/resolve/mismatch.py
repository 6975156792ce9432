"""What is wrong with a single name, in words: unknown, misplaced, or given twice.

Only imported when something is wrong.
"""

from __future__ import annotations

from collections.abc import Collection

from aisimc_compiler.diagnostics.model import Diagnostic, Label
from aisimc_compiler.model import closed
from aisimc_compiler.model.nearest import nearest
from aisimc_compiler.model.resolve.kinds import wanted
from aisimc_compiler.model.resolve.stray import stray
from aisimc_compiler.model.vocabulary import BLOCKS, WORD, WORD_OR_LIST, Attribute, Block
from aisimc_compiler.rules.refusal import article, did_you_mean, listed, refuse
from aisimc_compiler.source import Span
from aisimc_compiler.syntax import tree

_STANDS_FOR = {**dict.fromkeys(("branch", "tag", "ref", "rev"), "commit"), "url": "upstream", "repository": "upstream"}
"""What a refused name stands in the place of, so that the absence of the right one is not a second mistake."""
_SLIPS = ("input.slice", "row.composition")
"""The rules that speak of every strange name of their block, but for slips of its own names."""


def _in(spec: Block) -> str:
    if spec.title == "file":
        return "at the top of a file"
    return f"in {article(spec.title)} `{spec.title}` block"


def unknown_word(attribute: Attribute, name: tree.Name, value: tree.Value) -> Diagnostic:
    """`name.unknown`: a word outside of the closed set."""
    word = str(value.value)
    meant = nearest(word, attribute.words)
    listed_too = attribute.kind == WORD_OR_LIST
    only = "only " if len(attribute.words) == 1 else ""
    in_list = f"[{word}]" if listed_too and attribute.item == WORD and meant is None else None
    return refuse(
        "name.unknown",
        value.span,
        f"`{word}` is no word of `{name.text}`",
        label=f"takes {wanted(attribute) if listed_too else only + listed(attribute.words)}",
        help=did_you_mean(meant, f"one name stands in a list, too: `{in_list}`" if in_list else ""),
        replace=in_list or meant,
    )


def unknown_name(
    spec: Block, name: tree.Name, item: tree.Attribute | tree.Block, there: Collection[str] = ()
) -> tuple[Diagnostic, str | None]:
    """A name that does not belong in a block, and the known one that it was probably meant to be: none of `there`.

    The rule of the method that speaks of the name comes before `name.unknown`.
    """
    text = name.text
    known = (*spec.attributes, *spec.blocks)
    meant = nearest(text, (other for other in known if other not in there))
    rule = spec.stray.get(text) or spec.stray.get(text.lower())
    if rule is None and spec.title != "file":
        rule = _one_armed(spec, text, item)
    if rule is None and spec.stray.get("*") and not (meant and spec.stray["*"] in _SLIPS):
        rule = spec.stray["*"]
    if rule is not None:
        keep = meant if rule == "row.engine" else None
        return stray(rule, spec, name, keep), keep or _STANDS_FOR.get(text.lower())
    if spec.title == "expect":
        counter = _refused_counter(name)
        if counter is not None:
            return counter, None
    block = isinstance(item, tree.Block)
    if block and spec.title != "file" and text in BLOCKS["file"].blocks:
        return nested(spec, name), None
    noun = "block" if block else "attribute"
    return (
        refuse(
            "name.unknown",
            name.span,
            f"there is no {noun} `{text}` {_in(spec)}",
            label="unknown here",
            help=did_you_mean(meant, _already(text, there) or _elsewhere(text, known)),
            replace=meant,
        ),
        meant,
    )


def _one_armed(spec: Block, text: str, item: tree.Attribute | tree.Block) -> str | None:
    """The rule against one-armed values, where a name, a label or a value of an unknown item names an arm."""
    rule = spec.stray.get(closed.ARMS[0])
    if rule is None:
        return None
    if {*closed.ARMS, "arm", "arms"}.intersection(text.lower().replace("-", "_").split("_")):
        return rule
    if isinstance(item, tree.Block):
        return (
            rule if any(isinstance(label, tree.Name) and label.text in closed.ARMS for label in item.labels) else None
        )
    value = item.value
    items = value.value if isinstance(value.value, tuple) else (value,)
    named = items and all(isinstance(each, tree.Value) and each.value in closed.ARMS for each in items)
    return rule if named else None


def nested(spec: Block, name: tree.Name) -> Diagnostic:
    """`name.unknown`: a block of the file within another block, mostly because that one's brace is missing."""
    return refuse(
        "name.unknown",
        name.span,
        f"`{name.text}` stands at the top of a file, and here it stands {_in(spec)}",
        label=f"still in the `{spec.title}` block",
        help=f"close the `{spec.title}` block with `}}` before it, and look for one `}}` too many below",
    )


def _already(text: str, there: Collection[str]) -> str:
    """What to do where the known name that is nearest stands beside it."""
    near = nearest(text, there)
    return f"`{near}` stands here already: remove one of the two" if near else ""


def _elsewhere(text: str, known: tuple[str, ...]) -> str:
    """Where an unknown name would belong, or else what the block can hold."""
    titles = [other.title for other in BLOCKS.values() if text in other.attributes or text in other.blocks]
    there = tuple(dict.fromkeys(title for title in titles if title != "file"))
    if there:
        return f"`{text}` belongs in {listed(there)}"
    if titles:
        return f"`{text}` stands at the top of a file"
    return f"it can hold {listed(known, last='and')}" if known and len(known) <= 12 else ""


def twice(name: tree.Name, first: Span) -> Diagnostic:
    """`syntax.duplicate`: at the second place, with a label at the first."""
    apart = first.source is not name.span.source
    return refuse(
        "syntax.duplicate",
        name.span,
        f"`{name.text}` is given twice, in two files" if apart else f"`{name.text}` is given twice in one place",
        label="the second one",
        help="keep one of the two",
        secondary=(Label(first, "the first one"),),
    )


def attribute_for_block(spec: Block, item: tree.Attribute) -> Diagnostic:
    """`type.mismatch`: `timing = polynomial` where a block stands."""
    text = item.name.text
    key = spec.blocks[text]
    block = BLOCKS[key]
    if item.value.kind == "word" and block.label == "word" and item.value.value in block.words:
        example = f"{text} {item.value.value}"
        if item.value.value != "polynomial":
            example += " { … }"
    else:
        example = f"{text} {block.words[0]} {{ … }}" if block.words else f"{text} {{ … }}"
    return refuse(
        "type.mismatch",
        item.value.span,
        f"`{text}` is a block, not an attribute",
        label="a block takes no `=`",
        help=f"write `{example}`",
    )


def other_topology(label: tree.Name, item: tree.Attribute | tree.Block | tree.Value) -> Diagnostic:
    """`name.unknown`: pools in an aggregated topology, or bare workers in a disaggregated one."""
    name = item.name if isinstance(item, tree.Attribute) else item.keyword if isinstance(item, tree.Block) else label
    other = "disaggregated" if label.text == "aggregated" else "aggregated"
    return refuse(
        "name.unknown",
        name.span,
        f"`{name.text}` belongs to {article(other)} {other} topology",
        label=f"not in {article(label.text)} {label.text} one",
        help=f"write `topology {other} {{ … }}`"
        if other == "disaggregated"
        else "say it in both roles: `prefill { … } decode { … } transfer { … }`",
        secondary=(Label(label.span, "the kind of the topology"),),
    )


def block_for_attribute(spec: Block, item: tree.Block) -> Diagnostic:
    """`type.mismatch`: `engine { … }` where an attribute stands."""
    text = item.keyword.text
    return refuse(
        "type.mismatch",
        item.keyword.span,
        f"`{text}` is an attribute, not a block",
        label=f"takes {wanted(spec.attributes[text])}",
        help=f"write `{text} = …`",
    )


def bare_value(spec: Block, value: tree.Value) -> Diagnostic:
    """`syntax`: a value without a name, which only `exclude` holds."""
    place = _in(spec)
    return refuse("syntax", value.span, f"a value stands alone {place}", label="no attribute takes it")


def _refused_counter(name: tree.Name) -> Diagnostic | None:
    """Why a counter of the process contract cannot be expected in a campaign, if that is what `name` is."""
    text = name.text
    if text in closed.UNBOUND_COUNTERS:
        why = closed.UNBOUND_COUNTERS[text]
    elif closed.COUNTERS.get(text) == "counts":
        why = "its value is a table, which a golden file can hold and a campaign cannot"
    else:
        return None
    return refuse(
        "name.unknown", name.span, f"`{text}` cannot be expected here: {why}", label="not a counter that `expect` binds"
    )
