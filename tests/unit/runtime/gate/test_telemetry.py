"""Readings of the node: from files of our own where the machine's cannot be known, and from this machine."""

from __future__ import annotations

from pathlib import Path

from aisimc_runtime.gate.telemetry import CpuTicks, Reading, Telemetry, gate_node_facts

STAT = """cpu  100 10 50 1000 20 5 5 30 0 0
cpu0 60 5 30 500 10 3 3 10 0 0
cpu1 40 5 20 500 10 2 2 20 0 0
intr 1
ctxt 987654
procs_running 3
"""


def machine(folder: Path) -> tuple[Path, Path]:
    """A /proc and /sys with sensors."""
    proc, sys = folder / "proc", folder / "sys"
    (proc / "pressure").mkdir(parents=True)
    (proc / "stat").write_text(STAT)
    (proc / "loadavg").write_text("0.42 0.30 0.10 3/250 4711\n")
    (proc / "pressure/cpu").write_text("some avg10=0.00 avg60=0.00 avg300=0.00 total=12345\nfull total=9\n")
    cpu = sys / "devices/system/cpu/cpu1"
    (cpu / "cpufreq").mkdir(parents=True)
    (cpu / "cpufreq/scaling_cur_freq").write_text("3400000\n")
    (cpu / "thermal_throttle").mkdir()
    (cpu / "thermal_throttle/core_throttle_count").write_text("2\n")
    monitor = sys / "class/hwmon/hwmon0"
    monitor.mkdir(parents=True)
    (monitor / "name").write_text("k10temp\n")
    (monitor / "temp1_input").write_text("51500\n")
    return proc, sys


def test_a_machine_that_tells_everything(tmp_path: Path) -> None:
    proc, sys = machine(tmp_path)
    reading = Telemetry(frozenset({1}), proc, sys).read()
    assert (reading.load1, reading.runnable) == (0.42, 3)
    assert reading.node == CpuTicks(busy=200, steal=30)  # all but idle and iowait
    assert reading.pinned == CpuTicks(busy=89, steal=20)
    assert reading.context_switches == 987654
    assert reading.pressure_us == 12345
    assert (reading.frequency_mhz, reading.temperature_c, reading.throttles) == (3400.0, 51.5, 2)


def test_a_machine_that_tells_nothing(tmp_path: Path) -> None:
    reading = Telemetry(frozenset({0}), tmp_path / "proc", tmp_path / "sys").read()
    assert set(reading.to_json()) == {"at_s", "suspended_s"}


def test_ticks_of_cpus_that_are_gone_are_not_made_up(tmp_path: Path) -> None:
    proc, sys = machine(tmp_path)
    assert Telemetry(frozenset({1, 7}), proc, sys).read().pinned is None


def test_a_broken_sensor_is_no_reading(tmp_path: Path) -> None:
    proc, sys = machine(tmp_path)
    (sys / "class/hwmon/hwmon0/temp1_input").write_text("n/a\n")
    assert Telemetry(frozenset({1}), proc, sys).read().temperature_c is None


def test_a_reading_reads_back(tmp_path: Path) -> None:
    proc, sys = machine(tmp_path)
    reading = Telemetry(frozenset({0, 1}), proc, sys).read()
    assert Reading.from_json(reading.to_json()) == reading


def test_this_machine_can_be_read() -> None:
    first, second = Telemetry(frozenset({0})).read(), Telemetry(frozenset({0})).read()
    assert second.at_s >= first.at_s
    assert (second.context_switches or 0) >= (first.context_switches or 0)
    assert "hostname" in gate_node_facts()
