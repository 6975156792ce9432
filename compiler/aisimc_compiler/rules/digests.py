"""Digests and commit ids as written: whether they are whole, and what is wrong with them otherwise."""

from __future__ import annotations

from aisimc_compiler.diagnostics.model import Diagnostic
from aisimc_compiler.hints import Any
from aisimc_compiler.model.campaign import Given

_HEX = frozenset("0123456789abcdefABCDEF")


def is_hex(text: str, *lengths: int) -> bool:
    """Whether a text is hex digits and nothing else, of one of the lengths. Look-alike digits are none."""
    return len(text) in lengths and _HEX.issuperset(text)


def blank(text: str) -> bool:
    """Whether a text says nothing: white space and invisible characters only."""
    return (
        not text.strip("\ufeff\u200b\u200c\u200d\u2060\u00ad\u3164\u115f\u1160\u180e\u2800 \t\r\n\v\f\u00a0")
        or not text.strip()
    )


def sha256_fault(rule: str, given: Given[str] | None, noun: str) -> Diagnostic | None:
    """A refusal of a SHA-256 that is not 64 hex digits."""
    if given is None or is_hex(given.value, 64):
        return None
    from aisimc_compiler.rules.refusal import refuse_value

    text = given.value
    bare = text.strip().lower().removeprefix("sha256:").removeprefix("sha256-").removeprefix("sha256=")
    mended = bare if is_hex(bare, 64) else None
    return refuse_value(
        rule,
        given,
        f"the SHA-256 of {noun} is 64 hex digits, and this is {described(text)}",
        label="not a SHA-256",
        help=f'write `"{mended}"`' if mended else "`aisimc pin` computes it",
        replace=f'"{mended}"' if mended else None,
        applicable=mended is not None,
    )


def described(text: str) -> str:
    """What a text that should be hex digits is instead."""
    if blank(text):
        return "empty"
    odd = next((character for character in text if character not in _HEX), None)
    if odd is None:
        return f"{len(text)} of them"
    if odd.isascii():
        shown = "a space" if odd == " " else f"`{odd}`" if odd.isprintable() else f"U+{ord(odd):04X}"
        return f"no hex number: it holds {shown}"
    return f"no hex number: it holds the character U+{ord(odd):04X}{lookalike(odd)}"


def lookalike(character: str) -> str:
    """`, which only looks like …` for a character whose compatibility form is ASCII or that is drawn like it."""
    import unicodedata

    plain = unicodedata.normalize("NFKC", character)
    if not (plain.isascii() and plain.isprintable()):
        plain = _DRAWN_ALIKE.get(character, "")
    return f", which only looks like `{plain}`" if plain else ""


_DRAWN_ALIKE: dict[str, str] = dict(
    zip(
        "аеорсухіјѕԁһӏвкмнтАВЕКМНОРСТХІЈЅοαντρυκιΑΒΕΖΗΙΚΜΝΟΡΤΥΧ‐‑‒–—−∕⁄",
        "aeopcyxijsdhlbkmhtABEKMHOPCTXIJSoavtpukiABEZHIKMNOPTYX------//",
        strict=True,
    )
)


def odd_character(text: str) -> str:
    """A note on the first character of a name or pointer that is not ASCII, or ""."""
    odd = next((character for character in text if not character.isascii()), None)
    return f"it holds the character U+{ord(odd):04X}{lookalike(odd)}" if odd else ""


def blank_value(rule: str, given: Given[Any] | None, message: str, help_: str = "") -> Diagnostic | None:
    """A refusal of a string that says nothing."""
    if given is None or not blank(given.value):
        return None
    from aisimc_compiler.rules.refusal import refuse_value

    return refuse_value(rule, given, message, label="says nothing", help=help_)
