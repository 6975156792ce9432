"""How the arms are built: alike, with named features (`pin.same-build`, `pin.features`)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from aisimc_compiler.diagnostics.model import Diagnostic, Label
from aisimc_compiler.hints import Any
from aisimc_compiler.model.campaign import Build, Campaign, Given, Revision
from aisimc_compiler.rules.digests import blank
from aisimc_compiler.rules.pinning.identity import main_value

_TOOLCHAIN = re.compile(
    r"[0-9]+\.[0-9]+(?:\.[0-9]+)?(?:-beta\.[0-9]+)?|(?:nightly|beta)-[0-9]{4}-[0-9]{2}-[0-9]{2}", re.A
)
_FEATURE = re.compile(r"(?:dep:)?[A-Za-z0-9_][A-Za-z0-9_+.-]*(?:\??/[A-Za-z0-9_][A-Za-z0-9_+.-]*)?", re.A)
_WILDCARDS = {"all", "default", "defaults", "all-features", "--all-features", "any", "every", "everything"}


def is_wildcard(text: str) -> bool:
    """Whether a feature name stands for a set of features."""
    plain = text.strip().lower().replace("_", "-")
    return plain in _WILDCARDS or "*" in plain


def wildcard_feature(span: Any, text: str) -> Diagnostic:
    """The refusal of `all` and its like."""
    from aisimc_compiler.rules.refusal import refuse

    return refuse(
        "pin.features",
        span,
        f"`{text}` stands for a set of features instead of naming one",
        label="not a feature's name",
        help="name the features one by one; an empty list is fine",
    )


def same_build(campaign: Campaign) -> Iterator[Diagnostic]:
    """`pin.same-build`: what can be built is built by one `build` block, and both arms are built or neither is."""
    from aisimc_compiler.rules.refusal import refuse, refuse_value

    kinds = {arm: revision.kind for arm, revision in campaign.revisions.items() if _one_source(revision)}
    build = campaign.build
    wheels = [arm for arm, kind in kinds.items() if kind == "wheel"]
    if len(kinds) == 2 and len(wheels) == 1:
        other = next(arm for arm in kinds if arm not in wheels)
        yield refuse_value(
            "pin.same-build",
            main_value(campaign.revisions["candidate"]),
            f"the {wheels[0]} is a published wheel and the {other} is built here, so they cannot be built alike",
            label="one arm is built, the other is not",
            help="compare two wheels, or two revisions that are built here",
            secondary=(Label(main_value(campaign.revisions["baseline"]).span, "the other arm"),),
        )
    elif len(wheels) == 2 and build is not None:
        yield refuse(
            "pin.same-build",
            build.keyword,
            "a `build` block says how wheels were built, which nobody can hold it to",
            label="nothing is built",
            help="remove the block: published wheels are taken as they are",
        )
    yield from _toolchain(build)
    built = bool(kinds) and "wheel" not in kinds.values()
    whole = campaign.name is not None and not campaign.torn
    if built and whole and "build" not in campaign.blocks and campaign.name is not None:
        yield refuse(
            "name.missing",
            campaign.name.span,
            "the campaign has no `build` block, and its revisions are built",
            label="`build` is missing",
            help='add `build { toolchain = "system" profile = release }`',
        )


def _one_source(revision: Revision) -> bool:
    """Whether a revision has one kind of source; one with two is refused for that, and its kind is anybody's guess."""
    return bool(revision.kind) and len(revision.touched & {"repository", "wheel", "embedded"}) == 1


def _toolchain(build: Build | None) -> Iterator[Diagnostic]:
    from aisimc_compiler.rules.refusal import refuse_value

    if build is None or build.toolchain is None or blank(build.toolchain.value):
        return
    text = build.toolchain.value
    if text != "system" and not _TOOLCHAIN.fullmatch(text):
        moving = text in ("stable", "nightly", "beta", "latest")
        yield refuse_value(
            "pin.same-build",
            build.toolchain,
            f"`{text}` is no version of a toolchain",
            label="moves with every update" if moving else "not a version",
            help='write a version such as `"1.93.1"`, or `"system"`',
        )


def features(campaign: Campaign) -> Iterator[Diagnostic]:
    """`pin.features`: each feature is named, once."""
    if campaign.build is None or campaign.build.features is None:
        return
    from aisimc_compiler.rules.refusal import refuse_value

    seen: dict[str, Given[str]] = {}
    for given in campaign.build.features.value:
        text = given.value
        if is_wildcard(text):
            yield wildcard_feature(given.span, text)
        elif not _FEATURE.fullmatch(text):
            message = "a feature's name is empty" if blank(text) else f"`{text}` is not one feature's name"
            yield refuse_value("pin.features", given, message, label="not a name", help="one string for each feature")
        elif text in seen:
            yield refuse_value(
                "pin.features",
                given,
                f"the feature `{text}` is named twice",
                label="the second one",
                secondary=(Label(seen[text].span, "the first one"),),
            )
        seen.setdefault(text, given)
