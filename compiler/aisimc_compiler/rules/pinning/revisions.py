"""The two arms: a full commit id, an exact wheel or known sources, one source each (`pin.arms` and its like)."""

from __future__ import annotations

from collections.abc import Iterator

from aisimc_compiler.diagnostics.model import Diagnostic
from aisimc_compiler.hints import Any
from aisimc_compiler.model import closed
from aisimc_compiler.model.campaign import Campaign, Given, Revision
from aisimc_compiler.rules.addresses import address_fault
from aisimc_compiler.rules.digests import blank, blank_value, described, is_hex, sha256_fault
from aisimc_compiler.rules.pinning.identity import wheel_pin

_SOURCES = {
    "checkout": ("repository", "commit"),
    "wheel": ("wheel", "sha256"),
    "embedded": ("embedded", "sha256", "patch", "patch_sha256"),
}


def commit(campaign: Campaign) -> Iterator[Diagnostic]:
    """`pin.commit`: a checkout is pinned by a full commit id."""
    from aisimc_compiler.rules.refusal import refuse_value

    for revision in campaign.revisions.values():
        if revision.kind != "checkout":
            continue
        if revision.repository is not None and (fault := address_fault("pin.commit", revision.repository)):
            yield fault
        given = revision.commit
        if given is None:
            if "commit" not in revision.touched and revision.repository is not None:
                yield refuse_value(
                    "pin.commit",
                    revision.repository,
                    "the checkout names no commit",
                    label="a repository moves",
                    help='add `commit = "…"`; `aisimc pin` looks it up',
                )
        elif not is_hex(given.value, 40, 64):
            yield commit_fault("pin.commit", given)


def commit_fault(rule: str, given: Given[str]) -> Diagnostic:
    """The refusal of what is not a full commit id, by its kind: short id, `HEAD`, branch or tag."""
    from aisimc_compiler.rules.refusal import refuse_value

    text = given.value
    bare = text.strip()
    if blank(text):
        message, label = "the commit id is empty", "says nothing"
    elif is_hex(bare, len(bare)) and len(bare) < 40:
        message = f"`{text}` is a short id of {len(bare)} digits, which can come to mean several commits"
        label = "not the full id"
    elif is_hex(bare, len(bare)) and len(bare) not in (40, 64):
        message, label = f"a commit id has 40 or 64 hex digits, and this one has {len(bare)}", "not a commit id"
    elif bare.upper().startswith(("HEAD", "FETCH_HEAD", "@")):
        message, label = f"`{text}` means whatever is checked out somewhere", "moves with every checkout"
    elif is_hex(bare, 40, 64):
        message, label = "there is white space around the commit id", "not only the id"
    elif len(bare) in (40, 64):
        message, label = f"a commit id has 40 or 64 hex digits, and this is {described(text)}", "not a commit id"
    else:
        message, label = f"`{text}` names a branch or tag, which can move", "not a full commit id"
    fits = is_hex(bare, 40, 64)
    return refuse_value(
        rule,
        given,
        message,
        label=label,
        help=f'write `"{bare}"`' if fits else "a full commit id has 40 or 64 hex digits; `aisimc pin` looks it up",
        replace=f'"{bare}"' if fits else None,
        applicable=fits,
    )


def wheel(campaign: Campaign) -> Iterator[Diagnostic]:
    """`pin.wheel`: an exact version with the wheel file's SHA-256."""
    from aisimc_compiler.rules.refusal import refuse_value

    for revision in campaign.revisions.values():
        given = revision.wheel
        if given is None or revision.repository or revision.embedded:
            continue
        fault = _wheel_fault(given.value)
        if fault:
            message, label, help_ = fault
            yield refuse_value("pin.wheel", given, message, label=label, help=help_)
        elif "sha256" not in revision.touched:
            yield refuse_value(
                "pin.wheel",
                given,
                "the wheel is named without the SHA-256 of its file",
                label="one version has several files",
                help='add `sha256 = "…"`; `aisimc pin` asks the index for it',
            )
        digest = sha256_fault("pin.wheel", revision.sha256, "the wheel file")
        if digest:
            yield digest


def _wheel_fault(text: str) -> tuple[str, str, str] | None:
    """Message, label and help for a requirement that pins no version of AI Simulate."""
    pin = wheel_pin(text)
    example = f"write `{closed.PACKAGE}==` and the version"
    if pin is not None:
        if pin[0] == closed.PACKAGE:
            return None
        return f"`{pin[0]}` is not AI Simulate's package", "another package", f"write `{closed.PACKAGE}=={pin[1]}`"
    if blank(text):
        return "the wheel is empty", "says nothing", example
    if "[" in text:
        return f"`{text}` asks for extras, which change what is installed", "no exact version alone", example
    if "@" in text or "://" in text or text.strip().endswith(".whl"):
        return f"`{text}` names a place instead of a version", "no exact version", example
    if ";" in text:
        return (
            f"`{text}` has a condition, so that it means different things on different machines",
            "no exact version alone",
            example,
        )
    if "*" in text:
        return f"`{text}` has a wildcard, and matches many versions", "matches many versions", example
    if "===" in text:
        return f"`{text}` compares text; an exact version is pinned with `==`", "`===` is another comparison", example
    if any(mark in text for mark in (">", "<", "~=", "!=", "^", ",")):
        return (
            f"`{text}` is a range, and resolves to whatever the index holds on the day",
            "not an exact version",
            example,
        )
    if "==" not in text:
        return f"`{text}` names no version", "any version would do", example
    return f"`{text}` is no exact version", "not a version of a package", example


