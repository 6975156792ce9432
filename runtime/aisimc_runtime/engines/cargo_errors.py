"""One clear line for each way in which cargo fails, with the place of the whole log."""

from __future__ import annotations

import re
from pathlib import Path

from aisimc_runtime.failures import Blocked
from aisimc_runtime.ports.processes import Finished

_KINDS: tuple[tuple[re.Pattern[str], str], ...] = (
    (
        re.compile(r"no matching package named `|failed to (?:download|fetch)|failed to get `|Could not resolve"),
        "the crates it needs are not in cargo's cache and cannot be downloaded",
    ),
    (
        re.compile(r"lock file .* needs to be updated|because --locked was passed"),
        "the lock file does not fit its manifest",
    ),
    (re.compile(r"does not (?:have|contain) (?:this|that|these|the) feature"), "the core has no such feature"),
    (re.compile(r"failed to select a version"), "no locked versions satisfy the core's dependencies"),
    (re.compile(r"profile `[^`]+` is not defined"), "there is no such profile"),
    (
        re.compile(r"requires rustc|rustc [\d.]+ is not supported|feature `edition20\d\d` is required"),
        "the toolchain is too old for it",
    ),
    (re.compile(r"No space left on device"), "the disk is full"),
    (re.compile(r"linker `[^`]+` not found"), "the system's linker is missing"),
)
_COMPILE = re.compile(r"^error(\[E\d+\])?: (?!could not compile|aborting)(.+)$", re.MULTILINE)
_PLACE = re.compile(r"^\s*--> (.+)$", re.MULTILINE)


def build_failure(done: Finished, log: Path) -> Blocked:
    """What went wrong, as `Blocked` with one line."""
    see = f"the whole log: {log}"
    if done.timed_out:
        return Blocked("the build did not end in time", help=see)
    if done.status < 0:
        return Blocked(f"the build was ended by signal {-done.status}", help=see)
    compiled = _compile_error(done.stderr)
    for pattern, reason in _KINDS:
        if pattern.search(done.stderr):
            detail = _first_error(done.stderr)
            return Blocked(f"the build failed: {reason} ({detail})", help=see)
    if compiled is not None:
        return Blocked(f"the build failed: {compiled}", help=see)
    return Blocked(f"the build failed: {_first_error(done.stderr)}", help=see)


def _compile_error(stderr: str) -> str | None:
    """The compiler's first error with its place; None when the compiler was not reached."""
    match = _COMPILE.search(stderr)
    place = _PLACE.search(stderr, match.end()) if match else None
    if match is None or place is None:
        return None
    return f"{place[1]}: error{match[1] or ''}: {match[2]}"


def _first_error(stderr: str) -> str:
    lines = [line.strip() for line in stderr.splitlines() if line.strip()]
    for line in lines:
        if line.startswith("error"):
            return line.removeprefix("error:").strip()
    return lines[-1] if lines else "no message"
