"""How a person names a revision on the command line, and the block that says so in a campaign."""

from __future__ import annotations

import re

from packaging.requirements import InvalidRequirement, Requirement

from aisimc_compiler.model.nearest import nearest
from aisimc_compiler.rules.refusal import did_you_mean
from aisimc_runtime.failures import Refused
from aisimc_runtime.pinning.edits import quoted

FORMS = "aisimulate==VERSION for a wheel, REPOSITORY@COMMIT for a checkout, or embedded"
_WHEEL, _CORE = "aisimulate", "embedded"


def block(arm: str, named: str, relation: str | None) -> str:
    """The `revision` block of an arm.

    `named` is `aisimulate==VERSION` (a wheel), `REPOSITORY@COMMIT` (a checkout) or `embedded[+PATCHFILE]`. What is
    not exact yet is left for `aisimc pin`. Raises `Refused` for anything else.
    """
    lines = [f"revision {arm} {{", *(f"  {line}" for line in _source(named))]
    if relation is not None:
        lines.append(f"  relation = {relation if relation == 'ancestor' else quoted(relation)}")
    return "\n".join([*lines, "}"])


def needs_build(*named: str) -> bool:
    """Whether any of the revisions is built from source and so wants a `build` block."""
    return any(name.startswith("embedded") or "@" in name for name in named)


def honours_no_canonical_mode(named: str) -> bool:
    """Whether a wheel is one of the published builds from before 13 October 2026, which ignore `canonical_v1`.

    From the published builds: 0.1.0 and 0.12.0 lines, and 0.13.0.dev up to 20260927.
    """
    version = named.partition("==")[2].strip()
    if version.startswith(("0.1.", "0.12.")):
        return True
    stamp = re.fullmatch(r"0\.13\.0\.dev(\d{8})\d+", version)
    return stamp is not None and int(stamp[1]) < 20261013


def checked(text: str) -> str:
    """The text itself where it names a revision. Raises `Refused`, with the forms that do."""
    _source(text)
    return text


def _source(named: str) -> list[str]:
    if named.startswith(_CORE):
        core, _, patch = named.partition("+")
        if core != _CORE:
            raise Refused(f"`{named}` names no revision", help="write embedded, or embedded+patches/NAME.patch")
        patched = [f"patch    = {quoted(patch)}"] if patch else []
        return ['embedded = "reference-core"', *patched]
    repository, _, commit = named.rpartition("@")
    if repository and commit:
        return [f"repository = {quoted(repository)}", f"commit     = {quoted(commit)}"]
    if _is_wheel(named):
        return [f"wheel = {quoted(named)}"]
    near = nearest(named.partition("+")[0], (_CORE,))
    raise Refused(f"`{named}` names no revision", help=did_you_mean(near, f"write {FORMS}"))


def _is_wheel(named: str) -> bool:
    """Whether pip reads the text as a requirement that says a version; the simulator's own name may stand alone."""
    try:
        requirement = Requirement(named)
    except InvalidRequirement:
        return False
    return bool(requirement.specifier) or requirement.name == _WHEEL
