"""The lexer for texts with mistakes: says what is wrong with a place that is no token, and guesses the token meant.

Guesses keep offsets: look-alike characters are replaced one by one, and where a guess has another length its value
is kept aside (`Lexed.values`) under the token's start.
"""

from __future__ import annotations

import re

from aisimc_compiler.records import NamedTuple
from aisimc_compiler.syntax import lookalikes
from aisimc_compiler.syntax.driver import END, FAULT, Token
from aisimc_compiler.syntax.driver import skip_blanks as skip
from aisimc_compiler.syntax.faults import Report
from aisimc_compiler.syntax.numbers import number_fault
from aisimc_compiler.syntax.strings import single_quoted, string_fault
from aisimc_compiler.syntax.symbols import symbols_fault
from aisimc_compiler.syntax.tables import Tables
from aisimc_compiler.syntax.tree import Value

_WORD = re.compile(r"[\w+.-]+")
_IN_TEXT = ":<>~!@?&^"
_TEXT = re.compile(r"[^\s,{}\[\]\"#]*")
_LONE_TILDE = re.compile(r"~(?![01])")
_STRETCH = 4_096  # look-alikes are mended line by line, in pieces where a line is endless
_LONE_CR = re.compile(r"\r(?!\n)")
_BIDI = re.compile("[\u202a-\u202e\u2066-\u2069\u200e\u200f\u061c]")


class Lexed(NamedTuple):
    """The tokens of a text, the text with look-alikes replaced (same length), and values known better than the text."""

    tokens: list[Token]
    text: str
    values: dict[int, Value]


