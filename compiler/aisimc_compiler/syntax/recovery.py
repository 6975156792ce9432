"""Reads a text that has mistakes: reports each, and goes on at the next attribute or block."""

from __future__ import annotations

from collections.abc import Iterator

from aisimc_compiler.diagnostics.model import Diagnostic
from aisimc_compiler.source import Source
from aisimc_compiler.syntax.braces import mend_braces, surplus
from aisimc_compiler.syntax.comments import drop_foreign_comments
from aisimc_compiler.syntax.driver import END, FAULT, Stacks, Token, drive
from aisimc_compiler.syntax.expectations import complain
from aisimc_compiler.syntax.faults import Enough, Report
from aisimc_compiler.syntax.headers import drop_equals, drop_lone_keywords
from aisimc_compiler.syntax.keywords import is_statement
from aisimc_compiler.syntax.literals import BadLiteral, scalar
from aisimc_compiler.syntax.mending import Lexed, Lexer
from aisimc_compiler.syntax.nesting import shallow
from aisimc_compiler.syntax.tables import Tables
from aisimc_compiler.syntax.tree import Attribute, File, Value

_MAX_TRIES = 8


def parse_faulty(source: Source, tables: Tables) -> tuple[File, list[Diagnostic]]:
    """The part of the tree that can be read, and every syntax error, in source order."""
    report = Report(source)
    file = File(source, ())
    try:
        lexer = Lexer(tables, report)
        lexed = lexer.run()
        tokens, deep = shallow(report, lexed.tokens, lexer.kinds)
        tokens = drop_foreign_comments(report, tokens, lexer.kinds)
        tokens = drop_equals(report, tokens, lexer.kinds)
        tokens = drop_lone_keywords(report, tokens, lexer.kinds)
        if not deep:
            tokens = mend_braces(report, tokens, lexer.kinds)
        file = Recovery(report, tables, lexed._replace(tokens=tokens), deep).run()
    except Enough:
        pass
    report.diagnostics.sort(key=lambda d: (d.span.start, d.span.end))
    return file, report.diagnostics


