"""What was expected where a token does not fit, in the writer's terms, and how to go on after it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from aisimc_compiler.syntax.driver import END, Token, skip_blanks
from aisimc_compiler.syntax.keywords import BLOCKS, STATEMENTS

if TYPE_CHECKING:
    from aisimc_compiler.syntax.recovery import Recovery

_GROUPED = re.compile(r"[1-9]\d{0,2}(?:,\d{3})+(?!\w)")
_UNITS = "units are `ms`, `s`, `B`, `KiB`, `MiB` and `GB/s`"


def complain(r: Recovery, token: Token) -> None:
    """Report a token that does not fit, and mend the stacks or the position so that the driver can go on."""
    if r.quiet and token[0] == END:
        r.skip(token)
    elif r.after_label():
        _after_label(r, token)
    elif r.after_name():
        _after_name(r, token)
    elif r.expects_value() and r.values[-1][0] == r.kinds["EQUAL"]:
        _no_value(r, token)
    elif r.expects_item():
        _no_item(r, token)
    else:
        _in_list(r, token)


def shown(r: Recovery, token: Token) -> str:
    """A token in a message."""
    if token[0] == END:
        return "the end of the file"
    return f"`{short(r, token)}`" if token[1] < token[2] else "the end of the block"


def short(r: Recovery, token: Token) -> str:
    """A token's text, cut where it is endless."""
    text = r.text_of(token)
    return text if len(text) <= 40 else text[:39] + "…"


def _after_label(r: Recovery, token: Token) -> None:
    """`row x` without a brace, `purpose "text"` without an equals sign, `row a b {`, `a b = 5`."""
    keyword, label = r.values[-2], r.values[-1]
    name = short(r, keyword)
    error = r.report.error
    same_line = "\n" not in r.text[label[2] : token[1]]
    if token[0] == r.kinds["EQUAL"]:
        # `engine vllm = …`, or an attribute without a value whose name stands before this one.
        error(
            keyword[1],
            keyword[2],
            f"`{name}` stands alone",
            label="expected `=` and a value, or `{` after it",
            help=_alone_help(r, keyword),
        )
        r.values[-2] = label
        r.pop()
        r.again()
        return
    if name in BLOCKS:
        if (
            same_line
            and token[0] in (r.kinds["NAME"], r.kinds["STRING"])
            and r.tokens[r.cursor][0] == r.kinds["LBRACE"]
        ):
            joined = f"{r.text_of(label)}-{r.text_of(token)}" if token[0] == r.kinds["NAME"] else ""
            error(
                token[1],
                token[2],
                f"`{name}` has one name",
                label="a second one",
                help=f"write `{name} {joined}`" if joined else "",
                applicable=False,
                fix=(label[1], token[2], joined) if joined else None,
            )
            return
        if name not in STATEMENTS:
            error(
                label[1],
                label[2],
                f"`{name} {short(r, label)}` has no body",
                label="expected `{` after this",
                help=f"write `{name} {short(r, label)} {{ … }}`",
                fix=(label[2], label[2], " {"),
                applicable=False,
            )
            r.inject("LBRACE", label[2])
            return
        r.skip(token)
        return
    if _unquoted_text(r, keyword, label):
        return
    _missing_equal(r, keyword, label)
    # The label is the value: hand it over once more, after an equals sign.
    r.pop()
    r.inject("EQUAL", keyword[2])
    r.inject_token(label)


def _unquoted_text(r: Recovery, keyword: Token, label: Token) -> bool:
    """`purpose = some words here`: the words after the first stand where an attribute would."""
    before = r.previous_value(keyword)
    if before is None or r.values_at.get(label[1]) is not None:
        return False
    start = before[1]
    if "\n" in r.text[start : label[2]]:
        return False
    end = label[2]
    index = r.cursor - 1
    while r.tokens[index][0] == r.kinds["NAME"] and "\n" not in r.text[end : r.tokens[index][1]]:
        if r.tokens[index + 1][0] in (r.kinds["EQUAL"], r.kinds["LBRACE"]):
            break
        end = r.tokens[index][2]
        index += 1
    r.report.error(
        start,
        end,
        "text of several words stands in quotes",
        help="put it in quotes",
        fix=(start, end, f'"{r.text[start:end]}"'),
        applicable=False,
    )
    r.pop()
    r.pop()
    r.cursor = index
    return True


def _missing_equal(r: Recovery, name: Token, value: Token) -> None:
    r.report.error(
        value[1],
        value[2],
        f"there is no `=` between `{short(r, name)}` and its value",
        label="expected `=` before this",
        help=f"write `{short(r, name)} = {short(r, value)}`",
        fix=(name[2], name[2], " ="),
    )


def _alone_help(r: Recovery, name: Token) -> str:
    text = short(r, name)
    before = r.previous_value(name)
    numbers = (r.kinds["INTEGER"], r.kinds["DECIMAL"])
    if before is not None and before[0] in numbers and "\n" not in r.text[before[2] : name[1]] and text not in BLOCKS:
        return f"if it is meant as a unit: {_UNITS}"
    return f"a block is `{text} {{ … }}`" if text in BLOCKS else f"an attribute is `{text} = value`"


def _after_name(r: Recovery, token: Token) -> None:
    """One word was read, and then something that is neither `=`, `{` nor a label."""
    name = r.values[-1]
    text = short(r, name)
    kinds = r.kinds
    values = (kinds["INTEGER"], kinds["DECIMAL"], kinds["QUANTITY"], kinds["RANGE"], kinds["POINTER"], kinds["LSQB"])
    if token[0] in values and text not in BLOCKS:
        _missing_equal(r, name, token)
        r.inject("EQUAL", name[2])
        return
    if token[0] in values:
        _not_a_body(r, name, token)
        return
    what = "a block needs a body" if text in BLOCKS else "expected `=` and a value, or `{`, after it"
    r.report.error(name[1], name[2], f"`{text}` stands alone", label=what, help=_alone_help(r, name))
    r.pop()
    if token[0] in (kinds["RBRACE"], kinds["COMMA"], END):
        r.again()
    else:
        r.skip(token)


