"""The gate in a terminal: plain lines, no colour of their own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def lines(section: Mapping[str, Any]) -> list[str]:
    """The performance section as lines; the first one is the gate's own result."""
    out = [f"performance: {section['result']} ({section['scope']})"]
    for gate in section["rows"]:
        out.extend(_row(gate))
    out.append(_size(section["size"]))
    return out


def _row(gate: Mapping[str, Any]) -> list[str]:
    out = [f"  {gate['row']}: {gate['result']}: {gate['reason']}"]
    if gate.get("median_ratio") is not None:
        out.append(f"    {_figures(gate)}")
        out.append(f"    {_times(gate)}")
        out.append(f"    {_attempts(gate['attempts'])}")
    out.extend(
        f"    {item['name']} {'not known' if item['value'] is None else format(item['value'], '+.3f')}"
        f" (threshold ±{item['threshold']:g}){', breached' if item['breached'] else ''}"
        for item in gate.get("dependence", ())
        if item["threshold"] is not None
    )
    return out


def _figures(gate: Mapping[str, Any]) -> str:
    bounds, effect = gate["bounds"], gate["effect"]
    text = f"median ratio {gate['median_ratio']:.4f}"
    if bounds["applied"]:
        text += (
            f", one-sided {bounds['one_sided_coverage']:.1%} bounds "
            f"{bounds['lower']:.4f} and {bounds['upper']:.4f} against {gate['threshold']:g}"
        )
    if effect is not None:
        text += (
            f"; secondary, not deciding: geometric mean {effect['geometric_mean']:.4f} "
            f"({effect['level']:.0%} bootstrap {effect['lower']:.4f} to {effect['upper']:.4f})"
        )
    return text


def _times(gate: Mapping[str, Any]) -> str:
    """Medians of each time on both arms, and the ratios by the arm that went first; none of them decides."""
    arms = gate["diagnostics_ms"]
    text = ", ".join(
        f"{what} {arms['baseline'][name]:,.1f} and {arms['candidate'][name]:,.1f} ms"
        for name, what in (
            ("replay_execution_ms", "loop"),
            ("setup_ms", "set-up"),
            ("end_to_end_ms", "end to end"),
        )
    )
    text = f"medians of baseline and candidate: {text}"
    first = gate["order_effect"]
    if first is not None:
        text += (
            f"; median ratio {first['baseline_first_median_ratio']:.4f} with the baseline first, "
            f"{first['candidate_first_median_ratio']:.4f} with the candidate first"
        )
    return text


def _attempts(counts: Mapping[str, int]) -> str:
    text = f"{counts['valid_pairs']} valid pairs of {counts['processes']} processes"
    for key, what in (
        ("invalidated_rounds", "invalidated"),
        ("interrupted_rounds", "interrupted"),
        ("failed", "failed"),
    ):
        if counts[key]:
            text += f", {counts[key]} {what}"
    return text


def _size(size: Mapping[str, Any]) -> str:
    if size["result"] == "NOT_COMPARABLE":
        return "  size: the arms' artifacts do not compare"
    parts = [
        f"{growth['measure']} not known"
        if growth["ratio"] is None
        else f"{growth['measure']} {growth['ratio'] - 1:+.1%}"
        for growth in size["growth"]
    ]
    text = f"  size: {size['result']}: {', '.join(parts)} (allowed +{size['allowed_percent']} %)"
    return text + (f"; explained: {size['explanation']}" if size["explanation"] else "")
