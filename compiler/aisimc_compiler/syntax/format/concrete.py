"""The concrete tree that the formatter works on: items with the comments and the line breaks around them.

Built from a text that parses; its tokens are those of the parser.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from aisimc_compiler.syntax.driver import END, Token, split
from aisimc_compiler.syntax.tables import Tables


@dataclass(slots=True)
class Comment:
    """A comment on lines of its own; `blank` says that an empty line stands before it."""

    text: str
    blank: bool


@dataclass(slots=True)
class Trailing:
    """A comment behind something, and the column (from 0) where it stood."""

    text: str
    column: int


@dataclass(slots=True)
class Element:
    """One value of a list, with its comments."""

    value: str | Values
    above: list[Comment] = field(default_factory=list)
    trailing: Trailing | None = None


@dataclass(slots=True)
class Values:
    """A list; `flat` when it was written on one line, without comments."""

    elements: list[Element]
    flat: bool
    below: list[Comment] = field(default_factory=list)


@dataclass(slots=True)
class Item:
    """An attribute (`head` is its name), a block, a statement or a pointer (`head` is all of it)."""

    kind: str  # attribute, block, statement, pointer
    head: str
    breaks: bool  # whether it was the first on its line
    blank: bool = False  # whether an empty line stood before it and its comments
    above: list[Comment] = field(default_factory=list)
    value: str | Values = ""
    body: Body | None = None
    comma: bool = False
    trailing: Trailing | None = None


@dataclass(slots=True)
class Body:
    """What stands between braces, or in the file; `flat` when it was written on one line, without comments."""

    items: list[Item] = field(default_factory=list)
    flat: bool = False
    opening: Trailing | None = None  # a comment behind the opening brace
    below: list[Comment] = field(default_factory=list)  # comments after the last item


@dataclass(slots=True)
class _Gap:
    """What stands between two tokens."""

    trailing: Trailing | None
    comments: list[Comment]
    breaks: bool
    blank: bool  # an empty line before the token itself


class Reader:
    """Reads the tokens of a whole text into a concrete tree."""

    def __init__(self, text: str, tables: Tables) -> None:
        self._text = text
        self._names = tables.terminals
        self._tokens: list[Token] = list(split(text, tables))
        self._at = 0
        self._loose: list[Comment] = []  # comments in odd places of an item: they move above it

    def file(self) -> Body:
        """The whole file."""
        body = Body()
        self._items(body, "$END")
        return body

    # Tokens and the gaps before them.

    def _kind(self) -> str:
        return self._names[self._tokens[self._at][0]]

    def _take(self) -> str:
        _, start, end = self._tokens[self._at]
        self._at += 1
        return self._text[start:end]

    def _gap(self) -> _Gap:
        """Comments and line breaks before the next token."""
        start = self._tokens[self._at - 1][2] if self._at else 0
        text = self._text[start : self._tokens[self._at][1]]
        trailing: Trailing | None = None
        comments: list[Comment] = []
        blank = False
        for number, line in enumerate(text.split("\n")):
            stripped = line.strip(" \t\r")
            if stripped.startswith("#"):
                if number == 0 and self._at:
                    line_start = self._text.rfind("\n", 0, start) + 1
                    blanks = len(line) - len(line.lstrip(" \t\r"))
                    # A single blank is no column that somebody chose.
                    column = start - line_start + blanks if blanks > 1 else 0
                    trailing = Trailing(stripped, column)
                else:
                    comments.append(Comment(stripped, blank))
                    blank = False
            elif number and number < text.count("\n"):
                blank = True
        return _Gap(trailing, comments, "\n" in text or not self._at, blank)

    def _odd(self) -> None:
        """Move comments before the next token, which stands within an item, above that item."""
        gap = self._gap()
        if gap.trailing is not None:
            self._loose.append(Comment(gap.trailing.text, False))
        self._loose += gap.comments

    # Items.

    def _items(self, body: Body, closing: str) -> None:
        """Read items up to the closing token, which is not taken."""
        while True:
            gap = self._gap()
            if gap.trailing is not None:
                last = body.items[-1] if body.items else None
                if last is None:
                    body.opening = gap.trailing
                elif last.trailing is None:
                    last.trailing = gap.trailing
                else:  # one before a comma, and one behind it
                    gap.comments.insert(0, Comment(gap.trailing.text, False))
            if self._kind() == closing:
                body.below = gap.comments
                return
            if self._kind() == "COMMA":
                self._comma(body, gap)
                continue
            blank = gap.comments[0].blank if gap.comments else gap.blank
            item = self._item(gap.breaks)
            item.blank = blank
            apart = [Comment("", False)] if gap.comments and gap.blank else []
            item.above = [*gap.comments, *apart, *item.above]
            body.items.append(item)

    def _comma(self, body: Body, gap: _Gap) -> None:
        self._take()
        body.items[-1].comma = True
        if gap.comments:  # a comment before a comma: it belongs to what is before
            body.items[-1].above += gap.comments

    def _item(self, breaks: bool) -> Item:
        self._loose = []
        if self._kind() == "POINTER":
            return Item("pointer", self._take(), breaks)
        head = self._take()
        self._odd()
        if self._kind() == "EQUAL":
            self._take()
            self._odd()
            item = Item("attribute", head, breaks, value=self._value())
        else:
            item = self._block(head, breaks)
        item.above += self._loose
        self._loose = []
        return item

    def _block(self, head: str, breaks: bool) -> Item:
        if self._kind() != "LBRACE":
            head = f"{head} {self._take()}"
            if self._kind() != "LBRACE":
                return Item("statement", head, breaks)
            self._odd()
        loose, self._loose = self._loose, []
        first = self._at
        self._take()
        body = Body()
        self._items(body, "RBRACE")
        body.flat = not self._breaks_between(first)
        self._take()
        self._loose = loose
        return Item("block", head, breaks, body=body)

    def _breaks_between(self, first: int) -> bool:
        """Whether a line ends between a token that was taken and the next one."""
        return "\n" in self._text[self._tokens[first][2] : self._tokens[self._at][1]]

    # Values.

    def _value(self) -> str | Values:
        kind = self._kind()
        if kind == "LSQB":
            return self._list()
        text = self._take()
        if kind == "QUANTITY":
            digits = max(place for place, character in enumerate(text) if character.isdigit()) + 1
            return f"{text[:digits]} {text[digits:].lstrip()}"
        if kind == "RANGE":
            low, _, high = text.partition("..")
            return f"{low.rstrip()}..{high.lstrip()}"
        return text

    def _list(self) -> Values:
        first = self._at
        self._take()
        values = Values([], False)
        above: list[Comment] = []
        while True:
            gap = self._gap()
            if gap.trailing is not None:
                if values.elements and values.elements[-1].trailing is None:
                    values.elements[-1].trailing = gap.trailing
                else:
                    above.append(Comment(gap.trailing.text, False))
            above += gap.comments
            kind = self._kind()
            if kind == "RSQB":
                values.below = above
                values.flat = not self._breaks_between(first)
                self._take()
                return values
            if kind == "COMMA":
                self._take()
                continue
            values.elements.append(Element(self._value(), above))
            above = []


def read(text: str, tables: Tables) -> Body:
    """The concrete tree of a text. Raises Faulty for one that does not lex; it has to parse."""
    return Reader(text, tables).file()


__all__ = ["END", "Body", "Comment", "Element", "Item", "Trailing", "Values", "read"]
