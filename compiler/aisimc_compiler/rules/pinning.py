"""Pinning: what the two arms are, and that they are built alike."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from aisimc_compiler.diagnostics.model import Diagnostic, Label
from aisimc_compiler.model import closed
from aisimc_compiler.model.campaign import Build, Campaign, Correction, Given, Revision
from aisimc_compiler.rules.digests import blank, blank_value, described, is_hex, sha256_fault
from aisimc_compiler.rules.language import Rule

_VERSION = (
    r"(?:[0-9]+!)?[0-9]+(?:\.[0-9]+)*(?:[._-]?(?:a|b|c|rc|alpha|beta|pre|preview)[._-]?[0-9]*)?"
    r"(?:-[0-9]+|[._-]?(?:post|rev|r)[._-]?[0-9]*)?(?:[._-]?dev[._-]?[0-9]*)?(?:\+[a-z0-9]+(?:[._-][a-z0-9]+)*)?"
)
_REQUIREMENT = re.compile(rf"\s*([A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)\s*==\s*(v?{_VERSION})\s*", re.I | re.A)
_TOOLCHAIN = re.compile(
    r"[0-9]+\.[0-9]+(?:\.[0-9]+)?(?:-beta\.[0-9]+)?|(?:nightly|beta)-[0-9]{4}-[0-9]{2}-[0-9]{2}", re.A
)
_FEATURE = re.compile(r"(?:dep:)?[A-Za-z0-9_][A-Za-z0-9_+.-]*(?:\??/[A-Za-z0-9_][A-Za-z0-9_+.-]*)?", re.A)
_WILDCARDS = {"all", "default", "defaults", "all-features", "--all-features", "any", "every", "everything"}

_SOURCES = {
    "checkout": ("repository", "commit"),
    "wheel": ("wheel", "sha256"),
    "embedded": ("embedded", "sha256", "patch", "patch_sha256"),
}


def wheel_pin(text: str) -> tuple[str, str] | None:
    """Name and version of an exact requirement, both normalised; None for anything else."""
    match = _REQUIREMENT.fullmatch(text)
    if match is None:
        return None
    return re.sub(r"[-_.]+", "-", match[1]).lower(), match[2].lower().removeprefix("v")


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


def commit(campaign: Campaign) -> Iterator[Diagnostic]:
    """`pin.commit`: a checkout is pinned by a full commit id."""
    from aisimc_compiler.rules.refusal import refuse_value

    for revision in campaign.revisions.values():
        if revision.kind != "checkout":
            continue
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
    for name in ("repository", "commit", "wheel", "embedded", "patch", "patch_sha256"):
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


def _identity(revision: Revision) -> tuple[str, ...] | None:
    """What makes a revision this one and no other; None when part of it is missing."""
    if revision.kind == "wheel" and revision.wheel and revision.sha256:
        pin = wheel_pin(revision.wheel.value)
        return ("wheel", *pin, revision.sha256.value.lower()) if pin else None
    if revision.kind == "checkout" and revision.repository and revision.commit:
        return "checkout", repository_identity(revision.repository.value), revision.commit.value.lower()
    if revision.kind == "embedded" and revision.embedded and revision.sha256:
        patch = revision.patch_sha256.value.lower() if revision.patch_sha256 else ""
        if ("patch" in revision.touched) != bool(patch):
            return None
        return "embedded", revision.embedded.value, revision.sha256.value.lower(), patch
    return None


def _same_wheel(left: tuple[str, ...], right: tuple[str, ...]) -> bool:
    """Whether two wheels of one hash have one version that is only spelt in two ways (`0.12.0dev1`, `0.12.0.dev1`)."""
    if left[0] != "wheel" or right[0] != "wheel" or (left[1], left[3]) != (right[1], right[3]):
        return False
    from packaging.version import Version

    return Version(left[2]) == Version(right[2])


def repository_identity(text: str) -> str:
    """A repository's address without what does not tell repositories apart."""
    plain = text.strip().rstrip("/").removesuffix(".git")
    scheme, mark, rest = plain.partition("://")
    if mark:
        host, slash, path = rest.partition("/")
        return f"{scheme.lower()}://{host.lower()}{slash}{path}"
    return plain


