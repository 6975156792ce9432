"""A focused difference in one clause, for findings, lists of reasons and cells of tables."""

from __future__ import annotations

from typing import Any

from aisimc_compiler.rules.refusal import plural
from aisimc_runtime.compare.literals import Change
from aisimc_runtime.sizes import in_ms

SPELLING = "only key order, white space or spelling differ"

_WHAT = {
    Change.VALUE: "differs in value",
    Change.LAST_BITS: "differs in its last bits",
    Change.NUMBER_KIND: "changed between integer and decimal",
    Change.SIGNED_ZERO: "differs in the sign of zero",
    Change.NUMBER_TEXT: "differs in the spelling of numbers",
    Change.TEXT: "differs in its text",
    Change.TYPE: "differs in type",
    Change.ADDED: "was added",
    Change.REMOVED: "was removed",
    Change.ORDER: "stands in another order",
}


def clause(difference: dict[str, Any]) -> str:
    """How the two sides differ: where they part in time, or else the whole of it where that is one field.

    A difference of one field is told by its pattern, as an exception record's `differs` takes it.
    """
    if difference.get("same_values"):
        return SPELLING
    parting = difference.get("first_parting")
    if parting is not None:
        return f"they first part at {in_ms(parting['at_ms'])} ms, {parting['request']} {parting['field'].lstrip('/')}"
    first = difference["classes"][0]
    if difference["classes_in_all"] == 1:
        return f"only one field {_WHAT[Change(first['change'])]}: {first['pattern']}{_spread(first, difference)}"
    patterns = list(dict.fromkeys(str(entry["pattern"]) for entry in difference["classes"]))
    more = difference["classes_in_all"] - 1
    return f"no point in virtual time differs, but {patterns[0]} does and {plural(more, 'more class', 'more classes')}"


def _spread(entry: dict[str, Any], difference: dict[str, Any]) -> str:
    if not entry["requests"]:
        return ""
    return f" ({entry['requests']:,} of {plural(difference['requests']['compared'], 'request')})"


def cell(difference: dict[str, Any], at: str) -> str:
    """The same in a few words; `at` is the instant of the first parting as it is to be shown."""
    if difference.get("same_values"):
        return "only spelling differs"
    if difference.get("first_parting") is not None:
        return f"parts at {at}"
    first = difference["classes"][0]
    if difference["classes_in_all"] > 1:
        return f"{difference['classes_in_all']:,} classes of differences, none in time"
    return f"only {first['pattern'].rpartition('/')[2]} {_WHAT[Change(first['change'])]}"
