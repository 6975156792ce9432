"""One block of the tree read against the vocabulary: attributes to values of their kind, blocks by keyword.

What is wrong with a single token is reported here (unknown names, wrong kinds, duplicates); what is absent is the
caller's to judge, because a family or a default may still give it.
"""

from __future__ import annotations

from aisimc_compiler.diagnostics.model import Diagnostic
from aisimc_compiler.hints import Any
from aisimc_compiler.model.campaign import Given, Interval, Values
from aisimc_compiler.model.resolve.context import Context
from aisimc_compiler.model.vocabulary import (
    BOOLEAN,
    DECIMAL,
    INTEGER,
    LIST,
    QUANTITY,
    RANGE,
    REQUIRED,
    STRING,
    UNITS,
    WORD,
    WORD_OR_LIST,
    WORD_OR_STRING,
    Attribute,
    Block,
)
from aisimc_compiler.source import Span
from aisimc_compiler.syntax import tree

_INT64 = 2**63
TREE_KINDS: dict[str, tuple[str, ...]] = {
    STRING: ("string",),
    WORD: ("word",),
    INTEGER: ("integer",),
    DECIMAL: ("decimal", "integer"),
    BOOLEAN: ("boolean",),
    LIST: ("list",),
    RANGE: ("range",),
    QUANTITY: ("quantity",),
    WORD_OR_STRING: ("word", "string"),
    WORD_OR_LIST: ("word", "list"),
    "pointer": ("pointer",),
}


class Reading:
    """A block as read.

    `touched` names what stands in it, well or not, with its place, so that nothing of it counts as missing.
    """

    __slots__ = ("_single", "blocks", "given", "name", "spec", "strangers", "touched", "tree")

    def __init__(self, block: tree.Block, spec: Block, name: Span) -> None:
        self.tree = block
        self.spec = spec
        self.name = name
        """The block's name: its label, else its keyword."""
        self.given: Values = {}
        self.blocks: dict[str, list[tree.Block]] = {}
        self.touched: dict[str, Span] = {}
        self.strangers: list[tuple[tree.Attribute | tree.Block, Diagnostic]] = []
        """Unknown names that are no slip of a known one, and what is said of them."""
        self._single: frozenset[str] | None = None

    def astray(self) -> list[str]:
        """The unknown names that stand here."""
        return [item.name.text if isinstance(item, tree.Attribute) else item.keyword.text for item, _ in self.strangers]

    def single(self) -> frozenset[str]:
        """The known names that stand in the block, well or not, and may stand there once."""
        if self._single is None:
            from aisimc_compiler.model.vocabulary import BLOCKS

            blocks = self.spec.blocks
            once = {*self.spec.attributes, *(name for name, key in blocks.items() if not BLOCKS[key].repeated)}
            self._single = frozenset(once.intersection(_names(self.tree)))
        return self._single

    def one(self, keyword: str) -> tree.Block | None:
        """The single block of that keyword, if it stands here."""
        found = self.blocks.get(keyword)
        return found[0] if found else None


def _names(block: tree.Block) -> list[str]:
    return [
        item.name.text if isinstance(item, tree.Attribute) else item.keyword.text
        for item in block.body
        if not isinstance(item, tree.Value)
    ]


def read(context: Context, block: tree.Block, spec: Block) -> Reading:
    """Reads a block's body. Every duplicate, unknown name and wrong kind in it is reported."""
    reading = Reading(block, spec, block.labels[0].span if block.labels else block.keyword.span)
    attributes = spec.attributes
    given = reading.given
    touched = reading.touched
    for item in block.body:
        if isinstance(item, tree.Attribute):
            name, value = item
            text = name.text
            attribute = attributes.get(text)
            if attribute is None or text in touched:
                from aisimc_compiler.model.resolve import strange

                strange.odd_attribute(context, reading, item)
                continue
            touched[text] = name.span
            result = convert(context, attribute, name, value)
            if result is not None:
                given[text] = result
        elif isinstance(item, tree.Block):
            _read_block(context, reading, item)
        else:
            from aisimc_compiler.model.resolve import strange

            strange.bare(context, reading, item)
    if reading.strangers:
        from aisimc_compiler.model.resolve.standins import settle

        settle(context, reading)
    return reading


def _read_block(context: Context, reading: Reading, item: tree.Block) -> None:
    text = item.keyword.text
    key = reading.spec.blocks.get(text)
    if key is None:
        from aisimc_compiler.model.resolve import strange

        strange.odd_block(context, reading, item)
        return
    from aisimc_compiler.model.vocabulary import BLOCKS

    if text in reading.touched and not BLOCKS[key].repeated:
        from aisimc_compiler.model.resolve import strange

        strange.second(context, reading, item, BLOCKS[key])
        return
    reading.touched.setdefault(text, item.keyword.span)
    if label_fits(context, item, BLOCKS[key]):
        reading.blocks.setdefault(text, []).append(item)


