"""What is wrong with a single token, in words: unknown names, wrong kinds, duplicates, absences.

Only imported when something is wrong.
"""

from __future__ import annotations

from typing import Any

from aisimc_compiler.diagnostics.model import Diagnostic, Label
from aisimc_compiler.model import closed
from aisimc_compiler.model.nearest import nearest
from aisimc_compiler.model.resolve.stray import stray
from aisimc_compiler.model.vocabulary import (
    BLOCKS,
    BOOLEAN,
    DECIMAL,
    INTEGER,
    LIST,
    QUANTITY,
    RANGE,
    STRING,
    UNITS,
    WORD,
    WORD_OR_LIST,
    WORD_OR_STRING,
    Attribute,
    Block,
)
from aisimc_compiler.rules.refusal import listed, refuse
from aisimc_compiler.source import Span
from aisimc_compiler.syntax import tree

_A = {
    "string": "a string",
    "integer": "an integer",
    "decimal": "a decimal",
    "word": "a bare word",
    "boolean": "a boolean",
    "list": "a list",
    "range": "a range",
    "quantity": "a number with a unit",
    "pointer": "a pointer",
}
_STANDS_FOR = {**dict.fromkeys(("branch", "tag", "ref", "rev"), "commit"), "url": "upstream", "repository": "upstream"}
"""What a refused name stands in the place of, so that the absence of the right one is not a second mistake."""
_BASE_UNIT = {"time": "ms", "size": "B", "rate": "GB/s"}


def wanted(attribute: Attribute) -> str:
    """What an attribute takes, in words."""
    kind = attribute.kind
    if kind == STRING:
        return "a string in double quotes"
    if kind == WORD and attribute.words:
        return f"{'one of the words' if len(attribute.words) > 1 else 'the word'} {listed(attribute.words)}"
    if kind == WORD:
        return "a bare word"
    if kind == INTEGER:
        return "an integer"
    if kind == DECIMAL:
        return "a number"
    if kind == BOOLEAN:
        return "`true` or `false`"
    if kind == LIST:
        return f"a list of {_items(attribute)}"
    if kind == RANGE:
        return "a range such as `1..3`"
    if kind == QUANTITY:
        return f"a number with a unit: {listed(tuple(UNITS[attribute.dimension]))}"
    if kind == WORD_OR_STRING:
        return f"{listed(attribute.words)}, or a string in double quotes"
    if kind == WORD_OR_LIST:
        return f"{listed(attribute.words)}, or a list of {_items(attribute)}"
    return "a pointer such as `/summary/duration_ms`"


def _items(attribute: Attribute) -> str:
    return {"string": "strings", "integer": "integers", "pointer": "pointers", "word": "names"}[attribute.item]


def wrong_kind(attribute: Attribute, name: tree.Name, value: tree.Value) -> Diagnostic:
    """`type.mismatch`: a value of another kind than its attribute takes."""
    if attribute.ruled and attribute.kind in (LIST, STRING) and _wildcard(value):
        from aisimc_compiler.rules.pinning.building import wildcard_feature

        return wildcard_feature(value.span, str(value.value))
    text, applicable = _in_kind(attribute, value)
    return refuse(
        "type.mismatch",
        value.span,
        f"`{name.text}` takes {wanted(attribute)}, not {_described(value)}",
        label=f"this is {_described(value)}",
        help=f"write `{text}`" if text is not None else "",
        replace=text,
        applicable=applicable,
    )


def _described(value: tree.Value) -> str:
    if value.kind == "quantity":
        return f"a number with the unit `{value.unit}`"
    return _A.get(value.kind, "that")


def _wildcard(value: tree.Value) -> bool:
    from aisimc_compiler.rules.pinning.building import is_wildcard

    return value.kind in ("word", "string") and is_wildcard(str(value.value))


