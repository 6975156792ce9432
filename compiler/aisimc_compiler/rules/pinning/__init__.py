"""Pinning: what the two arms are, how they are related, and that they are built alike."""

from __future__ import annotations

from aisimc_compiler.rules.language import Rule
from aisimc_compiler.rules.pinning import building, corrections, relation, revisions

CHECKS: tuple[tuple[str, Rule], ...] = (
    ("name.missing", revisions.one_source),
    ("pin.arms", revisions.arms),
    ("pin.commit", revisions.commit),
    ("pin.wheel", revisions.wheel),
    ("pin.embedded", revisions.embedded),
    ("pin.distinct", relation.distinct),
    ("pin.relation", relation.relation),
    ("pin.same-build", building.same_build),
    ("pin.features", building.features),
    ("pin.correction", corrections.correction),
)
