"""Rules of the language itself that need the whole campaign; the parser and the resolver report the others."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from aisimc_compiler.diagnostics.model import Diagnostic
from aisimc_compiler.model import closed
from aisimc_compiler.model.campaign import Campaign
from aisimc_compiler.rules.digests import blank_value

Rule = Callable[[Campaign], Iterator[Diagnostic]]


def version(campaign: Campaign) -> Iterator[Diagnostic]:
    """`language.version`: the campaign says `language = 1`."""
    given = campaign.language
    if given is not None and given.value != closed.LANGUAGE:
        from aisimc_compiler.rules.refusal import refuse_value

        yield refuse_value(
            "language.version",
            given,
            f"this compiler reads version 1 of the language, and the campaign says {given.value}",
            label="version 1 is the only one",
            help="write `1`",
            replace="1",
        )


def said(campaign: Campaign) -> Iterator[Diagnostic]:
    """`name.missing`: what is there but says nothing counts as missing."""
    for given, what in (
        (campaign.name, "the campaign's name is empty"),
        (campaign.purpose, "the campaign's purpose is empty"),
        (campaign.build.toolchain if campaign.build else None, "the build's toolchain is empty"),
    ):
        found = blank_value("name.missing", given, what)
        if found:
            yield found
    for revision in campaign.revisions.values():
        found = blank_value("name.missing", revision.repository, "the checkout's repository is empty")
        if found:
            yield found
    for input_ in campaign.inputs.values():
        found = blank_value("name.missing", input_.file, "the input's file is empty")
        if found:
            yield found


_NAME_LENGTH = 100


def nameable(campaign: Campaign) -> Iterator[Diagnostic]:
    """`type.mismatch`: the campaign's name names the run's folder, so it is one plain path segment."""
    given = campaign.name
    if given is None or not given.value.strip():
        return
    why = folder_objection(given.value)
    if not why:
        return
    from aisimc_compiler.rules.refusal import refuse_value

    yield refuse_value(
        "type.mismatch",
        given,
        "the campaign's name cannot name the run's folder",
        label=why,
        help='write a plain name, such as `campaign "nightly-conversation"`',
    )


def folder_objection(text: str) -> str:
    """Why a campaign's name cannot be one plain path segment, or ""."""
    if "/" in text or "\\" in text:
        return "a separator would put the run's folder somewhere else"
    if text.startswith((".", "-")):
        return f"a folder whose name starts with `{text[0]}` is hidden, or taken for an option"
    if not text.isprintable():
        return "it holds a character that cannot be seen"
    if len(text) > _NAME_LENGTH:
        return f"it has {len(text)} characters, and a folder's name should not have more than {_NAME_LENGTH}"
    return ""


CHECKS: tuple[tuple[str, Rule], ...] = (
    ("language.version", version),
    ("name.missing", said),
    ("type.mismatch", nameable),
)
