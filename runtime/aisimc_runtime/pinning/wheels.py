"""From a requirement to one exact wheel with its hash, as the index that pip uses states it."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from typing import Any

from packaging.requirements import InvalidRequirement, Requirement

from aisimc_runtime.failures import Blocked

_TIMEOUT_S = 900


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
        lines = [line for line in done.stderr.strip().splitlines() if line.startswith("ERROR")]
        raise Blocked(f"pip finds no wheel for {requirement}: {lines[-1][7:] if lines else 'no reason given'}")
    report: dict[str, Any] = json.loads(done.stdout)
    return report