def _in_kind(attribute: Attribute, value: tree.Value) -> tuple[str | None, bool]:
    """The value rewritten in the kind that is wanted, when that is obvious, and whether it can be put in unasked."""
    kind, raw = attribute.kind, value.value
    if kind in (STRING, WORD_OR_STRING) and value.kind == "word":
        return f'"{raw}"', True
    if kind == WORD and value.kind == "string" and _is_name(str(raw)):
        return (str(raw), True) if not attribute.words or raw in attribute.words else (None, False)
    if kind == INTEGER:
        return _as_integer(value)
    if kind == DECIMAL and value.kind == "string" and _is_number(str(raw)):
        return str(raw), True
    if kind == DECIMAL and value.kind == "quantity" and value.unit == "ms" and isinstance(raw, tree.Value):
        return raw.raw, True
    if kind == BOOLEAN and str(raw).lower() in ("true", "false", "yes", "no", "on", "off", "1", "0"):
        return ("true" if str(raw).lower() in ("true", "yes", "on", "1") else "false"), False
    if kind == LIST and value.kind == attribute.item:
        words = str(raw).split()
        if value.kind == "string" and len(words) > 1 and not set(str(raw)) & set("\"'\\$`"):
            return "[" + ", ".join(f'"{word}"' for word in words) + "]", False
        return f"[{value.raw}]", True
    if kind == WORD_OR_LIST and value.kind == attribute.item:
        return f"[{value.raw}]", True
    if kind == RANGE and value.kind == "integer":
        return f"{raw}..{raw}", False
    if kind == QUANTITY and value.kind in ("integer", "decimal"):
        return f"{value.raw} {_BASE_UNIT[attribute.dimension]}", False
    if kind == "pointer" and value.kind == "string" and str(raw).startswith("/") and " " not in str(raw):
        return str(raw), True
    return None, False


def _as_integer(value: tree.Value) -> tuple[str | None, bool]:
    raw: Any = value.value
    if value.kind == "decimal" and raw == raw and abs(raw) < 2**53 and raw == int(raw):
        return str(int(raw)), "e" not in value.raw.lower()
    if value.kind == "string" and raw.isascii() and raw.isdigit() and len(raw) < 19:
        return str(int(raw)), True
    return None, False


def _is_name(text: str) -> bool:
    plain = text.replace("_", "a").replace("-", "a")
    return text.isascii() and plain.isalnum() and text[0].isalpha()


def _is_number(text: str) -> bool:
    try:
        return text.isascii() and text == text.strip() and float(text) - float(text) == 0 and "_" not in text
    except ValueError:
        return False


def bad_number(attribute: Attribute, name: tree.Name, value: tree.Value) -> Diagnostic:
    """`type.mismatch`: a number, range or quantity that is no value of its kind."""
    if value.kind == "range":
        return _bad_range(name, value)
    if value.kind == "quantity" and value.unit not in UNITS[attribute.dimension]:
        units = tuple(UNITS[attribute.dimension])
        return refuse(
            "type.mismatch",
            value.span,
            f"`{name.text}` is a {attribute.dimension}, and `{value.unit}` is no unit of it",
            label=f"takes {listed(units)}",
            help=_unit_help(attribute, value, units),
        )
    if value.kind == "quantity" and attribute.dimension == "size":
        message = f"`{name.text}` is a whole number of bytes, and `{value.raw}` is not"
    elif attribute.kind == INTEGER or isinstance(value.value, int):
        message = f"`{name.text}` does not fit in 64 bits"
    else:
        message = f"`{name.text}` is not a finite number"
    return refuse("type.mismatch", value.span, message, label="out of the range of its kind")


def _unit_help(attribute: Attribute, value: tree.Value, units: tuple[str, ...]) -> str:
    fold = {unit.lower(): unit for unit in units}
    unit = fold.get(value.unit.lower())
    if unit and isinstance(value.value, tree.Value):
        return f"write `{value.value.raw} {unit}`"
    if attribute.dimension == "rate":
        return "a bandwidth is in GB/s, 10⁹ bytes in a second"
    return f"convert it to {listed(units)}"


def _bad_range(name: tree.Name, value: tree.Value) -> Diagnostic:
    low, high = value.value if isinstance(value.value, tuple) else (value, value)
    whole = low.kind == high.kind == "integer"
    if whole and low.value > high.value:
        return refuse(
            "type.mismatch",
            value.span,
            f"the range of `{name.text}` is empty: {low.raw} is more than {high.raw}",
            label="no number lies in it",
            help=f"write `{high.raw}..{low.raw}`",
            replace=f"{high.raw}..{low.raw}",
        )
    message = f"both ends of `{name.text}` are integers" if not whole else f"`{name.text}` does not fit in 64 bits"
    return refuse("type.mismatch", value.span, message, label="takes a range such as `1..3`")