def label_fits(context: Context, block: tree.Block, spec: Block) -> bool:
    """Whether a block has the label that it takes; reports it when it has not."""
    labels = block.labels
    if spec.label == "":
        fits = not labels
    elif len(labels) != 1:
        fits = False
    elif spec.label == "string":
        fits = isinstance(labels[0], tree.Value) and labels[0].kind == "string"
    else:
        fits = isinstance(labels[0], tree.Name) and (spec.label == "name" or labels[0].text in spec.words)
    if not fits:
        from aisimc_compiler.model.resolve.labels import label_misfit

        context.report(label_misfit(block, spec))
    return fits


def convert(context: Context, attribute: Attribute, name: tree.Name, value: tree.Value) -> Given[Any] | None:
    """The value in its attribute's kind, or None when that was reported."""
    kind = value.kind
    if kind not in TREE_KINDS[attribute.kind]:
        if kind != "invalid":
            from aisimc_compiler.model.resolve.kinds import wrong_kind

            context.report(wrong_kind(attribute, name, value))
        return None
    if kind == "word":
        if attribute.words and value.value not in attribute.words and not attribute.ruled:
            from aisimc_compiler.model.resolve.mismatch import unknown_word

            context.report(unknown_word(attribute, name, value))
            return None
        return Given(value.value, value.span, name.span)
    if kind == "list":
        return _items(context, attribute, name, value)
    if kind in ("string", "boolean", "pointer"):
        return Given(value.value, value.span, name.span)
    number = _number(attribute, value)
    if number is None:
        from aisimc_compiler.model.resolve.kinds import bad_number

        context.report(bad_number(attribute, name, value))
        return None
    return Given(number, value.span, name.span)


def _items(context: Context, attribute: Attribute, name: tree.Name, value: tree.Value) -> Given[Any] | None:
    items = value.value
    assert isinstance(items, tuple)
    words = attribute.words if attribute.kind == LIST else ()
    one = Attribute(attribute.item, "", words=words, ruled=attribute.ruled)
    found = []
    whole = True
    for item in items:
        given = convert(context, one, name, item)
        if given is None:
            whole = False
        else:
            found.append(given)
    return Given(tuple(found), value.span, name.span) if whole else None


def _number(attribute: Attribute, value: tree.Value) -> Any:
    """The number, range or quantity in base units; None when it does not fit its kind."""
    kind = value.kind
    raw = value.value
    if kind == "integer" or kind == "decimal":
        return _plain_number(attribute.kind, raw)
    if kind == "range":
        assert isinstance(raw, tuple)
        low, high = raw
        if low.kind != "integer" or high.kind != "integer" or not -_INT64 <= low.value <= high.value < _INT64:
            return None
        return Interval(low.value, high.value)
    assert isinstance(raw, tree.Value)
    factor = UNITS[attribute.dimension].get(value.unit)
    if factor is None:
        return None
    number: Any = raw.value
    scaled = number * factor
    if attribute.dimension == "size":
        return int(scaled) if -_INT64 <= scaled < _INT64 and scaled == int(scaled) else None
    return _plain_number(DECIMAL, scaled)


def _plain_number(kind: str, raw: Any) -> Any:
    if kind == INTEGER:
        return raw if -_INT64 <= raw < _INT64 else None
    if isinstance(raw, int):
        return float(raw) if -_INT64 <= raw < _INT64 else None
    return raw if raw - raw == 0 else None


def require(context: Context, reading: Reading, *, also: frozenset[str] = frozenset()) -> None:
    """Reports what a block must say and does not: `name.missing`, once for the block, at its name."""
    touched = reading.touched
    spec = reading.spec
    missing = [
        text
        for text, attribute in spec.attributes.items()
        if attribute.presence == REQUIRED and text not in touched and text not in also
    ]
    if missing and not context.torn(reading.tree.span):
        from aisimc_compiler.model.resolve.absence import missing_attributes

        context.report(missing_attributes(reading.tree, reading.name, missing))


def fill(reading: Reading) -> None:
    """Puts the defaults in, standing at the block's name."""
    given = reading.given
    for text, attribute in reading.spec.attributes.items():
        if attribute.default is not None and text not in given and text not in reading.touched:
            given[text] = Given(attribute.default, reading.name, reading.name, "default")
