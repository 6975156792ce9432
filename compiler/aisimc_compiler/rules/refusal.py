"""Building a refusal: a diagnostic of a rule, with the rule's reason as its note and the labels a value brings along.

Nothing here is imported by a check that finds nothing wrong.
"""

from __future__ import annotations

from collections.abc import Sequence

from aisimc_compiler.diagnostics.model import Diagnostic, Label, Replacement
from aisimc_compiler.hints import Any
from aisimc_compiler.model.campaign import Given
from aisimc_compiler.source import Span


def refuse(
    rule: str,
    span: Span,
    message: str,
    *,
    label: str = "",
    help: str = "",
    replace: str | None = None,
    applicable: bool = False,
    secondary: tuple[Label, ...] = (),
    notes: tuple[str, ...] = (),
) -> Diagnostic:
    """A diagnostic of `rule` at `span`. `replace` is the text that mends it in place of the span.

    The rule's reason closes the notes.
    """
    from aisimc_compiler.rules.registry import RULES

    replacement = None if replace is None else Replacement(span, replace, applicable)
    return Diagnostic(rule, span, message, label, (*notes, RULES[rule].reason), help, replacement, secondary)


def refuse_value(rule: str, given: Given[Any], message: str, **more: Any) -> Diagnostic:
    """A refusal at a value; where it came from a family, the row that takes it over is labelled."""
    return refuse(rule, given.span, message, **_with_taker(given, more))


def refuse_name(rule: str, given: Given[Any], message: str, **more: Any) -> Diagnostic:
    """A refusal at an attribute's name; where it came from a family, the row that takes it over is labelled."""
    return refuse(rule, given.name, message, **_with_taker(given, more))


def _with_taker(given: Given[Any], more: dict[str, Any]) -> dict[str, Any]:
    if given.taker is not None:
        source, start, end = given.taker
        label = Label(given.taker, f"`{source.text[start:end]}` takes it over from the family")
        more["secondary"] = (*more.get("secondary", ()), label)
    return more


def listed(words: Sequence[str], *, last: str = "or") -> str:
    """`a`, `b` or `c`."""
    quoted = [f"`{word}`" for word in words]
    if len(quoted) < 2:
        return "".join(quoted)
    return f"{', '.join(quoted[:-1])} {last} {quoted[-1]}"


def plural(count: int, noun: str, more: str = "") -> str:
    """`1 row`, `2 rows`; figures from a thousand on are grouped."""
    return f"{count:,} {noun if count == 1 else more or noun + 's'}"


def article(noun: str) -> str:
    """`a` or `an`, as the noun's first letter wants it."""
    return "an" if noun[0] in "aeiou" else "a"


def did_you_mean(meant: str | None, otherwise: str = "") -> str:
    """The help that offers the nearest name; `otherwise` where there is none."""
    return f"did you mean `{meant}`?" if meant else otherwise
