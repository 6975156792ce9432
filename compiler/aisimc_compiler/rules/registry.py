"""Every rule of the contract by name: its stable code, why it exists, where the method says so, a mistake, its mend.

Codes are never renumbered and never used again. The texts are data, one module for each section of the contract.
"""

from __future__ import annotations

from aisimc_compiler.records import NamedTuple


class RuleInfo(NamedTuple):
    """What `explain`, the editors and the reference say about one rule."""

    code: str
    name: str
    title: str
    """When it holds, in a few words."""
    reason: str
    """Why it exists: the note under every diagnostic of the rule."""
    source: str
    """Where the method has it from."""
    example: str
    """A mistake, or what is seen when it does not hold."""
    mend: str
    """The same, mended."""
    where: str
    """`compile`, `run`, `report`, or several of them."""


def _all() -> dict[str, RuleInfo]:
    from aisimc_compiler.rules.texts import campaign, gate, language, matrix, running

    rules = {}
    for module in (language, campaign, matrix, running, gate):
        for entry in module.RULES:
            rules[entry[1]] = RuleInfo(*entry)
    return rules


RULES: dict[str, RuleInfo] = _all()
