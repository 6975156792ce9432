"""The performance gate's design: metric, numbers, and what has to be declared before the first sample."""

from __future__ import annotations

from collections.abc import Iterator

from aisimc_compiler.diagnostics.model import Diagnostic, Label
from aisimc_compiler.hints import Any
from aisimc_compiler.model import closed
from aisimc_compiler.model.campaign import Campaign, Given, Performance
from aisimc_compiler.rules.digests import blank, blank_value
from aisimc_compiler.rules.language import Rule

_EXAMPLES = {
    "seed": "write a number of your choice: `seed = 20261129`",
    "diagnostics": "write `diagnostics { lag1_autocorrelation = 0.30 order_trend = 0.30 }`",
    "exchangeability": "say in `exchangeability` why the samples may be taken as exchangeable",
    "invalidate_on": "name in `invalidate_on` the conditions of the machine that invalidate a pair",
}


def boundary(campaign: Campaign) -> Iterator[Diagnostic]:
    """`perf.boundary`: the metric is `replay_execution_ms`."""
    given = _part(campaign, "metric")
    if given is not None and given.value != closed.METRIC:
        from aisimc_compiler.model.nearest import nearest
        from aisimc_compiler.rules.refusal import did_you_mean, refuse_value

        typo = nearest(given.value, (closed.METRIC,))
        yield refuse_value(
            "perf.boundary",
            given,
            f"there is no metric `{given.value}`" if typo else f"`{given.value}` is not the time of the replay loop",
            label=f"takes only `{closed.METRIC}`",
            help=did_you_mean(typo, f"write `{closed.METRIC}`"),
            replace=closed.METRIC,
        )


def _part(campaign: Campaign, name: str) -> Given[Any] | None:
    return campaign.performance.parts.get(name) if campaign.performance else None


def design(campaign: Campaign) -> Iterator[Diagnostic]:
    """`perf.design`: five warm-ups for each arm, 60 pairs, a seed, 1.05."""
    from aisimc_compiler.rules.refusal import refuse_value

    for name, only, noun in (
        ("warmups", closed.WARMUPS, "warm-ups for each arm"),
        ("pairs", closed.PAIRS, "pairs"),
    ):
        given = _part(campaign, name)
        if given is not None and given.value != only:
            yield refuse_value(
                "perf.design",
                given,
                f"the gate is designed with {only} {noun}, not with {given.value:,}",
                label=f"takes only {only}",
                help=f"write `{only}`",
                replace=str(only),
            )
    threshold = _part(campaign, "threshold")
    if threshold is not None and threshold.value != closed.THRESHOLD:
        yield refuse_value(
            "perf.design",
            threshold,
            f"the gate's threshold is {closed.THRESHOLD}, not {threshold.value}",
            label=f"takes only {closed.THRESHOLD}",
            help=f"write `{closed.THRESHOLD}`",
            replace=str(closed.THRESHOLD),
        )
    seed = _part(campaign, "seed")
    if seed is not None and seed.value < 0:
        yield refuse_value("perf.design", seed, "a seed is not negative", label="takes 0 or more")


def predeclared(campaign: Campaign) -> Iterator[Diagnostic]:
    """`perf.predeclared`: seed, diagnostics, exchangeability and invalidating conditions are in the spec."""
    gate = campaign.performance
    if gate is None:
        return
    from aisimc_compiler.rules.refusal import listed, refuse

    missing = [name for name in ("seed", "diagnostics", "exchangeability", "invalidate_on") if name not in gate.touched]
    if missing:
        lacks = listed(missing, last="and")
        yield refuse(
            "perf.predeclared",
            gate.keyword,
            f"the gate does not declare its {lacks}",
            label=f"{lacks} {'is' if len(missing) == 1 else 'are'} missing",
            help="\n".join(_EXAMPLES[name] for name in missing),
        )
    fault = blank_value(
        "perf.predeclared",
        gate.parts.get("exchangeability"),
        "the exchangeability argument is empty",
        "say why the samples may be taken as exchangeable",
    )
    if fault:
        yield fault
    yield from _diagnostics(gate)
    yield from _conditions(gate.parts.get("invalidate_on"))
    explanation = blank_value("perf.size", gate.parts.get("size_explanation"), "the explanation of the size is empty")
    if explanation:
        yield explanation


