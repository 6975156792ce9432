"""Exclusions: exactly the closed list, no more, no fewer, none twice (`exclude.closed`)."""

from __future__ import annotations

from collections.abc import Iterator

from aisimc_compiler.diagnostics.model import Diagnostic, Label
from aisimc_compiler.model import closed
from aisimc_compiler.model.campaign import Campaign, Given
from aisimc_compiler.rules.language import Rule


def closed_list(campaign: Campaign) -> Iterator[Diagnostic]:
    """`exclude.closed`: the declared list is exactly the closed list."""
    declared = campaign.exclude
    if declared is None:
        return
    seen: dict[str, Given[str]] = {}
    extra: list[Given[str]] = []
    again: list[Given[str]] = []
    for given in declared.pointers:
        if given.value not in closed.EXCLUSIONS:
            extra.append(given)
        elif given.value in seen:
            again.append(given)
        else:
            seen[given.value] = given
    missing = [pointer for pointer in closed.EXCLUSIONS if pointer not in seen]
    loose = len(again)
    for given in again:
        yield _twice(given, seen[given.value], missing[0] if len(missing) == loose == 1 and not extra else None)
    for given in extra:
        meant = _meant(given.value, missing)
        if not meant:
            loose += 1
        missing = [pointer for pointer in missing if pointer not in meant]
        only = missing[0] if not meant and len(missing) == 1 and len(extra) == 1 else None
        yield _extra(given, meant[0] if len(meant) == 1 else only, covers=len(meant))
    # A pointer too many stands in the place of each one that is absent: that is one mistake.
    if len(missing) > loose and not declared.strange:
        from aisimc_compiler.rules.refusal import listed, refuse

        yield refuse(
            "exclude.closed",
            declared.keyword,
            f"the exclusions lack {listed(missing, last='and')}",
            label=f"{len(declared.pointers)} of the four",
            help="add " + listed(missing, last="and"),
        )


def _meant(text: str, missing: list[str]) -> list[str]:
    """The pointers of the list that are absent because this one stands in their place."""
    from aisimc_compiler.model.nearest import nearest

    plain = text.rstrip("/").lower()
    if "*" in plain:
        stem = plain.split("*", 1)[0].rstrip("/")
        return [pointer for pointer in missing if pointer.startswith(stem)]
    under = [pointer for pointer in missing if pointer == plain or pointer.startswith(plain + "/")]
    if under:
        return under
    near = nearest(plain, missing)
    return [near] if near else []


def _twice(given: Given[str], first: Given[str], absent: str | None) -> Diagnostic:
    from aisimc_compiler.rules.refusal import refuse_value

    return refuse_value(
        "exclude.closed",
        given,
        f"`{given.value}` is excluded twice",
        label="the second one",
        help=f"write `{absent}`, which is missing" if absent else "remove it",
        replace=absent,
        secondary=(Label(first.span, "the first one"),),
    )


def _extra(given: Given[str], meant: str | None, *, covers: int) -> Diagnostic:
    from aisimc_compiler.rules.digests import odd_character
    from aisimc_compiler.rules.refusal import did_you_mean, refuse_value

    text = given.value
    odd = odd_character(text)
    if "*" in text:
        message, label = f"`{text}` would exclude every field that it matches", "a pattern"
    elif covers > 1 or any(pointer.startswith(text.rstrip("/") + "/") for pointer in closed.EXCLUSIONS):
        message, label = f"`{text}` would exclude everything below it", "a whole branch"
    else:
        message, label = f"`{text}` is not on the closed list of exclusions", "not on the list"
    return refuse_value(
        "exclude.closed",
        given,
        message,
        label=label,
        help=did_you_mean(meant, "remove it; make the field deterministic instead of leaving it out"),
        replace=meant,
        notes=(odd,) if odd else (),
    )


CHECKS: tuple[tuple[str, Rule], ...] = (("exclude.closed", closed_list),)
