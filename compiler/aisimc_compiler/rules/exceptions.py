"""Exceptions: records that are whole, tests that tell the arms apart, pointers that can differ."""

from __future__ import annotations

from collections.abc import Iterator

from aisimc_compiler.diagnostics.model import Diagnostic, Label
from aisimc_compiler.hints import Any
from aisimc_compiler.model import closed
from aisimc_compiler.model.campaign import Campaign, Given, RegressionTest
from aisimc_compiler.rules.digests import blank
from aisimc_compiler.rules.language import Rule

_TEXTS = ("baseline", "candidate", "source", "cause", "impact", "disposition")
_TEST_PARTS = ("command", "fails_on", "passes_on")


def complete(campaign: Campaign) -> Iterator[Diagnostic]:
    """`exception.complete`: every part is there, and none is empty."""
    from aisimc_compiler.rules.refusal import refuse_value

    for entry in campaign.exceptions:
        missing = [name for name in (*closed.EXCEPTION_PARTS, "regression_test") if name not in entry.touched]
        if missing and not entry.torn:
            yield _lacks(entry.name, f"exception `{entry.name.value}`", missing)
        for name in _TEXTS:
            given = entry.parts.get(name)
            if given is not None and blank(given.value):
                yield refuse_value(
                    "exception.complete", given, f"the exception's `{name}` is empty", label="says nothing"
                )
        for name in ("differs", "requests"):
            given = entry.parts.get(name)
            if given is not None:
                yield from _list(name, given)
        if entry.test is not None:
            yield from _test(entry.test)


def _lacks(name: Given[str], title: str, missing: list[str]) -> Diagnostic:
    from aisimc_compiler.rules.refusal import listed, refuse_value

    lacks = listed(missing, last="and")
    return refuse_value(
        "exception.complete",
        name,
        f"{title} does not say its {lacks}",
        label=f"{lacks} {'is' if len(missing) == 1 else 'are'} missing",
        help="add `regression_test { command = […] fails_on = baseline passes_on = candidate }`"
        if missing == ["regression_test"]
        else "",
    )


def _list(name: str, given: Given[Any]) -> Iterator[Diagnostic]:
    from aisimc_compiler.rules.refusal import refuse_value

    if given.value == ():
        noun = "field" if name == "differs" else "request"
        yield refuse_value("exception.complete", given, f"the exception names no {noun}", label="an empty list")
    if isinstance(given.value, str):
        return
    seen: dict[str, Given[str]] = {}
    for item in given.value:
        if name == "requests" and blank(item.value):
            yield refuse_value("exception.complete", item, "a session's name is empty", label="names no request")
        elif item.value in seen:
            yield refuse_value(
                "exception.complete",
                item,
                f"`{item.value}` is named twice",
                label="the second one",
                secondary=(Label(seen[item.value].span, "the first one"),),
            )
        seen.setdefault(item.value, item)


def _test(test: RegressionTest) -> Iterator[Diagnostic]:
    from aisimc_compiler.rules.refusal import refuse_value

    missing = [name for name in _TEST_PARTS if name not in test.touched]
    if missing:
        yield _lacks(Given("regression_test", test.keyword, test.keyword), "the regression test", missing)
    if test.command is not None:
        words = test.command.value
        if not words or blank(words[0].value):
            yield refuse_value(
                "exception.complete", test.command, "the regression test's command is empty", label="runs nothing"
            )