class Recovery:
    """Drives the automaton over faulty tokens. The stacks are shared with the driver."""

    def __init__(self, report: Report, tables: Tables, lexed: Lexed, quiet: bool) -> None:
        self.report = report
        self.tables = tables
        self.kinds = {name: number for number, name in enumerate(tables.terminals)}
        self.tokens = lexed.tokens
        self.text = lexed.text
        self.values_at = lexed.values
        self.cursor = 0
        self.stacks = Stacks([1], [])
        self.states, self.values = self.stacks
        self._injected: list[Token] = []
        self.quiet = quiet
        """Whether the text was cut off, so that its end is no error of its own."""
        self._item = tables.symbols.index("item")
        self._value = tables.symbols.index("value")
        self._tries = (-1, 0)
        self.surplus = surplus(self.tokens, self.kinds)
        """Closing braces without an opening one."""

    def run(self) -> File:
        """The tree of what can be read."""
        source = self.report.source
        return drive(source, self.text, self._stream(), self.tables, self.value_of, self._recover, self.stacks)

    # What the driver asks for.

    def value_of(self, token: Token) -> Value:
        """The value of a token, guessed by the lexer where the text does not have it."""
        known = self.values_at.get(token[1])
        if known is not None:
            return known
        kind = "string" if token[0] == FAULT else self.tables.terminals[token[0]].lower()
        try:
            return scalar(self.report.source, self.text, token, kind)
        except BadLiteral as bad:
            self.report.error(bad.start, bad.end, bad.message, label=bad.label, note=bad.note)
            return self.invalid(token[1], token[2])

    def _stream(self) -> Iterator[Token]:
        while True:
            if self._injected:
                yield self._injected.pop(0)
                continue
            token = self.tokens[self.cursor]
            self.cursor += 1
            if token[0] == FAULT:
                if not self.expects_value():
                    continue
                self.values_at[token[1]] = self.invalid(token[1], token[2])
                token = (self.kinds["STRING"], token[1], token[2])
            elif self._lacks_body(token):
                self._recover(token)
                continue
            yield token

    def _lacks_body(self, token: Token) -> bool:
        """Whether the two words before this token make a statement, of a keyword that needs a body or a value."""
        if token[0] == self.kinds["LBRACE"] or not self.after_label():
            return False
        return token[0] == self.kinds["EQUAL"] or not is_statement(self.text_of(self.values[-2]))

    def _recover(self, token: Token) -> None:
        index, count = self._tries
        self._tries = (self.cursor, count + 1 if index == self.cursor else 0)
        if self._tries[1] > _MAX_TRIES:
            self.skip(token)
        else:
            complain(self, token)

    # Stacks, as `expectations` uses them.

    def invalid(self, start: int, end: int) -> Value:
        """A value that could not be read."""
        return Value("invalid", None, self.text[start:end], self.report.span(start, end))

    def text_of(self, token: Token) -> str:
        """A token as written."""
        return self.text[token[1] : token[2]]

    def shown(self, token: Token) -> str:
        """A token in a message."""
        if token[0] == END:
            return "the end of the file"
        return f"`{self.short(token)}`" if token[1] < token[2] else "the end of the block"

    def short(self, token: Token) -> str:
        """A token's text, cut where it is endless."""
        text = self.text_of(token)
        return text if len(text) <= 40 else text[:39] + "…"

    def accepts(self, kind: str) -> bool:
        """Whether a terminal fits in the present state."""
        return self.tables.shift[self.states[-1]][self.kinds[kind]] != 0

    def expects_value(self) -> bool:
        """Whether a value stands next: after `=`, after `[` or in a list."""
        return self.accepts("LSQB") and self.tables.shift[self.states[-1]][self.kinds["LSQB"]] > 0

    def expects_item(self) -> bool:
        """Whether an attribute or a block stands next."""
        return self._item in self.tables.goto[self.states[-1]]

    def after_name(self) -> bool:
        """Whether the first word of an attribute or block was read, and nothing of it after that."""
        return self.tables.shift[self.states[-1]][self.kinds["EQUAL"]] > 0

    def after_label(self) -> bool:
        """Whether keyword and label of a block were read."""
        row = self.tables.shift[self.states[-1]]
        return row[self.kinds["LBRACE"]] > 0 and row[self.kinds["EQUAL"]] <= 0 and row[self.kinds["STRING"]] <= 0

    def opener(self) -> Token | None:
        """The innermost `{` or `[` that is open."""
        kinds = (self.kinds["LBRACE"], self.kinds["LSQB"])
        return next((v for v in reversed(self.values) if type(v) is tuple and v[0] in kinds), None)

    def enclosing(self) -> str:
        """The keyword of the block in which something is read, "" at the top of a file or in a list."""
        for index in range(len(self.values) - 1, 0, -1):
            value = self.values[index]
            if type(value) is tuple and value[0] in (self.kinds["LBRACE"], self.kinds["LSQB"]):
                before = self.values[index - 1]
                return self.text_of(before) if type(before) is tuple and value[0] == self.kinds["LBRACE"] else ""
        return ""

    def inject_body(self, at: int) -> None:
        """Let the body begin that a block lacks; it is empty, unless a brace closes it further on."""
        self.inject("LBRACE", at)
        if self.surplus > 0:
            self.surplus -= 1
        else:
            self.inject_token((self.kinds["RBRACE"], at, at))

    def again(self) -> None:
        """Let the offending token come once more."""
        self.cursor -= 1

    def inject(self, kind: str, at: int) -> None:
        """Let a token come that is not in the text, and after it the offending one again."""
        self._injected.append((self.kinds[kind], at, at))
        self.again()

    def push_value(self, value: Value) -> None:
        """Put a value where one is expected."""
        self.states.append(self.tables.goto[self.states[-1]][self._value])
        self.values.append(value)

    def pop(self) -> None:
        """Forget the last symbol."""
        self.states.pop()
        self.values.pop()

    def skip(self, token: Token) -> None:
        """Give up what is being read, and go on at the next attribute or block."""
        while not self.expects_item():
            if self.expects_value() and self.values[-1][0] == self.kinds["EQUAL"]:
                self.push_value(self.invalid(self.values[-1][1], token[1]))
                break
            self.pop()
        if token[0] != END:
            self._skip_tokens()
        elif len(self.states) > 2:
            self.inject("RBRACE", token[1])
        else:
            self.again()

    def _skip_tokens(self) -> None:
        depth, opening, closing = 0, self.kinds["LBRACE"], self.kinds["RBRACE"]
        index = self.cursor - 1
        while self.tokens[index][0] != END:
            kind = self.tokens[index][0]
            if depth == 0 and (kind == closing or (index >= self.cursor and self._starts_item(index))):
                break
            depth += (kind == opening) - (kind == closing)
            index += 1
        self.cursor = index

    def _starts_item(self, index: int) -> bool:
        kind = self.tokens[index][0]
        if kind == self.kinds["NAME"]:
            following = self.tokens[index + 1][0]
            if following in (self.kinds["EQUAL"], self.kinds["LBRACE"]):
                return True
            label = following in (self.kinds["NAME"], self.kinds["STRING"])
            return label and (self.tokens[index + 2][0] == self.kinds["LBRACE"] or self.first_on_line(index))
        return kind == self.kinds["POINTER"] and self.first_on_line(index)

    def first_on_line(self, index: int) -> bool:
        """Whether a token is the first on its line."""
        return index == 0 or "\n" in self.text[self.tokens[index - 1][2] : self.tokens[index][1]]

    def skip_braces(self) -> int:
        """Leave out a `{`, which has just been read, with all that it holds; returns where its `}` ends."""
        depth, index = 1, self.cursor
        while depth and self.tokens[index][0] != END:
            kind = self.tokens[index][0]
            depth += (kind == self.kinds["LBRACE"]) - (kind == self.kinds["RBRACE"])
            index += 1
        self.cursor = index
        return self.tokens[index - 1][2]

    def turn_into_block(self) -> None:
        """Read `[ … ]`, which has just begun, as the body of a block."""
        index = self.cursor - 1
        self.tokens[index] = (self.kinds["LBRACE"], *self.tokens[index][1:])
        while self.tokens[index][0] not in (self.kinds["RSQB"], self.kinds["RBRACE"], END):
            index += 1
        if self.tokens[index][0] == self.kinds["RSQB"]:
            self.tokens[index] = (self.kinds["RBRACE"], *self.tokens[index][1:])
        self.again()

    # What was read before.

    def inject_token(self, token: Token) -> None:
        """Let a token come again, after those injected before and before the offending one."""
        self._injected.append(token)

    def rewind(self, token: Token) -> None:
        """Let a token come that was read as something else, and after it the offending one."""
        self._injected.append(token)
        self.again()

    def previous_value(self) -> Token | None:
        """The value of the attribute that was read last in the present block, as a token; None where it is none."""
        attribute = self.last_attribute()
        if attribute is None or attribute.value.kind == "invalid":
            return None
        kind = attribute.value.kind.upper()
        span = attribute.value.span
        return (self.kinds.get("NAME" if kind in ("WORD", "BOOLEAN") else kind, FAULT), span.start, span.end)

    def last_attribute(self) -> Attribute | None:
        """The attribute that was read last in the present block."""
        for value in reversed(self.values):
            if type(value) is list:
                return value[-1] if value and isinstance(value[-1], Attribute) else None
            if value[0] in (self.kinds["LBRACE"], self.kinds["LSQB"]):
                return None
        return None

    def replace_last_attribute(self, value: Value) -> None:
        """Give the attribute that was read last another value."""
        for items in reversed(self.values):
            if type(items) is list:
                items[-1] = Attribute(items[-1].name, value)
                return