def _diagnostics(gate: Performance) -> Iterator[Diagnostic]:
    if gate.diagnostics is None or gate.diagnostics_keyword is None:
        return
    from aisimc_compiler.rules.refusal import listed, refuse, refuse_value

    missing = [name for name in ("lag1_autocorrelation", "order_trend") if name not in gate.diagnostics_touched]
    if missing:
        lacks = listed(missing, last="and")
        yield refuse(
            "perf.predeclared",
            gate.diagnostics_keyword,
            f"the diagnostics do not bound their {lacks}",
            label=f"{lacks} {'is' if len(missing) == 1 else 'are'} missing",
        )
    for name, given in gate.diagnostics.items():
        if not 0 < given.value < 1:
            yield refuse_value(
                "perf.predeclared",
                given,
                f"`{name}` bounds the absolute value of a correlation, and {given.value} bounds nothing",
                label="takes more than 0 and less than 1",
            )


def _conditions(given: Given[Any] | None) -> Iterator[Diagnostic]:
    if given is None:
        return
    from aisimc_compiler.rules.refusal import refuse_value

    if not given.value:
        yield refuse_value(
            "perf.predeclared", given, "the gate names no condition that invalidates a pair", label="an empty list"
        )
    seen: dict[str, Given[str]] = {}
    for item in given.value:
        if item.value in seen:
            yield refuse_value(
                "perf.predeclared",
                item,
                f"`{item.value}` is named twice",
                label="the second one",
                secondary=(Label(seen[item.value].span, "the first one"),),
            )
        seen.setdefault(item.value, item)


def rows(campaign: Campaign) -> Iterator[Diagnostic]:
    """`name.unknown` and `perf.design`: the rows that are measured exist, and can be."""
    given = _part(campaign, "rows")
    if given is None or isinstance(given.value, str) or campaign.fragment or campaign.torn:
        return
    from aisimc_compiler.rules.refusal import refuse_value

    if not given.value:
        yield refuse_value("perf.design", given, "the gate measures no row", label="an empty list", help="write `all`")
    known = {row.name.value: row for row in campaign.rows}
    refused = {entry.id.value: entry for entry in campaign.unsupported}
    seen: dict[str, Given[str]] = {}
    unknown = 0
    for item in given.value:
        row = known.get(item.value)
        why, place = "", None
        if campaign.may_mean_refused(item.value):
            continue
        if row is None:
            from aisimc_compiler.model.resolve.absence import unknown_reference
            from aisimc_compiler.model.resolve.context import SUGGESTIONS

            unknown += 1
            yield unknown_reference("row", item, known, suggest=unknown <= SUGGESTIONS)
            continue
        if item.value in seen:
            why, place = "is named twice", seen[item.value].span
        elif row.kind == "fixture":
            why, place = "is a fixture, which is too small to be measured", row.name.span
        elif row.expect_error is not None and not blank(row.expect_error.value):
            why, place = "is refused by the engine, so there is nothing to measure", row.expect_error.span
        elif item.value in refused:
            why, place = "is not supported on both arms, so there is no pair to measure", refused[item.value].id.span
        if why and place is not None:
            label = "the first one" if "twice" in why else "declared here"
            yield refuse_value(
                "perf.design",
                item,
                f"`{item.value}` {why}",
                label="cannot be measured",
                secondary=(Label(place, label),),
            )
        seen.setdefault(item.value, item)


CHECKS: tuple[tuple[str, Rule], ...] = (
    ("perf.boundary", boundary),
    ("perf.design", design),
    ("perf.predeclared", predeclared),
    ("name.unknown", rows),
)
