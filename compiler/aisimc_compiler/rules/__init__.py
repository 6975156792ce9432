"""The method's rules: `check` runs those that a campaign's text can break, `RULES` explains them all."""

from __future__ import annotations

from aisimc_compiler.diagnostics.model import Diagnostic
from aisimc_compiler.hints import TYPE_CHECKING, Any
from aisimc_compiler.model.campaign import Campaign
from aisimc_compiler.source import Source

if TYPE_CHECKING:
    from aisimc_compiler.rules.registry import RULES, RuleInfo

__all__ = ["RULES", "RuleInfo", "check"]


_OF_VALUES = {
    *("row.engine", "row.composition", "row.observable", "row.capacity", "row.transfer", "row.admission", "row.error"),
    *("run.pressure", "run.progress", "run.golden"),
}
"""The rules that judge a row by single values, and so a family that no row takes whole."""


def check(campaign: Campaign) -> list[Diagnostic]:
    """Every breach of a rule that the campaign's text shows; at one token and rule, the first only."""
    from aisimc_compiler.rules import exceptions, exclusions, inputs, language, performance, pinning, rows, running

    found: list[Diagnostic] = []
    seen: set[tuple[str, Source, int]] = set()
    modules = (language, pinning, inputs, exclusions, rows, running, exceptions, performance)
    every = [(rule, campaign) for module in modules for _, rule in module.CHECKS]
    families = campaign._replace(rows=campaign.families)
    every += [(rule, families) for module in (rows, running) for name, rule in module.CHECKS if name in _OF_VALUES]
    for rule, judged in every:
        for diagnostic in rule(judged):
            key = (diagnostic.rule, diagnostic.span.source, diagnostic.span.start)
            if key not in seen:
                seen.add(key)
                found.append(diagnostic)
    if not found and campaign.sound:
        from aisimc_compiler.rules.pinning.corrections import needless_correction

        # Needless is not wrong: it is said once nothing else is, and what else is wrong may well decide it.
        found.extend(needless_correction(campaign))
    return found


def __getattr__(name: str) -> Any:
    if name in ("RULES", "RuleInfo"):  # the texts are read only when something is wrong or explained
        from aisimc_compiler.rules import registry

        return getattr(registry, name)
    raise AttributeError(name)
