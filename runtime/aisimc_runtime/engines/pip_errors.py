"""pip's many words, as the one line that says why a wheel could not be had."""

from __future__ import annotations

import re

from aisimc_runtime.failures import Blocked
from aisimc_runtime.ports.processes import Finished

OFFLINE = (
    "NewConnectionError",
    "NameResolutionError",
    "name resolution",
    "Connection refused",
    "Network is unreachable",
    "ConnectTimeoutError",
    "ReadTimeoutError",
    "ProxyError",
    "SSLError",
    "Max retries exceeded",
)


def explain_pip(requirement: str, pinned: str, done: Finished) -> Blocked:
    """The reason behind pip's failure, with what to do about it."""
    text = done.stderr + done.stdout
    if done.timed_out:
        return Blocked(f"fetching {requirement} took too long and was ended", help="run again: it starts over")
    if "DO NOT MATCH THE HASHES" in text:
        got = re.search(r"Got\s+([0-9a-f]{64})", text)
        found = f"the index offers {got[1]}" if got else "the index offers other bytes"
        return Blocked(
            f"{requirement} is not what was pinned: {found}, the campaign pins {pinned}",
            help="a wrong hash, or the file for another platform: `aisimc pin --refresh` writes the one that the index "
            "states for this machine",
        )
    if "No space left on device" in text:
        return Blocked(f"cannot fetch {requirement}: no space left on device", help="make room and run again")
    if any(word in text for word in OFFLINE):
        return Blocked(
            f"cannot fetch {requirement}: the package index cannot be reached",
            help="on a machine without network: `aisimc store add FILE.whl` with the wheel from elsewhere",
        )
    if "No matching distribution" in text or "Could not find a version" in text:
        return Blocked(
            f"the index has no wheel {requirement} for this platform and Python",
            help="check the version; an sdist is not used. `aisimc store add FILE.whl` takes a wheel by content",
        )
    if "No module named pip" in text:
        return Blocked(f"cannot fetch {requirement}: this Python has no pip", help="install pip beside aisimc")
    lines = [line for line in done.stderr.strip().splitlines() if line.strip()]
    reason = lines[-1].removeprefix("ERROR: ") if lines else f"pip ended with status {done.status}"
    return Blocked(f"cannot fetch {requirement}: {reason}")
