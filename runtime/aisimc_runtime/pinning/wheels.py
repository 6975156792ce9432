"""From a requirement to one exact wheel with its hash, as the index that pip uses states it."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from dataclasses import dataclass
from typing import Any

from packaging.requirements import InvalidRequirement, Requirement
from packaging.version import InvalidVersion, Version

from aisimc_runtime.engines.pip_errors import OFFLINE
from aisimc_runtime.failures import Blocked

_TIMEOUT_S = 900
_NEWEST = 3
"""How many of the wheels that there are an error names."""


@dataclass(frozen=True, slots=True)
class PinnedWheel:
    """One wheel: `requirement` is exact (`name==version`), `sha256` is the wheel file's."""

    requirement: str
    sha256: str


def resolve(text: str) -> PinnedWheel:
    """Ask pip which wheel of this platform a requirement means now, without installing anything.

    Raises `Blocked` when the text is no requirement, pip finds no wheel, or the index states no SHA-256.
    """
    try:
        requirement = Requirement(text)
    except InvalidRequirement as reason:
        raise Blocked(f"{text!r} is not a requirement that pip reads", help='write "aisimulate==VERSION"') from reason
    report = _pip_report(str(requirement))
    for item in report.get("install", []):
        archive = item.get("download_info", {}).get("archive_info", {})
        sha256 = archive.get("hashes", {}).get("sha256")
        metadata = item.get("metadata", {})
        if sha256:
            return PinnedWheel(f"{requirement.name}=={metadata['version']}", sha256)
    raise Blocked(f"the index states no SHA-256 for {requirement}")


def _pip_report(requirement: str) -> dict[str, Any]:
    command = [
        sys.executable, "-m", "pip", "install", "--dry-run", "--quiet", "--ignore-installed", "--no-deps",
        "--only-binary", ":all:", "--pre", "--no-input", "--disable-pip-version-check", "--report", "-", requirement,
    ]  # fmt: skip
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=_TIMEOUT_S, check=False
        )
    except subprocess.TimeoutExpired as reason:
        raise Blocked(f"pip gave no answer about {requirement} within {_TIMEOUT_S} s") from reason
    if done.returncode != 0:
        raise no_wheel(requirement, done.stderr)
    report: dict[str, Any] = json.loads(done.stdout)
    return report


def no_wheel(requirement: str, said: str) -> Blocked:
    """Why pip gave no wheel, from what it said: where the index has others for this machine, the newest of them."""
    lines = [line[7:] for line in said.strip().splitlines() if line.startswith("ERROR")]
    name = Requirement(requirement).name
    if any(word in said for word in OFFLINE):
        return Blocked(
            f"cannot ask for {requirement}: the package index cannot be reached",
            help="write the exact version and the wheel's sha256 where you know them; `aisimc store add FILE.whl` "
            "takes the wheel from elsewhere",
        )
    listed = re.search(r"\(from versions: (.*?)\)", said)
    if listed is None:
        return Blocked(f"pip finds no wheel for {requirement}: {lines[-1] if lines else 'no reason given'}")
    found = sorted(_versions(listed[1]), reverse=True)
    if not found:
        return Blocked(
            f"pip finds no wheel of {name} for this platform and Python",
            help=f"`pip index versions {name} --pre` lists all versions, those without a wheel too",
        )
    newest = ", ".join(str(version) for version in found[:_NEWEST])
    older = f" and {len(found) - _NEWEST} older ones" if len(found) > _NEWEST else ""
    wish = f'"{name}>={found[0].base_version}.dev1"'
    before = f"; builds before a release must be asked for: {wish}" if found[0].is_prerelease else ""
    return Blocked(
        f"the index has no wheel for {requirement} on this platform and Python",
        help=f"it has wheels of {newest}{older}{before}",
    )


def _versions(listed: str) -> list[Version]:
    """The versions in pip's `from versions: …`, which lists what has a wheel; `none` and odd ones left out."""
    found = []
    for word in listed.split(","):
        try:
            found.append(Version(word.strip()))
        except InvalidVersion:
            continue
    return found