def distinct(campaign: Campaign) -> Iterator[Diagnostic]:
    """`pin.distinct`: the arms differ, unless the campaign says that they are one."""
    baseline = campaign.revisions.get("baseline")
    candidate = campaign.revisions.get("candidate")
    if baseline is None or candidate is None or (campaign.self_check is None and not campaign.fragment):
        return
    left, right = _identity(baseline), _identity(candidate)
    if left is None or right is None:
        return
    from aisimc_compiler.rules.refusal import refuse_value

    check = campaign.self_check
    same = left == right or _same_wheel(left, right)
    if same and not (check and check.value):
        yield refuse_value(
            "pin.distinct",
            _main(candidate),
            "the candidate is the same revision as the baseline",
            label="the baseline's revision again",
            help="name the revision that is to be qualified, or say `self_check = true` in the campaign",
            secondary=(Label(_main(baseline).span, "the baseline"),),
        )
    elif not same and check and check.value:
        yield refuse_value(
            "pin.distinct",
            check,
            "`self_check = true` says that both arms are one revision, and they are two",
            label="not a self check",
            help="remove it, or name one revision in both arms",
            secondary=(
                Label(_main(baseline).span, "the baseline"),
                Label(_main(candidate).span, "the candidate"),
            ),
        )


def _main(revision: Revision) -> Given[str]:
    """The value that a reader takes for the revision."""
    if revision.kind == "embedded" and revision.patch_sha256 is not None:
        return revision.patch_sha256
    found = revision.wheel or revision.commit or revision.embedded or revision.repository
    return found or revision.arm


def relation(campaign: Campaign) -> Iterator[Diagnostic]:
    """`pin.relation`: ancestry is claimed where git can verify it, or the relation is written down."""
    from aisimc_compiler.rules.refusal import refuse, refuse_name

    baseline = campaign.revisions.get("baseline")
    candidate = campaign.revisions.get("candidate")
    if baseline is not None and baseline.relation is not None:
        yield refuse_name(
            "pin.relation",
            baseline.relation,
            "the relation is said by the candidate: it is what the candidate is to the baseline",
            label="stands in the baseline",
            help="move it to `revision candidate`",
        )
    if candidate is None:
        return
    if candidate.relation is not None:
        yield from _stated(candidate.relation, candidate, baseline)
    elif "relation" not in candidate.touched and not (campaign.self_check and campaign.self_check.value):
        misplaced = baseline is not None and "relation" in baseline.touched
        if not campaign.fragment and not misplaced:
            yield refuse(
                "pin.relation",
                candidate.arm.span,
                "how the candidate is related to the baseline is not said",
                label="`relation` is missing",
                help='add `relation = ancestor` when the baseline is an ancestor in git, else say it: `relation = "…"`',
            )


def _stated(given: Given[str], candidate: Revision, baseline: Revision | None) -> Iterator[Diagnostic]:
    from aisimc_compiler.rules.refusal import refuse_value

    if not candidate.relation_is_word:
        if blank(given.value):
            yield refuse_value("pin.relation", given, "the relation is empty", label="says nothing")
        elif given.value.strip().lower() == "ancestor":
            yield refuse_value(
                "pin.relation",
                given,
                "a claimed ancestry is verified in git, and a string is not",
                label="a string is taken as words",
                help="write `ancestor` without quotes for checkouts of one repository; else say it in words",
            )
        return
    if given.value != "ancestor":
        yield refuse_value(
            "pin.relation",
            given,
            f"`{given.value}` is no relation",
            label="takes `ancestor`, or a string in words",
            help="write `ancestor`, or say the relation in double quotes",
        )
    elif candidate.kind and (baseline is None or baseline.kind):
        why = _no_ancestry(candidate, baseline)
        if why:
            yield refuse_value(
                "pin.relation",
                given,
                f"ancestry cannot be verified: {why}",
                label="git cannot say",
                help='say the relation in words: `relation = "…"`',
            )


def _no_ancestry(candidate: Revision, baseline: Revision | None) -> str:
    kinds = {revision.kind for revision in (candidate, baseline) if revision}
    if kinds != {"checkout"}:
        return f"{'wheels record' if 'wheel' in kinds else 'embedded sources record'} none"
    if baseline and baseline.repository and candidate.repository:
        left = repository_identity(baseline.repository.value)
        if left != repository_identity(candidate.repository.value):
            return "the arms come from two repositories"
    return ""


