"""What a node is: recorded with every replay, outside the report digest."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any


def node_facts() -> dict[str, Any]:
    """Host name, CPU model, microcode, governor and kernel; null where the machine does not tell."""
    model, microcode = _cpu()
    return {
        "hostname": os.uname().nodename,
        "cpu_model": model,
        "microcode": microcode,
        "governor": _line(Path("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")),
        "kernel": os.uname().release,
    }


def load_average() -> list[float]:
    """Runnable processes over 1, 5 and 15 minutes."""
    return [round(value, 2) for value in os.getloadavg()]


def _cpu() -> tuple[str | None, str | None]:
    found: dict[str, str] = {}
    try:
        with Path("/proc/cpuinfo").open(encoding="utf-8", errors="replace") as stream:
            for line in stream:
                key, _, value = line.partition(":")
                if key.strip() in ("model name", "microcode"):
                    found.setdefault(key.strip(), value.strip())
                if len(found) == 2 or not line.strip():
                    break
    except OSError:
        pass
    return found.get("model name"), found.get("microcode")


def _line(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8").strip() or None
    except OSError:
        return None
