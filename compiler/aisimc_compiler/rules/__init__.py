"""The method's rules: `check` runs those that a campaign's text can break, `RULES` explains them all."""

from __future__ import annotations

from aisimc_compiler.diagnostics.model import Diagnostic
from aisimc_compiler.hints import TYPE_CHECKING, Any
from aisimc_compiler.model.campaign import Campaign
from aisimc_compiler.source import Source

if TYPE_CHECKING:
    from aisimc_compiler.rules.registry import RULES, RuleInfo

__all__ = ["RULES", "RuleInfo", "check"]


def check(campaign: Campaign) -> list[Diagnostic]:
    """Every breach of a rule that the campaign's text shows; at one token and rule, the first only."""
    from aisimc_compiler.rules import exceptions, exclusions, inputs, language, performance, pinning, rows, running

    found: list[Diagnostic] = []
    seen: set[tuple[str, Source, int]] = set()
    for module in (language, pinning, inputs, exclusions, rows, running, exceptions, performance):
        for _, rule in module.CHECKS:
            for diagnostic in rule(campaign):
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
