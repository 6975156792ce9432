"""What an attribute and a block of the language are: kinds, units, presence."""

from __future__ import annotations

STRING = "string"
WORD = "word"
INTEGER = "integer"
DECIMAL = "decimal"
BOOLEAN = "boolean"
LIST = "list"
RANGE = "range"
QUANTITY = "quantity"
WORD_OR_STRING = "word or string"
WORD_OR_LIST = "word or list"

TIME = "time"
SIZE = "size"
RATE = "rate"

UNITS: dict[str, dict[str, int | float]] = {
    TIME: {"ms": 1, "s": 1000},
    SIZE: {"B": 1, "KiB": 1024, "MiB": 1024 * 1024},
    RATE: {"GB/s": 1},
}
"""Dimension → unit → factor to the base unit (ms, bytes, 10⁹ bytes per second)."""

REQUIRED = "required"
OPTIONAL = "optional"
RULED = "ruled"
"""Its absence is judged by a rule of its own, because there are alternatives (`wheel` or `repository`)."""


class Attribute:
    """What one attribute takes."""

    __slots__ = ("default", "dimension", "doc", "item", "kind", "presence", "ruled", "words")

    def __init__(
        self,
        kind: str,
        doc: str,
        presence: str = REQUIRED,
        *,
        words: tuple[str, ...] = (),
        item: str = "",
        dimension: str = "",
        default: object = None,
        ruled: bool = False,
    ) -> None:
        self.kind = kind
        self.doc = doc
        self.presence = presence
        self.words = words
        """The closed words, for the kinds with words; empty where a rule or a name table decides."""
        self.item = item
        """The kind of a list's items."""
        self.dimension = dimension
        self.default = default
        self.ruled = ruled
        """A word outside of `words` is judged by a rule of its own, which says more than that it is unknown."""


class Block:
    """What one block holds. `label` is "", "name", "string" or, for closed ones, "word" with `words`."""

    __slots__ = ("attributes", "blocks", "doc", "label", "presence", "repeated", "stray", "title", "words")

    def __init__(
        self,
        title: str,
        doc: str,
        attributes: dict[str, Attribute] | None = None,
        blocks: dict[str, str] | None = None,
        *,
        label: str = "",
        words: tuple[str, ...] = (),
        presence: str = OPTIONAL,
        repeated: bool = False,
        stray: dict[str, str] | None = None,
    ) -> None:
        self.title = title
        self.doc = doc
        self.attributes = attributes or {}
        self.blocks = blocks or {}
        """Keyword → key into `BLOCKS`; `topology` and `timing` have one key for each of their words."""
        self.label = label
        self.words = words
        self.presence = presence
        self.repeated = repeated
        self.stray = stray or {}
        """Names that do not belong here and that a rule of the method speaks of → that rule.

        `*` stands for every name that is not a slip of a known one."""


DIGEST = "SHA-256, 64 hex digits"
