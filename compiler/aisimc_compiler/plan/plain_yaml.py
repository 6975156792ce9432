"""Reads the YAML that golden files are usually written in, without importing a YAML library.

Mappings by indentation, one-line `{…}` and `[…]`, plain and quoted scalars, comments. Anything else, and anything in
which YAML versions differ, is left to the library: the answer is then None.
"""

from __future__ import annotations

import re

from aisimc_compiler.hints import Any

_LINE = re.compile(r"( *)([A-Za-z0-9_][A-Za-z0-9_.-]*|\"[A-Za-z0-9_. -]+\"):(?: +(.*?))? *\Z")
_KEY = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_. -]*\Z")
_INTEGER = re.compile(r"-?(?:0|[1-9][0-9]{0,17})\Z")
_DECIMAL = re.compile(r"-?(?:0|[1-9][0-9]{0,17})\.[0-9]{1,20}\Z")
_PLAIN = re.compile(r"[A-Za-z0-9/](?:[A-Za-z0-9 ./_;(),'%+=@-]|:(?=[A-Za-z0-9/]))*\Z")
_PLAIN_IN_FLOW = re.compile(r"[A-Za-z0-9/][A-Za-z0-9 ./_;()'%+=@-]*\Z")
_QUOTED = re.compile(r'"[^"\\\x00-\x1f\x7f-\x9f\ufeff\u2028\u2029]*"\Z')
_OTHER_WORDS = frozenset({"yes", "no", "on", "off", "y", "n", "null", "true", "false"})
_FLOW = re.compile(r' *(?:([{}\[\],])|("[^"]*")|([^{}\[\],:"]+)|(:) )')


class _Unsure(Exception):
    """Something that is left to the library."""


def plain_yaml(data: bytes) -> dict[str, Any] | None:
    """The document as plain data, or None where it takes a YAML library to be sure of it."""
    try:
        text = data.decode("ascii")
        return _Reader(text).mapping(0) or None
    except (UnicodeDecodeError, _Unsure, RecursionError):
        return None


class _Reader:
    def __init__(self, text: str) -> None:
        if not text.replace("\n", "").isprintable():
            raise _Unsure  # tabs and other controls: YAML refuses most of them, and strip() takes some for spaces
        self.lines = [line for line in text.split("\n") if line.strip() and not line.lstrip().startswith("#")]
        self.at = 0

    def mapping(self, indent: int) -> dict[str, Any]:
        """The mapping whose keys stand at an indentation; it must end where the text or the indentation does."""
        found: dict[str, Any] = {}
        while self.at < len(self.lines):
            match = _LINE.match(self.lines[self.at])
            if match is None:
                raise _Unsure
            depth = len(match[1])
            if depth < indent and indent:
                break
            key = match[2].strip('"')
            if depth != indent or key in found:
                raise _Unsure
            self.at += 1
            found[key] = _value(match[3]) if match[3] else self._nested(indent)
        return found

    def _nested(self, indent: int) -> dict[str, Any]:
        match = _LINE.match(self.lines[self.at]) if self.at < len(self.lines) else None
        if match is None or len(match[1]) <= indent or indent > 60:
            raise _Unsure
        return self.mapping(len(match[1]))


def _value(text: str) -> Any:
    if text[0] in "{[":
        return _Flow(text).whole()
    return _scalar(text, _PLAIN)


def _scalar(text: str, plain: re.Pattern[str]) -> Any:
    if _INTEGER.match(text):
        return int(text)
    if _DECIMAL.match(text):
        return float(text)
    if text in ("true", "false"):
        return text == "true"
    if _QUOTED.match(text):
        return text[1:-1]
    if not plain.match(text) or text.lower() in _OTHER_WORDS or _like_a_number(text):
        raise _Unsure
    return text


def _like_a_number(text: str) -> bool:
    """Whether some version of YAML may take a text for a number or a time."""
    if text[0].isdigit() and not any(character.isspace() for character in text):
        # A version of three parts is text in every YAML; dates and whatever is as long as a hash are to `read_yaml`.
        # Times, hexadecimal numbers and exponents are not that certain.
        return not (
            re.fullmatch(r"\d+(?:\.\d+){2,}|\d{4}-\d\d-\d\d", text) or (len(text) in (40, 64) and text.isalnum())
        )
    return text.lower() in ("inf", "nan", "infinity")


class _Flow:
    """A one-line `{…}` or `[…]`."""

    def __init__(self, text: str) -> None:
        self.tokens: list[str] = []
        at = 0
        while at < len(text):
            match = _FLOW.match(text, at)
            if match is None:
                raise _Unsure
            self.tokens.append((match[1] or match[2] or match[3] or match[4]).strip())
            at = match.end()
        self.at = 0

    def whole(self) -> Any:
        """The value, which has to be all that there is."""
        value = self._value()
        if self.at != len(self.tokens):
            raise _Unsure
        return value

    def _take(self) -> str:
        if self.at >= len(self.tokens):
            raise _Unsure
        self.at += 1
        return self.tokens[self.at - 1]

    def _value(self) -> Any:
        token = self._take()
        if token == "{":
            return self._mapping()
        if token == "[":
            return self._sequence()
        if not token or token[0] in "}],:":
            raise _Unsure
        return _scalar(token, _PLAIN_IN_FLOW)

    def _mapping(self) -> dict[str, Any]:
        found: dict[str, Any] = {}
        while (key := self._take()) != "}":
            if found and (key != "," or (key := self._take()) == "}"):
                raise _Unsure
            if not _KEY.match(key) or key in found:
                raise _Unsure
            if self._take() != ":":
                raise _Unsure
            found[key] = self._value()
        return found

    def _sequence(self) -> list[Any]:
        found: list[Any] = []
        while self.at < len(self.tokens) and self.tokens[self.at] != "]":
            if found and self._take() != ",":
                raise _Unsure
            found.append(self._value())
        self._take()
        return found
