"""The syntax tree of a `.campaign` file: what was written, in the order it was written, with a span on every node."""

from __future__ import annotations

from aisimc_compiler.hints import Literal
from aisimc_compiler.records import NamedTuple
from aisimc_compiler.source import Source, Span

ValueKind = Literal[
    "string", "integer", "decimal", "word", "boolean", "list", "range", "quantity", "pointer", "invalid"
]


class Name(NamedTuple):
    """An attribute name, a block keyword or a label."""

    text: str
    span: Span


class Value(NamedTuple):
    """A value as written.

    `value` holds: str for string (unescaped), word and pointer; int for integer; float for decimal; bool for
    boolean; tuple[Value, ...] for list; (Value, Value) for range; the number's Value for quantity, whose unit
    is in `unit`; None for invalid, a value that could not be read and that the parser has already complained of.
    `raw` is the text as written.
    """

    kind: ValueKind
    value: object
    raw: str
    span: Span
    unit: str = ""


class Attribute(NamedTuple):
    """`name = value`."""

    name: Name
    value: Value

    @property
    def span(self) -> Span:
        return self.name.span.to(self.value.span)


class Block(NamedTuple):
    """`keyword label… { body }`, or a statement without braces (`timing polynomial`, `import "x"`).

    Labels are names, or string values (`campaign "NAME"`, `import "path"`). A body holds attributes, blocks and,
    in `exclude`, bare pointers. `span` runs from the keyword to the closing brace or the last label.
    """

    keyword: Name
    labels: tuple[Name | Value, ...]
    body: tuple[Attribute | Block | Value, ...]
    braces: bool
    span: Span


class File(NamedTuple):
    """One parsed file. Blocks that could not be read are absent; the parser's diagnostics say so."""

    source: Source
    body: tuple[Attribute | Block | Value, ...]
