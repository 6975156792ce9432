"""What was expected where a token does not fit, in the writer's terms, and how to go on after it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aisimc_compiler.syntax.driver import END, Token
from aisimc_compiler.syntax.items import no_item, not_a_pointer, value_help
from aisimc_compiler.syntax.keywords import BLOCKS, TOP_LEVEL, is_statement
from aisimc_compiler.syntax.lists import in_list

if TYPE_CHECKING:
    from aisimc_compiler.syntax.recovery import Recovery

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
        no_item(r, token)
    else:
        in_list(r, token)


def _after_label(r: Recovery, token: Token) -> None:
    """`row x` without a brace, `purpose "text"` without an equals sign, `row a b {`, `a b = 5`."""
    keyword, label = r.values[-2], r.values[-1]
    if r.enclosing() == "exclude":
        not_a_pointer(r, keyword, "a word")
        r.pop()
        r.pop()
        r.rewind(label)
        return
    if token[0] == r.kinds["EQUAL"]:
        _equal_after_label(r, keyword, label, token)
    elif r.short(keyword) in BLOCKS:
        _block_goes_on(r, keyword, label, token)
    elif not _unquoted_text(r, label):
        _missing_equal(r, keyword, label)
        # The label is the value: hand it over once more, after an equals sign.
        r.pop()
        r.inject("EQUAL", keyword[2])
        r.inject_token(label)


def _equal_after_label(r: Recovery, keyword: Token, label: Token, token: Token) -> None:
    """`row x = {`; or `engine vllm = …`, where an attribute without a value stands before this one."""
    name = r.short(keyword)
    if _before_brace(r, label, token):
        advice = f"write `{name} {r.short(label)} {{ … }}`"
        r.report.error(
            token[1], token[2], "a block has no `=` before its `{`", help=advice, fix=(label[2], token[2], "")
        )
        return
    if not _unit(r, keyword, None):
        r.report.error(
            keyword[1],
            keyword[2],
            f"`{name}` stands alone",
            label="expected `=` and a value, or `{` after it",
            help=_alone_help(r, keyword),
        )
    r.values[-2] = label
    r.pop()
    r.again()


def _block_goes_on(r: Recovery, keyword: Token, label: Token, token: Token) -> None:
    """`row a b {`, a block without a brace, or a statement with something behind it."""
    name = r.short(keyword)
    if token[0] in (r.kinds["NAME"], r.kinds["STRING"]) and _before_brace(r, label, token):
        joined = f"{r.text_of(label)}-{r.text_of(token)}" if token[0] == r.kinds["NAME"] else ""
        r.report.error(
            token[1],
            token[2],
            f"`{name}` has one name",
            label="a second one",
            help=f"write `{name} {joined}`" if joined else "",
            applicable=False,
            fix=(label[1], token[2], joined) if joined else None,
        )
    elif not is_statement(name):
        _no_body(r, keyword, label, token)
    else:
        r.skip(token)


def _before_brace(r: Recovery, label: Token, token: Token) -> bool:
    """Whether a token stands between a label, on its line, and a `{`."""
    return "\n" not in r.text[label[2] : token[1]] and r.tokens[r.cursor][0] == r.kinds["LBRACE"]


_LACKING = {"aggregated": "workers", "disaggregated": "prefill`, `decode` and `transfer"}
"""What a topology without a body does not say: it might have been a statement, like a timing, but for this."""


def _no_body(r: Recovery, keyword: Token, label: Token, token: Token) -> None:
    """A block with its name, and no brace after it."""
    header = f"{r.short(keyword)} {r.short(label)}"
    lacks = _LACKING.get(r.text_of(label)) if r.text_of(keyword) == "topology" and r.surplus <= 0 else None
    if lacks is not None:
        r.report.error(
            label[1],
            label[2],
            f"topology `{r.text_of(label)}` does not say its `{lacks}`",
            rule="name.missing",
            label=f"`{lacks}` {'is' if lacks == 'workers' else 'are'} missing",
            help=f"write `{header} {{ … }}`",
        )
    elif not r.report.reported_between(label[2], token[1]):  # as `(` in the place of `{` was
        r.report.error(
            label[1],
            label[2],
            f"`{header}` has no body",
            label="expected `{` after this",
            help=f"write `{header} {{ … }}`",
            fix=(label[2], label[2], " {"),
            applicable=False,
        )
    r.inject_body(label[2])


def _unquoted_text(r: Recovery, label: Token) -> bool:
    """`purpose = some words here`: the words after the first stand where an attribute would."""
    before = r.previous_value()
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
        f"there is no `=` between `{r.short(name)}` and its value",
        label="expected `=` before this",
        help=f"write `{r.short(name)} = {r.short(value)}`",
        fix=(name[2], name[2], " ="),
    )


def _unit(r: Recovery, name: Token, after: Token | None) -> bool:
    """`512 tokens`: a word behind a number, which is no unit (`type.mismatch`)."""
    before = r.previous_value()
    numbers = (r.kinds["INTEGER"], r.kinds["DECIMAL"])
    if before is None or before[0] not in numbers or "\n" in r.text[before[2] : name[1]] or r.text_of(name) in BLOCKS:
        return False
    rest = after is not None and after[0] == r.kinds["POINTER"] and after[1] == name[2]
    end = after[2] if after is not None and rest else name[2]
    unit = r.text[name[1] : end]
    r.report.error(
        before[1],
        end,
        f"`{unit}` is no unit",
        rule="type.mismatch",
        label=f"a number with the unit `{unit}`",
        help=f"{_UNITS}; a number without one stands alone: `{r.text_of(before)}`",
    )
    r.replace_last_attribute(r.invalid(before[1], end))
    return True


def _alone_help(r: Recovery, name: Token) -> str:
    text = r.short(name)
    return f"a block is `{text} {{ … }}`" if text in BLOCKS else f"an attribute is `{text} = value`"


def _after_name(r: Recovery, token: Token) -> None:
    """One word was read, and then something that is neither `=`, `{` nor a label."""
    name = r.values[-1]
    text = r.short(name)
    kinds = r.kinds
    if r.enclosing() == "exclude":
        rest = token[0] == kinds["POINTER"] and token[1] == name[2]  # `summary/wall_time_ms`
        not_a_pointer(r, (name[0], name[1], token[2]) if rest else name, "a word")
        r.pop()
        if not rest:
            r.again()
        return
    values = (kinds["INTEGER"], kinds["DECIMAL"], kinds["QUANTITY"], kinds["RANGE"], kinds["POINTER"], kinds["LSQB"])
    if _unit(r, name, token):
        r.pop()
        if token[0] != kinds["POINTER"] or token[1] != name[2]:
            r.again()
        return
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
    text, start, end = r.short(name), token[1], token[2]
    if token[0] == r.kinds["LSQB"]:
        r.report.error(start, end, f"the body of `{text}` stands in braces", help=f"write `{text} {{ … }}`")
        r.turn_into_block()
    elif r.tokens[r.cursor][0] == r.kinds["LBRACE"]:
        r.report.error(start, end, f"{r.shown(token)} is not a name", help="a name starts with a letter")
        r.tokens[r.cursor - 1] = (r.kinds["NAME"], start, end)
        r.again()
    else:
        message = f"{r.shown(token)} does not fit after `{text}`"
        advice = f"a block is `{text} {{ … }}`"
        r.report.error(start, end, message, label="expected `{`", help=advice)
        r.inject("LBRACE", name[2])


def _names_attribute(r: Recovery, text: str) -> bool:
    """Whether a word cannot be a block's here: no keyword, or `family` and `input`, which name one within a row."""
    return text not in BLOCKS or (text in TOP_LEVEL and r.enclosing() != "")


def _no_value(r: Recovery, token: Token) -> None:
    """`name =` and then no value."""
    equal, name = r.values[-1], r.values[-2]
    text = r.short(name)
    if token[0] == r.kinds["EQUAL"] and "\n" not in r.text[equal[2] : token[1]]:
        start = equal[1] if equal[2] == token[1] else token[1]
        r.report.error(start, token[2], "an attribute is set with one `=`", fix=(equal[2], token[2], ""))
        return
    if token[0] == r.kinds["LBRACE"] and _names_attribute(r, text):
        end = r.skip_braces()
        r.report.error(
            token[1],
            end,
            f"`{text}` takes a value, not a block",
            label="braces hold a block",
            help=f"write `{text} = …`; values are strings, numbers, words, lists, ranges and pointers",
        )
        r.push_value(r.invalid(token[1], end))
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
        label=f"expected a value after this, found {r.shown(token)}",
        help=value_help(text),
    )
    r.push_value(r.invalid(equal[1], equal[2]))
    if token[0] == r.kinds["EQUAL"]:
        return
    r.again()