def arms(campaign: Campaign) -> Iterator[Diagnostic]:
    """`pin.arms`: there is exactly one baseline and one candidate (a second one is the resolver's to report)."""
    if campaign.fragment or campaign.torn or campaign.name is None or campaign.arms_written >= len(closed.ARMS):
        return
    missing = [arm for arm in closed.ARMS if arm not in campaign.revisions]
    if missing:
        from aisimc_compiler.rules.refusal import listed, refuse

        yield refuse(
            "pin.arms",
            campaign.name.span,
            f"the campaign has no {listed(missing, last='and')} revision",
            label=f"{listed(missing, last='and')} {'is' if len(missing) == 1 else 'are'} missing",
            help="\n".join(f"add `revision {arm} {{ … }}`" for arm in missing),
        )


def one_source(campaign: Campaign) -> Iterator[Diagnostic]:
    """`name.missing` and `name.unknown`: each revision has one source of the three, and nothing of another."""
    from aisimc_compiler.rules.refusal import refuse, refuse_name

    for revision in campaign.revisions.values():
        touched = revision.touched
        named = [
            kind
            for kind, key in (("wheel", "wheel"), ("checkout", "repository"), ("embedded", "embedded"))
            if key in touched
        ]
        if not named and "commit" not in touched:
            yield refuse(
                "name.missing",
                revision.arm.span,
                f"the {revision.arm.value} names no source",
                label="`repository`, `wheel` or `embedded` is missing",
                help="one of `repository` + `commit`, `wheel` + `sha256`, `embedded` + `sha256`",
            )
        elif not named:
            yield refuse(
                "name.missing",
                revision.arm.span,
                f"the {revision.arm.value} names a commit and no repository",
                label="`repository` is missing",
                help='add `repository = "https://…"`',
            )
        else:
            foreign = _foreign(revision, named)
            if foreign:
                first, given = foreign
                yield refuse_name(
                    "name.unknown",
                    given,
                    f"a {first} revision has no `{_text(given)}`",
                    label="belongs to another kind of revision",
                    help="one source: `repository` + `commit`, `wheel` + `sha256`, or `embedded` + `sha256`",
                )


def _foreign(revision: Revision, named: list[str]) -> tuple[str, Given[str]] | None:
    """The first attribute that belongs to another source than the one that stands first."""
    places: list[tuple[int, str, Given[str]]] = []
    for name in ("repository", "commit", "wheel", "embedded", "sha256", "patch", "patch_sha256"):
        given = getattr(revision, name)
        if given is not None:
            places.append((given.name.start, name, given))
    places.sort()
    kind = named[0]
    for _, name, _ in places:
        owner = {"repository": "checkout", "wheel": "wheel", "embedded": "embedded"}.get(name)
        if owner:
            kind = owner
            break
    return next(((kind, given) for _, name, given in places if name not in _SOURCES[kind]), None)


def _text(given: Given[Any]) -> str:
    source, start, end = given.name
    return source.text[start:end]


def embedded(campaign: Campaign) -> Iterator[Diagnostic]:
    """`pin.embedded`: embedded sources are known ones, pinned by digest, and so is their patch."""
    from aisimc_compiler.rules.refusal import refuse_value

    for revision in campaign.revisions.values():
        given = revision.embedded
        if given is None or revision.kind != "embedded":
            continue
        if given.value != closed.EMBEDDED_CORE:
            yield refuse_value(
                "pin.embedded",
                given,
                "the embedded engine is empty"
                if blank(given.value)
                else f"there is no embedded engine `{given.value}`",
                label=f"`{closed.EMBEDDED_CORE}` is the only one",
                help=f'write `"{closed.EMBEDDED_CORE}"`',
                replace=f'"{closed.EMBEDDED_CORE}"',
            )
        elif "sha256" not in revision.touched:
            yield refuse_value(
                "pin.embedded",
                given,
                "the embedded engine is named without the SHA-256 of its sources",
                label="the sources can be edited",
                help='add `sha256 = "…"`; `aisimc pin` computes it',
            )
        for digest, noun in ((revision.sha256, "the embedded sources"), (revision.patch_sha256, "the patch")):
            fault = sha256_fault("pin.embedded", digest, noun)
            if fault:
                yield fault
        yield from _patch(revision)


def _patch(revision: Revision) -> Iterator[Diagnostic]:
    from aisimc_compiler.rules.refusal import refuse_value

    fault = blank_value("pin.embedded", revision.patch, "the patch is empty")
    if fault:
        yield fault
    elif revision.patch is not None and "patch_sha256" not in revision.touched:
        yield refuse_value(
            "pin.embedded",
            revision.patch,
            "the patch is named without its SHA-256",
            label="a file can be edited",
            help='add `patch_sha256 = "…"`; `aisimc pin` computes it',
        )
    elif revision.patch_sha256 is not None and "patch" not in revision.touched:
        yield refuse_value(
            "pin.embedded", revision.patch_sha256, "a patch's SHA-256 is given without the patch", label="of what file?"
        )
