"""How characters look in a terminal: their width, and what stands in for those that cannot be shown."""

from __future__ import annotations

_TAB = 4


def shown(character: str, column: int) -> str:
    """What to print for a character at a display column: tabs become blanks, what is unprintable becomes visible."""
    if character == "\t":
        return " " * (_TAB - column % _TAB)
    if " " <= character <= "~":
        return character
    if character < " ":
        return chr(0x2400 + ord(character))
    if character == "\x7f":
        return "\u2421"
    if not character.isprintable() or _is_format(character):
        return " " if character.isspace() and character == "\u3000" else f"<U+{ord(character):04X}>"
    return character


def width(text: str) -> int:
    """Columns that a text without tabs takes."""
    if text.isascii():
        return len(text)
    return sum(_character_width(character) for character in text)


def _character_width(character: str) -> int:
    if character <= "~":
        return 1
    import unicodedata

    if unicodedata.combining(character) or unicodedata.category(character) in ("Mn", "Me"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def _is_format(character: str) -> bool:
    import unicodedata

    return unicodedata.category(character) in ("Cf", "Cs", "Co", "Cn", "Cc", "Zl", "Zp")


def expand(text: str) -> tuple[str, list[int]]:
    """A line as it is printed, and for each of its characters (and its end) the display column."""
    if text.isascii() and text.isprintable():
        return text, list(range(len(text) + 1))
    pieces: list[str] = []
    columns: list[int] = []
    column = 0
    for character in text:
        columns.append(column)
        piece = shown(character, column)
        pieces.append(piece)
        column += width(piece)
    columns.append(column)
    return "".join(pieces), columns


def one_line(text: str) -> str:
    """A message on one line, with nothing in it that a terminal would act on."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(shown(character, 0) if character not in "\n\t" else " " for character in text)