def tells_apart(campaign: Campaign) -> Iterator[Diagnostic]:
    """`exception.test`: the test fails on the baseline and passes on the candidate."""
    from aisimc_compiler.rules.refusal import refuse_value

    for entry in campaign.exceptions:
        if entry.test is None:
            continue
        fails, passes = entry.test.fails_on, entry.test.passes_on
        if fails is not None and fails.value != "baseline":
            swapped = fails.value == "candidate" and passes is not None and passes.value != "candidate"
            yield refuse_value(
                "exception.test",
                fails,
                "`fails_on` takes only `baseline`, whose behaviour is the less faithful one",
                label="the wrong arm" if fails.value in closed.ARMS else "not the arm",
                help="write `fails_on = baseline` and `passes_on = candidate`" if swapped else "write `baseline`",
                replace="baseline",
            )
            if swapped:
                continue
        if passes is not None and passes.value != "candidate":
            yield refuse_value(
                "exception.test",
                passes,
                "`passes_on` takes only `candidate`, whose behaviour is the more faithful one",
                label="the wrong arm" if passes.value in closed.ARMS else "not the arm",
                help="write `candidate`",
                replace="candidate",
            )


def row_exists(campaign: Campaign) -> Iterator[Diagnostic]:
    """`name.unknown`: the row of an exception stands in the campaign."""
    if campaign.fragment or campaign.torn:
        return
    names = {row.name.value: row for row in campaign.rows}
    unknown = 0
    for entry in campaign.exceptions:
        given = entry.parts.get("row")
        if given is None or campaign.may_mean_refused(given.value):
            continue
        if given.value not in names:
            from aisimc_compiler.model.resolve.absence import unknown_reference
            from aisimc_compiler.model.resolve.context import SUGGESTIONS

            unknown += 1
            yield unknown_reference("row", given, names, suggest=unknown <= SUGGESTIONS)
        elif (error := names[given.value].expect_error) is not None and not blank(error.value):
            from aisimc_compiler.rules.refusal import refuse_value

            yield refuse_value(
                "exception.used",
                given,
                f"the engine refuses `{given.value}` on both arms, so nothing of it can differ",
                label="has no output",
                secondary=(Label(error.span, "expected here"),),
            )


def can_differ(campaign: Campaign) -> Iterator[Diagnostic]:
    """`exception.used` and its like: each pointer names a field of the record that is compared."""
    for entry in campaign.exceptions:
        given = entry.parts.get("differs")
        if given is not None:
            yield from _pointers(given)


def _pointers(given: Given[Any]) -> Iterator[Diagnostic]:
    from aisimc_compiler.model.nearest import nearest
    from aisimc_compiler.rules.refusal import listed, refuse_value

    for item in given.value:
        segments = item.value.split("/")[1:]
        if any(item.value == pointer or item.value.startswith(pointer + "/") for pointer in closed.EXCLUSIONS):
            yield refuse_value(
                "exception.used",
                item,
                f"`{item.value}` is excluded from the comparison, so it never differs",
                label="on the exclusion list",
                help="remove it",
            )
        elif any("*" in segment and segment != "*" for segment in segments):
            yield refuse_value(
                "type.mismatch", item, "`*` stands for one whole segment of a pointer", label="a part of a segment"
            )
        elif segments[0] != "*" and segments[0] not in closed.RECORD_KEYS:
            meant = nearest(segments[0], closed.RECORD_KEYS)
            yield refuse_value(
                "name.unknown",
                item,
                f"a canonical record has no `/{segments[0]}`",
                label=f"it has {listed(closed.RECORD_KEYS, last='and')}",
                help=f"did you mean `/{'/'.join([meant, *segments[1:]])}`?" if meant else "",
                replace=f"/{'/'.join([meant, *segments[1:]])}" if meant else None,
            )
        elif segments[0] == "*" or _blanket(segments):
            yield refuse_value(
                "exception.complete",
                item,
                f"`{item.value}` names no field: a record says which fields differ",
                label="covers a whole branch",
                help="name the fields one by one, such as `/per_request/*/first_admit_ms`",
            )


def _blanket(segments: list[str]) -> bool:
    """Whether a pointer covers a branch of the record rather than fields of it."""
    named = [segment for segment in segments if segment not in ("*", "")]
    return len(named) < 2 or segments[-1] == ""


CHECKS: tuple[tuple[str, Rule], ...] = (
    ("exception.complete", complete),
    ("exception.test", tells_apart),
    ("name.unknown", row_exists),
    ("exception.used", can_differ),
)
