"""What pins a revision, and when two revisions are one."""

from __future__ import annotations

import re

from aisimc_compiler.model import closed
from aisimc_compiler.model.campaign import Given, Revision
from aisimc_compiler.rules.digests import is_hex

_VERSION = (
    r"(?:[0-9]+!)?[0-9]+(?:\.[0-9]+)*(?:[._-]?(?:a|b|c|rc|alpha|beta|pre|preview)[._-]?[0-9]*)?"
    r"(?:-[0-9]+|[._-]?(?:post|rev|r)[._-]?[0-9]*)?(?:[._-]?dev[._-]?[0-9]*)?(?:\+[a-z0-9]+(?:[._-][a-z0-9]+)*)?"
)
_REQUIREMENT = re.compile(rf"\s*([A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)\s*==\s*(v?{_VERSION})\s*", re.I | re.A)


def wheel_pin(text: str) -> tuple[str, str] | None:
    """Name and version of an exact requirement, both normalised; None for anything else."""
    match = _REQUIREMENT.fullmatch(text)
    if match is None:
        return None
    return package_name(match[1]), match[2].lower().removeprefix("v")


def package_name(text: str) -> str:
    """A package's name as indexes compare it (PEP 503)."""
    return re.sub(r"[-_.]+", "-", text).lower()


def repository_identity(text: str) -> str:
    """A repository's address without what does not tell repositories apart."""
    plain = text.strip().rstrip("/").removesuffix(".git")
    scheme, mark, rest = plain.partition("://")
    if mark:
        host, slash, path = rest.partition("/")
        return f"{scheme.lower()}://{host.lower()}{slash}{path}"
    return plain


def identity(revision: Revision) -> tuple[str, ...] | None:
    """What makes a revision this one and no other; None when part of it is missing, or is no digest or commit id.

    Who mistypes a digest is told so, and not that the arms are distinct.
    """
    if revision.sha256 and not is_hex(revision.sha256.value, 64):
        return None
    if revision.kind == "wheel" and revision.wheel and revision.sha256:
        pin = wheel_pin(revision.wheel.value)
        return ("wheel", *pin, revision.sha256.value.lower()) if pin else None
    if revision.kind == "checkout" and revision.repository and revision.commit:
        if not is_hex(revision.commit.value, 40, 64):
            return None
        return "checkout", repository_identity(revision.repository.value), revision.commit.value.lower()
    if revision.kind == "embedded" and revision.embedded and revision.sha256:
        if revision.embedded.value != closed.EMBEDDED_CORE:
            return None
        patch = revision.patch_sha256.value.lower() if revision.patch_sha256 else ""
        if ("patch" in revision.touched) != bool(patch) or (patch and not is_hex(patch, 64)):
            return None
        return "embedded", revision.embedded.value, revision.sha256.value.lower(), patch
    return None


def same_wheel(left: tuple[str, ...], right: tuple[str, ...]) -> bool:
    """Whether two wheels of one hash have one version that is only spelt in two ways (`0.12.0dev1`, `0.12.0.dev1`)."""
    if left[0] != "wheel" or right[0] != "wheel" or (left[1], left[3]) != (right[1], right[3]):
        return False
    from packaging.version import Version

    return Version(left[2]) == Version(right[2])


def main_value(revision: Revision) -> Given[str]:
    """The value that a reader takes for the revision."""
    if revision.kind == "embedded" and revision.patch_sha256 is not None:
        return revision.patch_sha256
    found = revision.wheel or revision.commit or revision.embedded or revision.repository
    return found or revision.arm