def _not_a_body(r: Recovery, name: Token, token: Token) -> None:
    """A block's keyword, and then a value: `row 2 {`, `exclude [ … ]`."""
    text, start, end = short(r, name), token[1], token[2]
    if token[0] == r.kinds["LSQB"]:
        r.report.error(start, end, f"the body of `{text}` stands in braces", help=f"write `{text} {{ … }}`")
        r.turn_into_block()
    elif r.tokens[r.cursor][0] == r.kinds["LBRACE"]:
        r.report.error(start, end, f"{shown(r, token)} is not a name", help="a name starts with a letter")
        r.tokens[r.cursor - 1] = (r.kinds["NAME"], start, end)
        r.again()
    else:
        message = f"{shown(r, token)} does not fit after `{text}`"
        advice = f"a block is `{text} {{ … }}`"
        r.report.error(start, end, message, label="expected `{`", help=advice)
        r.inject("LBRACE", name[2])


def _no_value(r: Recovery, token: Token) -> None:
    """`name =` and then no value."""
    equal, name = r.values[-1], r.values[-2]
    text = short(r, name)
    if token[0] == r.kinds["EQUAL"] and token[1] == equal[2]:
        r.report.error(equal[1], token[2], "an attribute is set with one `=`", fix=(token[1], token[2], ""))
        return
    if token[0] == r.kinds["LBRACE"]:
        r.report.error(
            equal[1],
            equal[2],
            "a block has no `=` before its `{`",
            help=f"write `{text} {{ … }}`",
            fix=(name[2], token[1], " "),
        )
        r.pop()
        r.again()
        return
    r.report.error(
        equal[1],
        equal[2],
        f"`{text}` has no value",
        label=f"expected a value after this, found {shown(r, token)}",
        help=_value_help(text),
    )
    r.push_value(r.invalid(equal[1], equal[2]))
    if token[0] == r.kinds["EQUAL"]:
        return
    r.again()


def _value_help(name: str) -> str:
    if name in BLOCKS:
        return f"a block is `{name} {{ … }}`"
    return "values are strings, numbers, words, lists, ranges and pointers"


def _no_item(r: Recovery, token: Token) -> None:
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
    elif kind == kinds["LBRACE"]:
        error(start, end, "a block has a keyword before its `{`", help="a block is `name { … }`")
        r.skip(token)
    else:
        _loose_value(r, token)


def _stray_equal(r: Recovery, token: Token) -> None:
    """`= 5` without a name; most often because the attribute before has no value and took this one's name for it."""
    last = r.last_attribute()
    if last is not None and last.value.kind == "word" and "\n" in r.text[last.name.span.end : last.value.span.start]:
        equal = skip_blanks(r.text, last.name.span.end)
        r.report.error(
            equal,
            equal + 1,
            f"`{last.name.text}` has no value",
            label="expected a value after this, found the next attribute",
            help=_value_help(last.name.text),
        )
        span = last.value.span
        r.replace_last_attribute(r.invalid(equal, equal + 1))
        r.rewind((r.kinds["NAME"], span.start, span.end))
        return
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


def _digits_in_groups(r: Recovery, end: int) -> bool:
    """`1,000`: report it at its first comma or second number, and go on behind it."""
    last = r.last_attribute()
    grouped = None if last is None else _GROUPED.match(r.text, last.value.span.start)
    if grouped is None or grouped.end() < end:
        return False
    digits = grouped[0].replace(",", "_")
    message = "digits are grouped with `_`, not with commas"
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
    if last is not None and "\n" not in r.text[last.span.end : start]:
        label, advice = f"`{last.name.text}` has its value already", "several values stand in a list: `[a, b]`"
    else:
        label, advice = "expected an attribute or a block", "an attribute is `name = value`"
    r.report.error(start, end, f"{shown(r, token)} does not fit here", label=label, help=advice)
    if r.values_at.get(start) is not None or kind in (r.kinds["LSQB"], r.kinds["RSQB"]):
        r.skip(token)


def _in_list(r: Recovery, token: Token) -> None:
    """A list that goes on without a comma, or does not end."""
    kinds, error = r.kinds, r.report.error
    opened = r.opener()
    start, end = token[1], token[2]
    if token[0] == kinds["COMMA"]:
        error(start, end, "a value is missing before this comma", fix=(start, end, ""))
        return
    following = r.tokens[r.cursor][0] if token[0] != END else END
    starts_item = token[0] == kinds["NAME"] and following in (kinds["EQUAL"], kinds["LBRACE"])
    fits = r.accepts("COMMA") and token[0] not in (kinds["EQUAL"], kinds["LBRACE"], kinds["RBRACE"], END)
    if fits and not starts_item:
        before = r.tokens[r.cursor - 2][2]
        error(
            start, end, "a comma is missing in this list", label="expected `,` before this", fix=(before, before, ",")
        )
        r.inject("COMMA", before)
        return
    assert opened is not None
    error(
        opened[1],
        opened[2],
        "this list is not closed",
        label="its `]` is missing",
        secondary=((start, end, f"found {shown(r, token)} instead"),),
        help="lists are `[a, b]`",
    )
    if token[0] == kinds["EQUAL"]:
        r.skip(token)
        return
    r.inject("RSQB", r.tokens[r.cursor - 2][2] if r.cursor > 1 else start)
