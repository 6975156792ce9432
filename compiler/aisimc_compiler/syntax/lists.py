"""Lists that go on without a comma, or do not end."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aisimc_compiler.syntax.driver import END, Token

if TYPE_CHECKING:
    from aisimc_compiler.syntax.recovery import Recovery


def in_list(r: Recovery, token: Token) -> None:
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
        unread = r.values_at.get(r.tokens[r.cursor - 2][1])
        error(
            start,
            end,
            "a comma is missing in this list",
            label="expected `,` before this",
            fix=(before, before, ","),
            applicable=unread is None or unread.kind != "invalid",  # a comma would become part of an open string
        )
        r.inject("COMMA", before)
        return
    assert opened is not None
    error(
        opened[1],
        opened[2],
        "this list is not closed",
        label="its `]` is missing",
        secondary=((start, end, f"found {r.shown(token)} instead"),),
        help="lists are `[a, b]`",
    )
    if token[0] == kinds["EQUAL"]:
        r.skip(token)
        return
    r.inject("RSQB", r.tokens[r.cursor - 2][2] if r.cursor > 1 else start)
