"""The small pictures of a row as inline SVG: how long requests took, and what happened over virtual time.

All of one size, which is legible on a phone at its own scale; on a wide page they stand side by side. The baseline is a
broad line, the candidate a thin dashed one over it, so that equal arms show both.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from aisimc_compiler.rules.refusal import plural
from aisimc_runtime.report.html.markup import text
from aisimc_runtime.sizes import in_ms

WIDTH, HEIGHT = 360, 210
LEFT, RIGHT, TOP, BOTTOM = 50, 10, 12, 30


class Line(NamedTuple):
    """Points of one arm in the units of the axes."""

    css: str
    points: Sequence[tuple[float, float]]


class Scale(NamedTuple):
    """One axis: data range to pixels, straight or logarithmic."""

    low: float
    high: float
    first: float
    last: float
    log: bool = False

    def at(self, value: float) -> float:
        """Pixel of a value, kept inside the axis."""
        low, high, here = (self.low, self.high, value)
        if self.log:
            low, high, here = math.log10(low), math.log10(high), math.log10(max(value, self.low))
        share = 0.0 if high == low else (here - low) / (high - low)
        return round(self.first + min(max(share, 0.0), 1.0) * (self.last - self.first), 1)


def quantile_chart(title: str, arms: dict[str, list[float]]) -> str:
    """Quantile curves of both arms: percentile to the right, time (log) upwards. Empty without data."""
    values = [value for curve in arms.values() for value in curve]
    positive = [value for value in values if value > 0]
    if not positive:
        return ""
    y = _time_scale(min(positive), max(positive))
    x = Scale(0, 100, LEFT, WIDTH - RIGHT)
    lines = [
        Line("la" if arm == "baseline" else "lb", [(i * 100 / (len(curve) - 1), v) for i, v in enumerate(curve)])
        for arm, curve in arms.items()
        if len(curve) > 1
    ]
    parts = [*_y_axis(y), *_percent_axis(x), *(_path(line, x, y) for line in lines)]
    middle = {arm: duration(curve[len(curve) // 2]) for arm, curve in arms.items() if curve}
    said = "; ".join(f"{arm}: half of the requests take at most {value}" for arm, value in middle.items())
    return _figure(title, "by percentile of requests", said, parts)


def timeline_chart(
    curves: dict[str, Any], parting_ms: float | None, *, requests: int, title: str = "Completed over virtual time"
) -> str:
    """Completions of both arms over virtual time, pressure events on the axis, and where the arms part."""
    arms = {arm: found["completions"] for arm, found in curves.items() if found["completions"]["done"]}
    if not arms:
        return ""
    until = max(float(found["until_ms"]) for found in arms.values()) or 1.0
    x = Scale(0, until, LEFT, WIDTH - RIGHT)
    y = Scale(0, max(requests, 1), HEIGHT - BOTTOM - 14, TOP)
    parts = [*_count_axis(y, requests), *_time_axis(x, until)]
    parts += [_path(Line("la" if arm == "baseline" else "lb", _steps(found)), x, y) for arm, found in arms.items()]
    for arm, found in curves.items():
        parts += [_event(event, x, arm) for event in found["pressure"] if event["at_ms"] is not None]
    if parting_ms is not None:
        parts += _parting(x, parting_ms)
    counts = ", ".join(
        f"{plural(len(found['pressure']), 'pressure event')} on the {arm}" for arm, found in curves.items()
    )
    said = counts + (f"; the arms part at {in_ms(parting_ms)} ms" if parting_ms is not None else "")
    return _figure(title, "", said, parts)


def drift_chart(drift: dict[str, Any] | None, parting_ms: float | None) -> str:
    """How much later or earlier requests end on the candidate, over their arrival. Empty where none differs."""
    if drift is None:
        return ""
    low, high, until = min(0.0, *drift["low"]), max(0.0, *drift["high"]), float(drift["until_ms"]) or 1.0
    x, y = Scale(0, until, LEFT, WIDTH - RIGHT), Scale(low * 1.05, high * 1.05 or 1.0, HEIGHT - BOTTOM - 4, TOP)
    ticks = [value for value in (low, 0.0, high) if value == 0 or abs(y.at(value) - y.at(0)) > 16]
    parts = [*(_grid(y.at(value), signed(value)) for value in ticks), *_time_axis(x, until)]
    edges = [(until * (index + 0.5) / len(drift["low"])) for index in range(len(drift["low"]))]
    there = [f"{x.at(edge)},{y.at(value)}" for edge, value in zip(edges, drift["high"], strict=True)]
    back = [f"{x.at(edge)},{y.at(value)}" for edge, value in zip(edges, drift["low"], strict=True)]
    parts.append(f'<polygon class="band" points="{" ".join([*there, *reversed(back)])}"/>')
    if parting_ms is not None and parting_ms <= until:
        parts += _parting(x, parting_ms)
    said = f"requests end from {signed(low)} to {signed(high)} against the baseline"
    return _figure("Candidate against baseline", "ends by arrival", said, parts)


def signed(ms: float) -> str:
    """A shift in virtual time, with its sign."""
    return "0" if ms == 0 else f"{'+' if ms > 0 else '−'}{duration(abs(ms))}"


def duration(ms: float) -> str:
    """A length of virtual time in the unit that suits it."""
    for factor, unit in ((60_000, "min"), (1000, "s"), (1, "ms")):
        if ms >= factor * (10 if unit == "min" else 1):
            return f"{float(f'{ms / factor:.3g}'):,g} {unit}"
    return f"{ms:.2g} ms"


def _figure(title: str, axis: str, said: str, parts: list[str]) -> str:
    return (
        f"<figure><figcaption><b>{text(title)}</b>{text(', ' + axis if axis else '')}</figcaption>"
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{text(f"{title}. {said}")}">'
        f"{''.join(parts)}</svg></figure>"
    )


def _time_scale(low: float, high: float) -> Scale:
    bottom, top = HEIGHT - BOTTOM, TOP
    if high / low < 4:
        return Scale(0, high * 1.05, bottom, top)
    return Scale(max(low / 1.1, high / 1e5), high * 1.1, bottom, top, log=True)


def _y_axis(y: Scale) -> list[str]:
    ticks = _decades(y) if y.log else _nice(y.high)
    return [_grid(y.at(value), _tick(value)) for value in ticks]


def _tick(ms: float) -> str:
    return "0" if ms == 0 else f"{ms / 1000:,g} s" if ms >= 1000 else f"{ms:g} ms"


def _decades(y: Scale) -> list[float]:
    """Powers of ten, with 3 (or 2 and 5) between them where the axis spans only a few."""
    first, last = math.floor(math.log10(y.low)), math.ceil(math.log10(y.high))
    for steps in ((1,), (1, 3), (1, 2, 5)):
        ticks = [step * 10.0**exponent for exponent in range(first, last + 1) for step in steps]
        ticks = [tick for tick in ticks if y.low <= tick <= y.high]
        if len(ticks) >= 3:
            break
    return ticks


def _nice(high: float) -> list[float]:
    """Three to five round values from 0 up to `high`."""
    raw = high / 4
    power = 10.0 ** math.floor(math.log10(raw)) if raw > 0 else 1.0
    step = next(factor * power for factor in (1, 2, 2.5, 5, 10) if factor * power >= raw)
    return [step * index for index in range(int(high / step) + 1)]


def _grid(at: float, label: str) -> str:
    return (
        f'<line class="axis" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{at}" y2="{at}"/>'
        f'<text x="{LEFT - 6}" y="{at + 3.5}" text-anchor="end">{text(label)}</text>'
    )


def _percent_axis(x: Scale) -> list[str]:
    return [_below(x.at(value), f"{value} %", value, 100) for value in (0, 25, 50, 75, 100)]


def _time_axis(x: Scale, until: float) -> list[str]:
    factor, unit = (60_000, "min") if until >= 600_000 else (1000, "s") if until >= 1000 else (1, "ms")
    ticks = _nice(until / factor)
    labels = [f"{value:,g} {unit}" if value else "0" for value in ticks]
    return [_below(x.at(value * factor), label, value, ticks[-1]) for value, label in zip(ticks, labels, strict=True)]


def _below(at: float, label: str, value: float, highest: float) -> str:
    anchor = "end" if value >= highest * 0.97 else "start" if value == 0 else "middle"
    return f'<text x="{at}" y="{HEIGHT - 10}" text-anchor="{anchor}">{text(label)}</text>'


def _count_axis(y: Scale, requests: int) -> list[str]:
    return [_grid(y.at(value), f"{value:,.0f}") for value in (0, requests / 2, requests) if value == int(value)]


def _steps(completions: dict[str, Any]) -> list[tuple[float, float]]:
    until, done = float(completions["until_ms"]), completions["done"]
    return [(0.0, 0.0), *((until * (index + 1) / len(done), float(count)) for index, count in enumerate(done))]


def _path(line: Line, x: Scale, y: Scale) -> str:
    points = " ".join(f"{x.at(a)},{y.at(b)}" for a, b in line.points)
    return f'<polyline class="{line.css}" points="{points}"/>'


def _event(event: dict[str, Any], x: Scale, arm: str) -> str:
    """A triangle on the time axis: the baseline's above the line, the candidate's below."""
    at, base = x.at(float(event["at_ms"])), HEIGHT - BOTTOM - 2
    tip, css = (base - 9, "pa") if arm == "baseline" else (base + 9, "pb")
    label = f"{event['what']} of {event['request']} at {in_ms(event['at_ms'])} ms ({arm})"
    return (
        f'<path class="{css}" d="M{at - 4.5},{base} L{at + 4.5},{base} L{at},{tip} Z">'
        f"<title>{text(label)}</title></path>"
    )


def _parting(x: Scale, at_ms: float) -> list[str]:
    at = x.at(at_ms)
    right = at < WIDTH * 0.6
    side = f'x="{at + 5}" text-anchor="start"' if right else f'x="{at - 5}" text-anchor="end"'
    return [
        f'<line class="part" x1="{at}" x2="{at}" y1="{TOP}" y2="{HEIGHT - BOTTOM}"/>',
        f'<text class="partword" y="{TOP + 8}" {side}>they part</text>',
    ]
