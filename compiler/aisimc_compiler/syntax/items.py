"""What stands where an attribute or a block should begin, and is neither."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from aisimc_compiler.syntax.driver import END, Token, skip_blanks
from aisimc_compiler.syntax.keywords import BLOCKS

if TYPE_CHECKING:
    from aisimc_compiler.syntax.recovery import Recovery

_GROUPED = re.compile(r"[1-9]\d{0,2}(?:(?P<by>[, ])\d{3})(?:(?P=by)\d{3})*(?![\w.])")


def no_item(r: Recovery, token: Token) -> None:
    """Something that begins neither an attribute nor a block."""
    kinds, error = r.kinds, r.report.error
    kind, start, end = token
    following = r.tokens[r.cursor][0] if kind != END else END
    if kind == END:
        opened = r.opener()
        if opened is not None and opened[1] < opened[2]:
            error(
                opened[1],
                opened[2],
                "this block is not closed",
                label="its `}` is missing",
                secondary=((start, start, "the file ends here"),),
            )
        r.skip(token)
    elif kind == kinds["RBRACE"]:
        error(
            start,
            end,
            "this `}` closes nothing",
            help="remove it, or look for a block above that was closed too early",
            fix=(start, end, ""),
            applicable=False,
        )
    elif kind == kinds["COMMA"] and _digits_in_groups(r, end):
        pass
    elif kind == kinds["COMMA"]:
        where = "between blocks" if r.opener() is None else "here"
        error(start, end, f"no comma stands {where}", fix=(start, end, ""))
    elif r.enclosing() == "exclude" and kind in (kinds["STRING"], kinds["INTEGER"], kinds["DECIMAL"]):
        not_a_pointer(r, token, "a string" if kind == kinds["STRING"] else "a number")
    elif kind == kinds["STRING"] and following in (kinds["EQUAL"], kinds["LBRACE"]):
        inside = r.text[start + 1 : end - 1]
        error(start, end, "a name stands without quotes", fix=(start, end, inside) if inside.isidentifier() else None)
        r.tokens[r.cursor - 1] = (kinds["NAME"], start + 1, max(end - 1, start + 1))
        r.again()
    elif kind == kinds["EQUAL"]:
        _stray_equal(r, token)
    elif kind == kinds["LSQB"] and r.first_on_line(r.cursor - 1):
        error(start, end, "there are no `[…]` headers", help="a block is `name { … }`")
        r.skip(token)
    elif kind == kinds["LBRACE"] and _took_the_next_name(r, "block"):
        pass
    elif kind == kinds["LBRACE"]:
        error(start, end, "a block has a keyword before its `{`", help="a block is `name { … }`")
        r.skip(token)
    else:
        _loose_value(r, token)


def not_a_pointer(r: Recovery, token: Token, noun: str) -> None:
    """`type.mismatch`: a quoted pointer, or the last segment of one, where `exclude` holds pointers."""
    start, end = token[1], token[2]
    inside = r.text_of(token).strip('"')
    if noun == "a word" and "/" in inside:
        inside = f"/{inside}"
    pointer = inside if inside.startswith("/") and not set(inside) & set(' ,"\\#[]{}~') else None
    r.report.error(
        start,
        end,
        f"`exclude` holds pointers, not {noun}",
        rule="type.mismatch",
        label=f"this is {noun}",
        help=f"write `{pointer}`"
        if pointer
        else "a pointer is the whole path of a field, such as `/summary/duration_ms`",
        fix=(start, end, pointer) if pointer else None,
    )


def _stray_equal(r: Recovery, token: Token) -> None:
    """`= 5` without a name; most often because the attribute before has no value and took this one's name for it."""
    if _took_the_next_name(r, "attribute"):
        return
    last = r.last_attribute()
    if last is not None and last.value.kind == "word" and "\n" not in r.text[last.value.span.end : token[1]]:
        r.report.error(token[1], token[2], f"`{last.name.text}` has its value already", label="one `=` too many")
        r.skip(token)
        return
    r.report.error(
        token[1],
        token[2],
        "this `=` has no name before it",
        label="expected an attribute or a block",
        help="an attribute is `name = value`",
    )
    r.skip(token)


def _took_the_next_name(r: Recovery, noun: str) -> bool:
    """`rows =`, and on the next line `start = 0` or `slice {`: report the lack, and read what follows for itself."""
    last = r.last_attribute()
    if last is None or last.value.kind != "word":
        return False
    span = last.value.span
    if "\n" not in r.text[last.name.span.end : span.start] or span.end != r.tokens[r.cursor - 2][2]:
        return False
    equal = skip_blanks(r.text, last.name.span.end)
    r.report.error(
        equal,
        equal + 1,
        f"`{last.name.text}` has no value",
        label=f"expected a value after this, found the next {noun}",
        help=value_help(last.name.text),
    )
    r.replace_last_attribute(r.invalid(equal, equal + 1))
    r.rewind((r.kinds["NAME"], span.start, span.end))
    return True


def _digits_in_groups(r: Recovery, end: int) -> bool:
    """`1,000` and `12 031`: report it at its first comma or second number, and go on behind it."""
    last = r.last_attribute()
    grouped = None if last is None else _GROUPED.match(r.text, last.value.span.start)
    if grouped is None or grouped.end() < end:
        return False
    digits = grouped[0].replace(grouped["by"], "_")
    message = f"digits are grouped with `_`, not with {'commas' if grouped['by'] == ',' else 'blanks'}"
    r.report.error(grouped.start(), grouped.end(), message, help=f"write `{digits}`", fix=(*grouped.span(), digits))
    r.replace_last_attribute(r.invalid(*grouped.span()))
    while r.tokens[r.cursor][1] < grouped.end():
        r.cursor += 1
    return True


def _loose_value(r: Recovery, token: Token) -> None:
    kind, start, end = token
    last = r.last_attribute()
    if _digits_in_groups(r, end):
        return
    same_line = last is not None and "\n" not in r.text[last.span.end : start]
    if last is not None and same_line and last.value.kind == "invalid":
        return
    if last is not None and same_line and r.report.reported_between(last.span.end, start):
        # `1 - 3`: the sign was refused already, and what stands before it is no value of its own.
        r.replace_last_attribute(r.invalid(last.value.span.start, last.value.span.end))
        return
    if last is not None and same_line:
        label, advice = f"`{last.name.text}` has its value already", "several values stand in a list: `[a, b]`"
    else:
        label, advice = "expected an attribute or a block", "an attribute is `name = value`"
    r.report.error(start, end, f"{r.shown(token)} does not fit here", label=label, help=advice)
    if r.values_at.get(start) is not None or kind in (r.kinds["LSQB"], r.kinds["RSQB"]):
        r.skip(token)


def value_help(name: str) -> str:
    if name in BLOCKS:
        return f"a block is `{name} {{ … }}`"
    return "values are strings, numbers, words, lists, ranges and pointers"