class Lexer:
    """One pass over one text."""

    def __init__(self, tables: Tables, report: Report) -> None:
        self.report = report
        self.tokens: list[Token] = []
        self.values: dict[int, Value] = {}
        self.kinds = {name: number for number, name in enumerate(tables.terminals)}
        self._textual = (self.kinds["NAME"], self.kinds["EQUAL"], self.kinds["POINTER"])
        self._pattern = tables.match
        self.text = report.source.text
        self.base = 0  # offset of self.text in the source: a mended line is read on its own
        self._line = (0, -1)  # the line asked for last

    def run(self) -> Lexed:
        """Read the whole text. Raises Enough."""
        self._hidden_characters()
        whole = self.text
        pieces: list[str] = []
        copied = at = 0
        while at < len(whole):
            at = self._clean(at)
            if at >= len(whole):
                break
            stretch = min(self.line_end(at), at + _STRETCH)
            mended, mends = self._mend(at, stretch)
            if mends:
                pieces += [whole[copied:at], mended]
                copied = stretch
                self._read_apart(mended, at)
                at = stretch
            else:
                at = self._fault(at)
        pieces.append(whole[copied:])
        self.tokens.append((END, len(whole), len(whole)))
        return Lexed(self.tokens, "".join(pieces), self.values)

    def _read_apart(self, line: str, base: int) -> None:
        """Read a mended line, which has no look-alikes left, as a text of its own."""
        whole, self.text, self.base, self._line = self.text, line, base, (0, -1)
        at = 0
        while at < len(line):
            at = self._clean(at)
            if at < len(line):
                at = self._fault(at)
        self.text, self.base, self._line = whole, 0, (0, -1)

    def _clean(self, at: int) -> int:
        """Take tokens from `at` on, up to a place where there is none."""
        base, append, text = self.base, self.tokens.append, self.text
        # Not finditer: it would look for the next token through all that is none.
        take = self._pattern.match
        while (match := take(text, at)) is not None:
            kind = match.lastindex or 0
            start, at = match.span(kind)
            append((kind, base + start, base + at))
        return skip(text, at)

    def _mend(self, start: int, end: int) -> tuple[str, list[lookalikes.Mend]]:
        line = self.text[start:end]
        if line.isascii():
            return line, []
        head = _WORD.match(line)
        first = line[0] if head is None else head[0]
        if first.isascii() and (head is None or not line[head.end() : head.end() + 1] > "\x7f"):
            return line, []  # the fault at `start` is another one; its line is looked at again when it is passed
        mended, mends = lookalikes.mend_line(line)
        for mend in mends:
            self._look_alike(start, mend)
        return mended, mends

    def _look_alike(self, base: int, mend: lookalikes.Mend) -> None:
        culprits = mend.culprits()
        start = base + mend.start + next(i for i, c in enumerate(mend.original) if c == culprits[0])
        first, shown = culprits[0], ", ".join(lookalikes.name(c) for c in culprits[:3])
        clean = "".join(b for a, b in zip(mend.original, mend.plain, strict=True) if not (a == first and b == "_"))
        fix = (base + mend.start, base + mend.end, clean if not clean.isspace() else " ")
        if first == "\ufeff" and start == 0:
            message, advice = "the file begins with a byte order mark", "save it as UTF-8 without one"
            fix = (0, 1, "")
        elif lookalikes.invisible(first) and clean.strip() and " " not in clean:
            message, advice = "this is an invisible character, and not a space", "remove it"
        elif lookalikes.invisible(first):
            message, advice = "this blank is not a space", "put an ordinary space"
        elif first in lookalikes.DOUBLE_QUOTES:
            message, advice = f"`{first}` does not quote a string", 'strings stand between straight quotes: "…"'
        else:
            message = f"`{first}` looks like `{lookalikes.plain(first)}` and is another character"
            advice = f"write `{clean}` with plain ASCII characters"
        self.report.error(start, start + 1, message, label=shown, help=advice, fix=fix)

    def _hidden_characters(self) -> None:
        """Characters that make a text look other than it is read, also inside strings and comments."""
        text = self.text
        if "\r" in text:
            for match in _LONE_CR.finditer(text):
                message = "a carriage return stands alone"
                note = "editors show a new line here, and the compiler reads none"
                at = match.start()
                self.report.error(
                    at, at + 1, message, note=note, help="end the line with a line feed", fix=(at, at + 1, "\n")
                )
        if not text.isascii():
            for match in _BIDI.finditer(text):
                message = f"{lookalikes.name(match[0])} changes the order in which the line is shown"
                note = "what is reviewed would not be what is compiled"
                self.report.error(match.start(), match.end(), message, note=note, fix=(match.start(), match.end(), ""))

    # Faults: each takes the place (offset into self.text) and returns the place to go on from.

    def _fault(self, at: int) -> int:
        character = self.text[at]
        if character == '"':
            return string_fault(self, at)
        if character == "'":
            return single_quoted(self, at)
        if character == "/":
            return self._pointer(at)
        if unquoted := self._unquoted(at):
            return unquoted
        word = _WORD.match(self.text, at)
        if word and (word[0][0] in "+-." or word[0][0].isdigit()):
            return number_fault(self, at, word[0])
        if word and word[0].isascii() and word[0][0] != "_":
            self.add("NAME", at, word.end())  # what follows it is the fault, and comes next
            return word.end()
        if word:
            return self._foreign_word(at, word[0])
        return symbols_fault(self, at)

    def _unquoted(self, at: int) -> int:
        """`wheel = aisimulate==0.12.0`, `file = https://…`: text that begins like a name; where it ends, or 0."""
        kinds, start = self.kinds, self.base + at
        if self.text[at] not in _IN_TEXT and not self.text[at].isdigit():
            return 0
        index = len(self.tokens)
        while index and self.tokens[index - 1][2] == start and self.tokens[index - 1][0] in self._textual:
            index -= 1
            start = self.tokens[index][1]
        if index in (0, len(self.tokens)) or self.tokens[index][0] != kinds["NAME"]:
            return 0
        if self.tokens[index - 1][0] != kinds["EQUAL"]:
            return 0
        del self.tokens[index:]
        end = _TEXT.match(self.text, at)
        stop = end.end() if end else at + 1
        begin = start - self.base
        self.error(begin, stop, "text stands in quotes", help="put it in quotes", fix=f'"{self.text[begin:stop]}"')
        self.invalid(begin, stop)
        return stop

    def add(self, kind: str, start: int, end: int, value: Value | None = None) -> None:
        """Put a token for `[start, end)` of the text being read, with its value where the text does not give it."""
        number = self.kinds[kind] if kind else FAULT
        self.tokens.append((number, self.base + start, self.base + end))
        if value is not None:
            self.values[self.base + start] = value

    def invalid(self, start: int, end: int) -> None:
        """Put a value that could not be read."""
        span = self.report.span(self.base + start, self.base + end)
        self.add("STRING", start, end, Value("invalid", None, self.text[start:end], span))

    def error(self, start: int, end: int, message: str, *, fix: str | None = None, **more: str) -> None:
        """Report a fault at `[start, end)` of the text being read; `fix` replaces just that."""
        a, b = self.base + start, self.base + end
        self.report.error(a, b, message, fix=None if fix is None else (a, b, fix), **more)  # type: ignore[arg-type]

    def line_end(self, at: int) -> int:
        """The end of the line in which `at` stands, without its line end."""
        return self._line_around(at)[1]

    def line_start(self, at: int) -> int:
        """The start of the line in which `at` stands."""
        return self._line_around(at)[0]

    def _line_around(self, at: int) -> tuple[int, int]:
        if not self._line[0] <= at <= self._line[1]:
            end = self.text.find("\n", at)
            end = len(self.text) if end == -1 else end - (self.text[end - 1] == "\r")
            self._line = (self.text.rfind("\n", 0, at) + 1, max(end, at))
        return self._line

    def _pointer(self, at: int) -> int:
        end = at
        while end < len(self.text) and self.text[end] not in ' \t\r\n,[]{}#"' and self.text[end] >= " ":
            end += 1
        lone = _LONE_TILDE.search(self.text, at)
        tilde = end if lone is None else lone.start()
        self.error(
            tilde,
            tilde + 1,
            "`~` stands alone in a pointer",
            note="RFC 6901 writes `~` as `~0` and `/` as `~1`",
            help="write `~0`",
        )
        span = self.report.span(self.base + at, self.base + end)
        self.add("POINTER", at, end, Value("invalid", None, self.text[at:end], span))
        return end

    def _foreign_word(self, at: int, word: str) -> int:
        where = next((i for i, c in enumerate(word) if c > "\x7f"), 0)
        end = at + len(word)
        self.error(
            at + where,
            at + where + 1,
            f"a name does not begin with `{word[where]}`"
            if word[0] == "_" and where == 0
            else f"`{word[where]}` cannot stand in a name",
            label="" if word[where] == "_" else lookalikes.name(word[where]),
            help="names have letters a–z, digits, `_` and `-`, and start with a letter; text stands in quotes",
        )
        if word.isascii():  # `_name`
            self.add("NAME", at, end)
        else:
            self.add("NAME", at, end, Value("invalid", None, word, self.report.span(self.base + at, self.base + end)))
        return end
