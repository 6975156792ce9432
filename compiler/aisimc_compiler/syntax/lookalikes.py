"""Characters that look like those of the language and are others, as word processors and web pages bring them."""

from __future__ import annotations

import re
import unicodedata

_DOUBLE = "“”„‟«»″＂"
_SINGLE = "‘’‚‛‹›′＇"
DOUBLE_QUOTES = _DOUBLE + _SINGLE
_SPACES = (
    "\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000\u0085\u2028\u2029"
)
_INVISIBLE = "\ufeff\u200b\u200c\u200d\u2060\u00ad\u180e"
_DASHES = "‐‑‒–—―−﹣－"
# What neither NFKC nor a digit value gives: letters of other alphabets, as they look in most fonts.
_LETTERS = dict(
    zip(
        "абвгдекмнорстухієјѕһԁԛԝАВЕКМНОРСТХУІЅЈαβεικνορτυχΑΒΕΖΗΙΚΜΝΟΡΤΥΧıɡ、。",
        "a6brdekmhopctyxiejshdqwABEKMHOPCTXYISJaBeiKvopTuxABEZHIKMNOPTYXig,.",
        strict=True,
    )
)

_LINE = re.compile(
    rf'"(?:[^"\\\n]|\\.)*"?'  # a string stays as it is
    rf"|#.*"  # and so does a comment
    rf'|[{_DOUBLE}](?P<inside>[^{_DOUBLE}"\n]*)(?P<close>[{_DOUBLE}"]?)'
    rf'|[{_SINGLE}](?P<within>[^{_SINGLE}"\'\n]*)(?P<end>[{_SINGLE}"\']?)'
    rf"|(?P<word>[^\s\x00-\x7f\"#{DOUBLE_QUOTES}]|[A-Za-z0-9_.-]+(?=[^\x00-\x7f]))(?:[^\s\x00-\x2c\x3a-\x40\x5b-\x5e\x60\x7b-\x7f{DOUBLE_QUOTES}])*"
    rf"|(?P<space>[^\S \t\r\n]+)"
)


def plain(character: str) -> str:
    """The ASCII character that this one looks like, or an empty text."""
    if character < "\x80":
        return character
    if character in _SPACES:
        return " "
    if character in _INVISIBLE:
        return "_"
    if character in DOUBLE_QUOTES:
        return '"'
    if character in _DASHES:
        return "-"
    if character in _LETTERS:
        return _LETTERS[character]
    digit = unicodedata.digit(character, None)
    if digit is not None:
        return str(digit)
    folded = unicodedata.normalize("NFKC", character)
    return folded if len(folded) == 1 and folded < "\x80" else ""


def name(character: str) -> str:
    """`U+00A0 no-break space`."""
    return f"U+{ord(character):04X} {unicodedata.name(character, 'unnamed character').lower()}"


def invisible(character: str) -> bool:
    """Whether a reader sees nothing, or a blank, where this character stands."""
    return character in _SPACES or character in _INVISIBLE


class Mend:
    """One stretch of a line in which look-alikes stand: offsets into the line, and the text they look like."""

    __slots__ = ("end", "original", "plain", "start")

    def __init__(self, start: int, original: str, plain: str) -> None:
        self.start = start
        self.end = start + len(original)
        self.original = original
        self.plain = plain

    def culprits(self) -> list[str]:
        """The characters that differ, each once."""
        return list(dict.fromkeys(a for a, b in zip(self.original, self.plain, strict=True) if a != b))


def mend_line(line: str) -> tuple[str, list[Mend]]:
    """A line with its look-alikes replaced one by one (so that columns stay), and what was replaced.

    Strings and comments are left alone; between typographic quotes only the quotes are replaced.
    """
    mends: list[Mend] = []
    pieces: list[str] = []
    done = 0
    for match in _LINE.finditer(line):
        for start, original, text in _candidates(match):
            if text != original and len(text) == len(original):
                pieces += [line[done:start], text]
                done = start + len(original)
                mends.append(Mend(start, original, text))
    pieces.append(line[done:])
    return "".join(pieces), mends


def _candidates(match: re.Match[str]) -> list[tuple[int, str, str]]:
    for inside, close in (("inside", "close"), ("within", "end")):
        if match[inside] is not None:
            closed = '"' if match[close] else ""
            return [(match.start(), match[0], f'"{match[inside]}{closed}')]
    if match["space"]:
        return [(match.start(), match[0], " " * len(match[0]))]
    if match["word"]:
        original = match[0]
        text = [plain(character) or character for character in original]
        # An invisible character at the edge of a word separates; within one it does not.
        for edge in (range(len(text)), reversed(range(len(text)))):
            for at in edge:
                if not invisible(original[at]):
                    break
                text[at] = " "
        return [(match.start(), original, "".join(text))]
    return []
