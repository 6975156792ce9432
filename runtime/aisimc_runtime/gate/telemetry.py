"""What the node tells at one moment, read from /proc and /sys in well under a millisecond.

Whatever a machine does not tell is left out of the record, never invented. Virtual machines commonly tell
neither frequency nor temperature.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from aisimc_runtime.run.node import node_facts

PROC = Path("/proc")
SYS = Path("/sys")
TICK_S = 1 / os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class CpuTicks:
    """Ticks since boot that a set of CPUs spent busy (steal included) and stolen by the hypervisor."""

    busy: int
    steal: int


@dataclass(frozen=True, slots=True)
class Reading:
    """The node at one moment."""

    at_s: float
    """Monotonic clock, seconds."""
    suspended_s: float
    """Seconds that the node has been suspended since boot; it grows when a lid was closed."""
    load1: float | None = None
    runnable: int | None = None
    """Runnable tasks on the whole node, the reader among them."""
    node: CpuTicks | None = None
    """All CPUs together."""
    pinned: CpuTicks | None = None
    """The CPUs that the samples are pinned to."""
    context_switches: int | None = None
    """Of the whole node since boot."""
    pressure_us: int | None = None
    """Microseconds since boot in which some task of the node waited for a CPU."""
    frequency_mhz: float | None = None
    """Of the first pinned CPU."""
    temperature_c: float | None = None
    throttles: int | None = None
    """Times that the first pinned CPU was throttled for heat, since boot."""

    def to_json(self) -> dict[str, Any]:
        """The reading without what is not known."""
        return {key: value for key, value in asdict(self).items() if value is not None}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Reading:
        """Read back what `to_json` wrote."""
        known = dict(data)
        for key in ("node", "pinned"):
            if key in known:
                known[key] = CpuTicks(**known[key])
        return cls(**known)


@dataclass(frozen=True, slots=True)
class Telemetry:
    """A reader for one set of pinned CPUs; it finds the sensors once."""

    cpus: frozenset[int]
    proc: Path = PROC
    sys: Path = SYS
    _frequency: Path | None = field(init=False)
    _temperature: Path | None = field(init=False)
    _throttle: Path | None = field(init=False)

    def __post_init__(self) -> None:
        cpu = self.sys / f"devices/system/cpu/cpu{min(self.cpus)}"
        frequency = cpu / "cpufreq/scaling_cur_freq"
        throttle = cpu / "thermal_throttle/core_throttle_count"
        object.__setattr__(self, "_frequency", frequency if frequency.is_file() else None)
        object.__setattr__(self, "_temperature", _find_temperature(self.sys))
        object.__setattr__(self, "_throttle", throttle if throttle.is_file() else None)

    def read(self) -> Reading:
        """The node now; never raises for something that this machine does not have."""
        load, runnable = _load(self.proc)
        node, pinned, switches = _ticks(self.proc, self.cpus)
        hertz, milli = _number(self._frequency), _number(self._temperature)
        throttles = _number(self._throttle)
        now = time.monotonic()
        return Reading(
            at_s=now,
            suspended_s=round(max(0.0, time.clock_gettime(time.CLOCK_BOOTTIME) - now), 3),
            load1=load,
            runnable=runnable,
            node=node,
            pinned=pinned,
            context_switches=switches,
            pressure_us=_pressure(self.proc),
            frequency_mhz=None if hertz is None else hertz / 1000,
            temperature_c=None if milli is None else milli / 1000,
            throttles=None if throttles is None else int(throttles),
        )


def gate_node_facts() -> dict[str, Any]:
    """Which machine this is, and what of it bears on timing; `boot_id` tells a reboot between two sessions."""
    facts = node_facts() | {
        "boot_id": _text(PROC / "sys/kernel/random/boot_id"),
        "cpus": os.cpu_count(),
        "turbo_disabled": _text(SYS / "devices/system/cpu/intel_pstate/no_turbo"),
        "boost": _text(SYS / "devices/system/cpu/cpufreq/boost"),
        "smt": _text(SYS / "devices/system/cpu/smt/active"),
    }
    return {key: value for key, value in facts.items() if value is not None}


def _load(proc: Path) -> tuple[float | None, int | None]:
    fields = (_text(proc / "loadavg") or "").split()
    if len(fields) < 4:
        return None, None
    return float(fields[0]), int(fields[3].partition("/")[0])


def _ticks(proc: Path, cpus: Iterable[int]) -> tuple[CpuTicks | None, CpuTicks | None, int | None]:
    """Node, pinned CPUs and context switches from /proc/stat."""
    wanted = {f"cpu{cpu}" for cpu in cpus}
    node: CpuTicks | None = None
    busy = steal = seen = 0
    switches: int | None = None
    for line in (_text(proc / "stat") or "").splitlines():
        name, *fields = line.split()
        if name == "cpu":
            node = _cpu_ticks(fields)
        elif name in wanted:
            ticks = _cpu_ticks(fields)
            busy, steal, seen = busy + ticks.busy, steal + ticks.steal, seen + 1
        elif name == "ctxt":
            switches = int(fields[0])
    return node, CpuTicks(busy, steal) if seen == len(wanted) else None, switches


def _cpu_ticks(fields: list[str]) -> CpuTicks:
    """user nice system idle iowait irq softirq steal …: everything but the two idle columns is busy."""
    values = [int(value) for value in fields[:8]] + [0] * (8 - min(8, len(fields)))
    return CpuTicks(busy=sum(values) - values[3] - values[4], steal=values[7])


def _pressure(proc: Path) -> int | None:
    first = (_text(proc / "pressure/cpu") or "").partition("\n")[0]
    _, found, total = first.partition("total=")
    return int(total) if found else None


def _find_temperature(sys: Path) -> Path | None:
    """The package sensor, by the names that the kernel's drivers give it."""
    for zone in sorted(sys.glob("class/thermal/thermal_zone*")):
        if _text(zone / "type") in ("x86_pkg_temp", "cpu-thermal", "cpu_thermal", "soc_thermal"):
            return zone / "temp"
    for monitor in sorted(sys.glob("class/hwmon/hwmon*")):
        if _text(monitor / "name") in ("coretemp", "k10temp", "zenpower", "cpu_thermal"):
            return monitor / "temp1_input"
    return None


def _number(path: Path | None) -> float | None:
    text = None if path is None else _text(path)
    try:
        return None if text is None else float(text)
    except ValueError:
        return None


def _text(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return None