def same_build(campaign: Campaign) -> Iterator[Diagnostic]:
    """`pin.same-build`: what can be built is built by one `build` block, and both arms are built or neither is."""
    from aisimc_compiler.rules.refusal import refuse, refuse_value

    kinds = {arm: revision.kind for arm, revision in campaign.revisions.items() if revision.kind}
    build = campaign.build
    wheels = [arm for arm, kind in kinds.items() if kind == "wheel"]
    if len(kinds) == 2 and len(wheels) == 1:
        other = next(arm for arm in kinds if arm not in wheels)
        yield refuse_value(
            "pin.same-build",
            _main(campaign.revisions["candidate"]),
            f"the {wheels[0]} is a published wheel and the {other} is built here, so they cannot be built alike",
            label="one arm is built, the other is not",
            help="compare two wheels, or two revisions that are built here",
            secondary=(Label(_main(campaign.revisions["baseline"]).span, "the other arm"),),
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


def correction(campaign: Campaign) -> Iterator[Diagnostic]:
    """`pin.correction`: built in by name and needed, or a patch with its checksum."""
    if campaign.determinism is None:
        return
    for entry in campaign.determinism.corrections:
        yield from _correction(campaign, entry)


def _correction(campaign: Campaign, entry: Correction) -> Iterator[Diagnostic]:
    from aisimc_compiler.rules.refusal import refuse_value

    built_in = entry.name.value == closed.BUILT_IN_CORRECTION
    kinds = {revision.kind for revision in campaign.revisions.values()}
    if built_in and (entry.patch or entry.sha256):
        extra = entry.patch or entry.sha256
        assert extra is not None
        yield refuse_value(
            "pin.correction", extra, f"`{entry.name.value}` is built in and takes no patch", label="not a patch"
        )
    elif not built_in and "patch" not in entry.touched:
        yield _not_built_in(entry)
    elif not built_in:
        blank_patch = blank_value("pin.correction", entry.patch, "the correction's patch is empty")
        if blank_patch:
            yield blank_patch
        if entry.patch is not None and "sha256" not in entry.touched:
            yield refuse_value(
                "pin.correction",
                entry.patch,
                "the correction's patch is named without its SHA-256",
                label="a file can be edited",
                help='add `sha256 = "…"`; `aisimc pin` computes it',
            )
        if kinds == {"wheel"}:
            yield refuse_value(
                "pin.correction", entry.name, "a patch cannot be applied to a published wheel", label="nothing is built"
            )
    digest = sha256_fault("pin.correction", entry.sha256, "the patch") if not built_in else None
    if digest:
        yield digest


def _not_built_in(entry: Correction) -> Diagnostic:
    from aisimc_compiler.model.nearest import nearest
    from aisimc_compiler.rules.refusal import refuse_value

    meant = nearest(entry.name.value, (closed.BUILT_IN_CORRECTION,))
    return refuse_value(
        "pin.correction",
        entry.name,
        f"`{entry.name.value}` is no built-in correction, and names no patch",
        label=f"built in is `{closed.BUILT_IN_CORRECTION}`",
        help=f"did you mean `{meant}`?" if meant else 'add `patch = "…"` and its `sha256`',
        replace=meant,
    )


def needless_correction(campaign: Campaign) -> Iterator[Diagnostic]:
    """`pin.correction`: `stable_request_identity` corrects wheels; what is built here needs no such thing."""
    kinds = {revision.kind for revision in campaign.revisions.values()}
    if campaign.determinism is None or "" in kinds or "wheel" in kinds or not kinds:
        return
    from aisimc_compiler.rules.refusal import refuse_value

    for entry in campaign.determinism.corrections:
        if entry.name.value == closed.BUILT_IN_CORRECTION and not (entry.patch or entry.sha256):
            yield refuse_value(
                "pin.correction",
                entry.name,
                "`stable_request_identity` is needless here: the runner that is built honours `canonical_v1` itself",
                label="corrects wheels",
                help="remove the correction",
            )


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


CHECKS: tuple[tuple[str, Rule], ...] = (
    ("name.missing", one_source),
    ("pin.arms", arms),
    ("pin.commit", commit),
    ("pin.wheel", wheel),
    ("pin.embedded", embedded),
    ("pin.distinct", distinct),
    ("pin.relation", relation),
    ("pin.same-build", same_build),
    ("pin.features", features),
    ("pin.correction", correction),
)