def _in(spec: Block) -> str:
    if spec.title == "file":
        return "at the top of a file"
    return f"in {'an' if spec.title[0] in 'aeiou' else 'a'} `{spec.title}` block"


def unknown_word(attribute: Attribute, name: tree.Name, value: tree.Value) -> Diagnostic:
    """`name.unknown`: a word outside of the closed set."""
    word = str(value.value)
    meant = nearest(word, attribute.words)
    only = len(attribute.words) == 1
    return refuse(
        "name.unknown",
        value.span,
        f"`{word}` is no word of `{name.text}`",
        label=f"takes {'only ' if only else ''}{listed(attribute.words)}",
        help=f"did you mean `{meant}`?" if meant else "",
        replace=meant,
    )


def unknown_name(spec: Block, name: tree.Name, *, block: bool = False) -> tuple[Diagnostic, str | None]:
    """A name that does not belong in a block, and the known one that it was probably meant to be.

    The rule of the method that speaks of the name comes before `name.unknown`.
    """
    text = name.text
    known = (*spec.attributes, *spec.blocks)
    meant = nearest(text, known)
    rule = spec.stray.get(text) or spec.stray.get(text.lower())
    if rule is None and spec.stray.get("*") and not (meant and spec.stray["*"] == "input.slice"):
        rule = spec.stray["*"]
    if rule is not None:
        keep = meant if rule == "row.engine" else None
        return stray(rule, spec, name, keep), keep or _STANDS_FOR.get(text.lower())
    if spec.title == "expect":
        counter = _refused_counter(name)
        if counter is not None:
            return counter, None
    elsewhere = [other.title for other in BLOCKS.values() if text in other.attributes or text in other.blocks]
    noun = "block" if block else "attribute"
    place = _in(spec)
    hint = f"did you mean `{meant}`?" if meant else ""
    if not hint and elsewhere:
        there = tuple(dict.fromkeys(title for title in elsewhere if title != "file"))
        hint = f"`{text}` belongs in {listed(there)}" if there else f"`{text}` stands at the top of a file"
    elif not hint and known and len(known) <= 12:
        hint = f"it can hold {listed(known, last='and')}"
    return (
        refuse(
            "name.unknown",
            name.span,
            f"there is no {noun} `{text}` {place}",
            label="unknown here",
            help=hint,
            replace=meant,
        ),
        meant,
    )


def twice(name: tree.Name, first: Span) -> Diagnostic:
    """`syntax.duplicate`: at the second place, with a label at the first."""
    return refuse(
        "syntax.duplicate",
        name.span,
        f"`{name.text}` is given twice in one place",
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
        f"`{name.text}` belongs to {'a' if other[0] == 'd' else 'an'} {other} topology",
        label=f"not in {'an' if other[0] == 'd' else 'a'} {label.text} one",
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


def label_misfit(block: tree.Block, spec: Block) -> Diagnostic:
    """A block with the wrong label, without one that it needs, or with one too many."""
    keyword = block.keyword
    labels = block.labels
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
            f"the name of a `{keyword.text}` is a string in double quotes",
            label="not a string",
            help=f'write `"{word}"`',
            replace=f'"{word}"',
            applicable=True,
        )
    if isinstance(label, tree.Value):
        word = str(label.value)
        fits = _is_name(word) if word else False
        return refuse(
            "type.mismatch",
            label.span,
            f"the name of a `{keyword.text}` is a bare name of letters, digits, `_` and `-`",
            label=f"this is {_A.get(label.kind, 'a value')}",
            help=f"write `{word}`" if fits else "",
            replace=word if fits else None,
            applicable=fits,
        )
    return _unknown_kind(keyword, label, spec)


def _unknown_kind(keyword: tree.Name, label: tree.Name, spec: Block) -> Diagnostic:
    meant = nearest(label.text, spec.words)
    if keyword.text == "revision":
        return refuse(
            "pin.arms",
            label.span,
            f"`{label.text}` is no arm: a campaign compares one baseline with one candidate",
            label=f"takes {listed(spec.words)}",
            help=f"did you mean `{meant}`?" if meant else "",
            replace=meant,
        )
    return refuse(
        "name.unknown",
        label.span,
        f"there is no {keyword.text} `{label.text}`",
        label=f"takes {listed(spec.words)}",
        help=f"did you mean `{meant}`?" if meant else "",
        replace=meant,
    )


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
