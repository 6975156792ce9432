"""Where in a campaign an offset stands: in which blocks, and before what. Works on texts that are being typed."""

from __future__ import annotations

from aisimc_compiler.model.vocabulary import BLOCKS, Attribute, Block
from aisimc_compiler.records import NamedTuple
from aisimc_compiler.source import Source
from aisimc_compiler.syntax.driver import Token
from aisimc_compiler.syntax.faults import Enough, Report
from aisimc_compiler.syntax.mending import Lexer
from aisimc_compiler.syntax.tables import load


class Place(NamedTuple):
    """A place in a text.

    `path` names the blocks around it, outermost first, as (keyword, label). `kind` says what may stand there: `item`
    (an attribute or a block), `value` (of `name`), or `label` (of the block `name`). `start` is where the word that
    is being typed begins, `taken` what its block holds already.
    """

    path: tuple[tuple[str, str], ...]
    kind: str
    name: str
    start: int
    taken: frozenset[str]

    @property
    def block(self) -> Block | None:
        """The vocabulary of the innermost block, or of the file."""
        return block_at(self.path)


def block_at(path: tuple[tuple[str, str], ...]) -> Block | None:
    """What the vocabulary says of the block that a path leads to; None where it knows no such block."""
    block = BLOCKS["file"]
    for keyword, label in path:
        key = block.blocks.get(keyword)
        if key is None:
            return None
        block = BLOCKS.get(f"{key} {label}") or BLOCKS[key]
    return block


def attribute_at(path: tuple[tuple[str, str], ...], name: str) -> Attribute | None:
    """What the vocabulary says of an attribute."""
    block = block_at(path)
    return None if block is None else block.attributes.get(name)


def tokens_of(text: str) -> tuple[list[Token], dict[str, int]]:
    """The tokens of a text, mended where it has faults, and the terminals' numbers."""
    tables = load()
    lexer = Lexer(tables, Report(Source("", text)))
    try:
        tokens = lexer.run().tokens
    except Enough:
        tokens = lexer.tokens
    return tokens, lexer.kinds


def place_at(text: str, offset: int) -> Place | None:
    """The place at an offset; None within strings, comments and where nothing of the language fits."""
    line_start = text.rfind("\n", 0, offset) + 1
    if _in_string_or_comment(text[line_start:offset]):
        return None
    tokens, kinds = tokens_of(text)
    before = [token for token in tokens if token[2] <= offset and token[0] > 0]
    start = offset
    if before and before[-1][2] == offset and before[-1][0] == kinds["NAME"]:
        start = before[-1][1]
        before.pop()
    return _Walk(text, kinds).place(before, start)


def _in_string_or_comment(head: str) -> bool:
    quoted = False
    at = 0
    while at < len(head):
        character = head[at]
        if character == "\\" and quoted:
            at += 1
        elif character == '"':
            quoted = not quoted
        elif character == "#" and not quoted:
            return True
        at += 1
    return quoted


class _Walk:
    """Follows the tokens before a place, block by block."""

    def __init__(self, text: str, kinds: dict[str, int]) -> None:
        self.text = text
        self.kinds = kinds
        self.path: list[tuple[str, str]] = []
        self.taken: list[set[str]] = [set()]

    def place(self, tokens: list[Token], start: int) -> Place:
        """Where one is behind these tokens."""
        kinds, tail = self.kinds, list[Token]()
        for index, token in enumerate(tokens):
            if token[0] == kinds["LBRACE"]:
                self._open(tail)
                tail = []
            elif token[0] == kinds["RBRACE"]:
                if self.path:
                    self.path.pop()
                    self.taken.pop()
                tail = []
            else:
                tail.append(token)
                self._remember(tokens, index)
        return self._at_tail(tail, start)

    def word(self, token: Token) -> str:
        return self.text[token[1] : token[2]]

    def _open(self, tail: list[Token]) -> None:
        words = [self.word(token).strip('"') for token in tail[-2:]]
        name = self.kinds["NAME"]
        labelled = len(words) == 2 and tail[-2][0] == name and self._takes_label(words[0])
        keyword, label = words if labelled else (words[-1] if words else "", "")
        self.taken[-1].add(keyword)
        self.path.append((keyword, label))
        self.taken.append(set())

    def _takes_label(self, keyword: str) -> bool:
        block = block_at((*self.path, (keyword, "")))
        return block is not None and bool(block.label)

    def _remember(self, tokens: list[Token], index: int) -> None:
        if tokens[index][0] == self.kinds["EQUAL"] and index:
            self.taken[-1].add(self.word(tokens[index - 1]))

    def _at_tail(self, tail: list[Token], start: int) -> Place:
        kinds, path, taken = self.kinds, tuple(self.path), frozenset(self.taken[-1])
        if tail and tail[-1][0] == kinds["EQUAL"] and len(tail) > 1:
            return Place(path, "value", self.word(tail[-2]), start, taken)
        opened = max((i for i, token in enumerate(tail) if token[0] == kinds["LSQB"]), default=-1)
        closed = max((i for i, token in enumerate(tail) if token[0] == kinds["RSQB"]), default=-1)
        if opened > max(closed, 1):
            return Place(path, "value", self.word(tail[opened - 2]), start, taken)
        named = tail and tail[-1][0] == kinds["NAME"] and (len(tail) < 2 or tail[-2][0] != kinds["EQUAL"])
        if named and self._takes_label(self.word(tail[-1])):
            return Place(path, "label", self.word(tail[-1]), start, taken)
        return Place(path, "item", "", start, taken)
