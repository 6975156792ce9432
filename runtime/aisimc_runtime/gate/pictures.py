"""The ratios as one SVG: in run order on the left, sorted with both bounds on the right.

Colours are `currentColor` and CSS variables with fallbacks, so that the same picture stands on a light and
on a dark page. Nothing in it depends on fonts or scripts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from math import log
from typing import Any, NamedTuple

WIDTH, HEIGHT = 960, 320
TOP, BOTTOM = 46, 40
PANEL_WIDTH = 400
LEFT_PANEL, RIGHT_PANEL = 58, 540

_RULES = (
    "text{font:12px system-ui,sans-serif;fill:currentColor}",
    ".t{font-weight:600}",
    ".m{opacity:.75}",
    ".a{stroke:currentColor;stroke-width:1;fill:none;opacity:.35}",
    ".b{fill:var(--gate-baseline-first,#3b82f6)}",
    ".c{fill:var(--gate-candidate-first,#d97706)}",
    ".l{stroke:var(--gate-threshold,#dc2626);stroke-width:1.5;fill:none}",
    ".d{stroke:var(--gate-bound,#0d9488);stroke-width:1.5;stroke-dasharray:5 4;fill:none}",
    ".k{fill:none;stroke:var(--gate-bound,#0d9488);stroke-width:2}",
)
# Inside a page the rules of one drawing are the page's, so each is kept to drawings of this class.
STYLE = "".join(f".gate-ratios {rule}" for rule in _RULES)
OPENING = (
    f'<svg xmlns="http://www.w3.org/2000/svg" class="gate-ratios" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
    f'style="max-width:{WIDTH}px;width:100%;color:inherit">'
)


class Scale(NamedTuple):
    """The vertical scale that both panels share: logarithmic, so that twice and half are equally far from 1."""

    low: float
    high: float

    def y(self, ratio: float) -> float:
        """Pixels from the top."""
        return round(TOP + log(self.high / ratio) / log(self.high / self.low) * (HEIGHT - TOP - BOTTOM), 2)


def ratios_svg(gate: Mapping[str, Any]) -> str:
    """The picture of one row's gate; an empty string where there are no ratios to show."""
    pairs: Sequence[Mapping[str, Any]] = gate.get("pairs") or []
    if not pairs:
        return ""
    ratios = [pair["ratio"] for pair in pairs]
    scale = _scale(ratios, gate["threshold"])
    parts = [
        OPENING,
        f"<title>{escape(gate['row'])}: {escape(gate['result'])}</title>",
        f"<desc>{escape(_description(gate, ratios))}</desc>",
        f"<style>{STYLE}</style>",
        *_panel(LEFT_PANEL, "in run order", "pair", scale, gate["threshold"]),
        *_panel(RIGHT_PANEL, "sorted", "rank", scale, gate["threshold"]),
        *_points(LEFT_PANEL, pairs, scale),
        *_points(RIGHT_PANEL, sorted(pairs, key=lambda pair: pair["ratio"]), scale),
        *_bounds(gate["bounds"], scale),
        *_legend(),
        "</svg>",
    ]
    return "".join(parts)


def _description(gate: Mapping[str, Any], ratios: Sequence[float]) -> str:
    bounds = gate["bounds"]
    text = f"{len(ratios)} ratios of candidate to baseline, from {min(ratios):.4f} to {max(ratios):.4f}"
    if bounds["applied"]:
        return f"{text}; bounds of the median {bounds['lower']:.4f} and {bounds['upper']:.4f}"
    return f"{text}; the bounds were not applied"


def _scale(ratios: Sequence[float], threshold: float) -> Scale:
    low, high = min(*ratios, 1.0, threshold), max(*ratios, 1.0, threshold)
    margin = (high / low) ** 0.06
    return Scale(low / margin, high * margin)


def _panel(left: int, title: str, axis: str, scale: Scale, threshold: float) -> list[str]:
    right, floor = left + PANEL_WIDTH, HEIGHT - BOTTOM
    one, limit = scale.y(1.0), scale.y(threshold)
    parts = [
        f'<text class="t" x="{left}" y="18">{title}</text>',
        f'<path class="a" d="M{left} {TOP}V{floor}H{right}"/>',
        f'<path class="a" d="M{left} {one}H{right}"/>',
        f'<path class="l" d="M{left} {limit}H{right}"/>',
        f'<text x="{left - 6}" y="{limit + 4}" text-anchor="end">{threshold:g}</text>',
        f'<text class="m" x="{left}" y="{HEIGHT - 22}">{axis} 1</text>',
        f'<text class="m" x="{right}" y="{HEIGHT - 22}" text-anchor="end">60</text>',
    ]
    # Labels that would overprint each other are left to the threshold, which decides.
    if abs(one - limit) > 14:
        parts.append(f'<text class="m" x="{left - 6}" y="{one + 4}" text-anchor="end">1</text>')
    parts.extend(
        f'<text class="m" x="{left - 6}" y="{scale.y(value) + 4}" text-anchor="end">{value:.3f}</text>'
        for value in scale
        if min(abs(scale.y(value) - one), abs(scale.y(value) - limit)) > 14
    )
    return parts


def _points(left: int, pairs: Sequence[Mapping[str, Any]], scale: Scale) -> list[str]:
    return [
        f'<circle class="{"b" if pair["first"] == "baseline" else "c"}" r="3" '
        f'cx="{_x(left, place)}" cy="{scale.y(pair["ratio"])}"/>'
        for place, pair in enumerate(pairs)
    ]


def _x(left: int, place: int) -> float:
    return round(left + (place + 0.5) * PANEL_WIDTH / 60, 2)


def _bounds(bounds: Mapping[str, Any], scale: Scale) -> list[str]:
    right = RIGHT_PANEL + PANEL_WIDTH
    if not bounds["applied"]:
        return [f'<text class="m" x="{right}" y="18" text-anchor="end">bounds not applied</text>']
    parts: list[str] = []
    for side in ("lower", "upper"):
        value, order = bounds[side], bounds[f"{side}_order"]
        parts += [
            f'<path class="d" d="M{RIGHT_PANEL} {scale.y(value)}H{right}"/>',
            f'<circle class="k" r="5" cx="{_x(RIGHT_PANEL, order - 1)}" cy="{scale.y(value)}"/>',
        ]
    text = f"median in [{bounds['lower']:.4f}, {bounds['upper']:.4f}]"
    return [*parts, f'<text x="{right}" y="18" text-anchor="end">{text}</text>']


def _legend() -> list[str]:
    y = HEIGHT - 6
    return [
        f'<circle class="b" r="4" cx="{LEFT_PANEL + 4}" cy="{y - 4}"/>',
        f'<text class="m" x="{LEFT_PANEL + 14}" y="{y}">baseline first</text>',
        f'<circle class="c" r="4" cx="{LEFT_PANEL + 120}" cy="{y - 4}"/>',
        f'<text class="m" x="{LEFT_PANEL + 130}" y="{y}">candidate first</text>',
        f'<path class="l" d="M{RIGHT_PANEL} {y - 4}h22"/>',
        f'<text class="m" x="{RIGHT_PANEL + 28}" y="{y}">threshold</text>',
        f'<path class="d" d="M{RIGHT_PANEL + 110} {y - 4}h22"/>',
        f'<text class="m" x="{RIGHT_PANEL + 138}" y="{y}">24th and 37th smallest of 60: the 95 % bounds</text>',
    ]
