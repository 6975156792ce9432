"""What may be typed at a place: attributes, blocks, closed words, and the names that the campaign has."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from aisimc_compiler.editor.names import Occurrence, kind_of_value
from aisimc_compiler.editor.place import Place, attribute_at, block_at, place_at
from aisimc_compiler.model import closed
from aisimc_compiler.model.vocabulary import BLOCKS, BOOLEAN, LIST, OPTIONAL, STRING, UNITS, Attribute, Block
from aisimc_compiler.records import NamedTuple


class Proposal(NamedTuple):
    """One completion: what is inserted (with `$1`, `$0` for the cursor) in place of the word from `start`."""

    label: str
    kind: str  # attribute, block, word, name
    insert: str
    detail: str
    required: bool
    start: int


def complete(text: str, offset: int, names: Iterable[Occurrence]) -> list[Proposal]:
    """The proposals at an offset, required ones first; none where nothing of the language is known to fit."""
    place = place_at(text, offset)
    if place is None or place.block is None:
        return []
    if place.kind == "item":
        found = list(_items(place, place.block))
    elif place.kind == "label":
        found = list(_labels(place))
    else:
        found = list(_values(place, names))
    return sorted(found, key=lambda p: (not p.required, p.kind != "attribute", p.label))


def _items(place: Place, block: Block) -> Iterator[Proposal]:
    for name, attribute in block.attributes.items():
        if name not in place.taken:
            required = attribute.presence == "required"
            insert = f"{name} = {_value_snippet(attribute)}"
            yield Proposal(name, "attribute", insert, attribute.doc, required, place.start)
    for keyword, key in block.blocks.items():
        inner = BLOCKS[key]
        if inner.repeated or keyword not in place.taken:
            yield Proposal(keyword, "block", _block_snippet(keyword, inner), inner.doc, False, place.start)
    if place.path and place.path[-1][0] == "exclude":
        for pointer in closed.EXCLUSIONS:
            yield Proposal(pointer, "word", pointer, "on the closed list", True, place.start)


def _value_snippet(attribute: Attribute) -> str:
    if attribute.kind == STRING:
        return '"$1"$0'
    return "[$1]$0" if attribute.kind == LIST else "$0"


def _block_snippet(keyword: str, block: Block) -> str:
    if keyword == "import":
        return 'import "$1"$0'
    label = {"": "", "string": ' "$1"'}.get(block.label, " $1")
    return f"{keyword}{label} {{\n  $0\n}}"


def _labels(place: Place) -> Iterator[Proposal]:
    if place.name in ("row", "unsupported"):
        for identity in closed.MATRIX:
            yield Proposal(identity, "name", identity, "a row of the engine-only matrix", False, place.start)
    block = block_at((*place.path, (place.name, "")))
    for word in block.words if block is not None else ():
        of_word = block_at((*place.path, (place.name, word)))
        doc = of_word.doc if of_word is not None and of_word is not block else ""
        yield Proposal(word, "word", word, doc, False, place.start)


def _values(place: Place, names: Iterable[Occurrence]) -> Iterator[Proposal]:
    attribute = attribute_at(place.path, place.name)
    kind = kind_of_value(place.path[-1][0], place.name) if place.path else None
    if kind is not None:
        for name in dict.fromkeys(one.name for one in names if one.defines and one.kind == kind):
            yield Proposal(name, "name", name, f"{kind} of this campaign", False, place.start)
    if attribute is None:
        return
    words = (*attribute.words, "true", "false") if attribute.kind == BOOLEAN else attribute.words
    for word in words:
        detail = "the default" if attribute.presence == OPTIONAL and _is_default(attribute, word) else ""
        yield Proposal(word, "word", word, detail, False, place.start)
    for unit in UNITS.get(attribute.dimension, ()):
        yield Proposal(f"… {unit}", "word", f"$1 {unit}$0", "a number and its unit", False, place.start)


def _is_default(attribute: Attribute, word: str) -> bool:
    return word == (str(attribute.default).lower() if isinstance(attribute.default, bool) else attribute.default)
