"""The LALR(1) automaton: runs the tables over tokens and builds the tree.

A token is a plain tuple (terminal number, start, end). On the stack of values stand tokens, finished nodes, and
lists of nodes where the grammar repeats something.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from sys import intern

from aisimc_compiler.hints import Any
from aisimc_compiler.records import NamedTuple
from aisimc_compiler.source import Source, Span
from aisimc_compiler.syntax.keywords import is_statement
from aisimc_compiler.syntax.tables import Tables
from aisimc_compiler.syntax.tree import Attribute, Block, File, Name, Value

Token = tuple[int, int, int]
Recover = Callable[[Token], None]
ToValue = Callable[[Token], Value]

# As in generate.py, which cannot be imported here: it imports Lark.
FIRST, MORE, FILE, ATTRIBUTE, BLOCK, STATEMENT, LIST, SAME = range(8)

END, FAULT = 0, -1
"""Terminal numbers of the end of the text, and of a place where no token stands."""

MAX_STACK = 128
"""States on the stack: blocks and lists nest no deeper, so that whoever walks the tree may recurse."""


class Faulty(Exception):
    """The text has a mistake: whoever catches this reads it again with `recovery`, which can say which."""


def split(text: str, tables: Tables) -> Iterator[Token]:
    """The tokens of a text without mistakes, END being the last. Raises Faulty at a place where no token stands."""
    at = 0
    for match in tables.match.finditer(text):
        kind = match.lastindex
        if match.start() != at or kind is None:
            break
        start, at = match.span(kind)
        yield kind, start, at
    rest = skip_blanks(text, at)
    if rest != len(text):
        raise Faulty
    yield END, rest, rest


def skip_blanks(text: str, at: int) -> int:
    """Where the blanks and comments end that start at this offset."""
    size = len(text)
    while at < size:
        if text[at] in " \t\r\n":
            at += 1
        elif text[at] == "#":
            end = text.find("\n", at)
            at = size if end == -1 else end
        else:
            break
    return at


class Stacks(NamedTuple):
    """What the automaton remembers; recovery works on it while the driver runs."""

    states: list[int]
    values: list[Any]


def drive(
    source: Source,
    text: str,
    tokens: Iterable[Token],
    tables: Tables,
    value_of: ToValue,
    recover: Recover,
    stacks: Stacks,
) -> File:
    """Run the automaton over tokens of which the last is END; `text` is the source's, perhaps with mended characters.

    `value_of` makes a value of a token. `recover` is called with a token that fits nowhere: it mends the stacks so
    that the next token can go on. Raises Faulty where blocks are nested too deeply or have no body.
    """
    shift, goto, rules = tables.shift, tables.goto, tables.rules
    new = tuple.__new__
    states, values = stacks
    for token in tokens:
        while True:
            action = shift[states[-1]][token[0]]
            if action > 0:
                states.append(action)
                values.append(token)
                break
            if action == 0:
                recover(token)
                break
            symbol, length, build, element = rules[-1 - action]
            # The first three are nearly all of the work, hence written out here.
            if build == ATTRIBUTE:
                value = values.pop()
                if type(value) is tuple:
                    value = value_of(value)
                values.pop()
                _, start, end = values[-1]
                name = new(Name, (intern(text[start:end]), new(Span, (source, start, end))))
                values[-1] = new(Attribute, (name, value))
            elif build <= MORE:
                node = values[element - length]
                if type(node) is tuple:
                    node = value_of(node)
                if build == MORE:
                    values[-length].append(node)
                    del values[len(values) - length + 1 :]
                else:
                    values[-length:] = [[node]]
            elif build == FILE:
                return File(source, tuple(values[0]) if values else ())
            else:
                if len(states) > MAX_STACK:
                    raise Faulty
                parts = values[-length:]
                values[-length:] = [_node(source, text, build, parts, value_of)]
            del states[-length:]
            states.append(goto[states[-1]][symbol])
    raise AssertionError("the last token is the end of the text")


def _node(source: Source, text: str, build: int, parts: list[Any], value_of: ToValue) -> Any:
    """A block, statement or list from its tokens and nodes; lists come in `parts` as Python lists."""
    if build == SAME:
        return parts[0]
    first, last = parts[0], parts[-1]
    span = Span(source, first[1], last[2])
    if build == LIST:
        return Value("list", tuple(_elements(parts, value_of)), text[span.start : span.end], span)
    keyword = Name(intern(text[first[1] : first[2]]), Span(source, first[1], first[2]))
    if build == STATEMENT and not is_statement(keyword.text):
        raise Faulty
    has_label = build == STATEMENT or len(parts) == 5 or (len(parts) == 4 and type(parts[2]) is tuple)
    labels = (_label(source, text, parts[1], value_of),) if has_label else ()
    body = parts[-2] if build == BLOCK and type(parts[-2]) is list else ()
    return Block(keyword, labels, tuple(body), build == BLOCK, span)


def _elements(parts: list[Any], value_of: ToValue) -> Iterator[Value]:
    """`[`, first, then perhaps a list of the others, perhaps a comma, `]`."""
    for part in parts[1:-1]:
        if type(part) is list:
            yield from part
        elif type(part) is not tuple:
            yield part
        elif part is parts[1]:
            yield value_of(part)


def _label(source: Source, text: str, token: Token, value_of: ToValue) -> Name | Value:
    """A label: a name, or a string value."""
    _, start, end = token
    if text[start] == '"':
        return value_of(token)
    return Name(intern(text[start:end]), Span(source, start, end))
