"""Rows: engine, composition, sizes, transfer, admission, repetitions, and the matrix that they make up."""

from __future__ import annotations

from aisimc_compiler.rules.language import Rule
from aisimc_compiler.rules.rows import admission, configuration, matrix, sizes

CHECKS: tuple[tuple[str, Rule], ...] = (
    ("row.engine", configuration.engine),
    ("row.composition", configuration.composition),
    ("row.frozen", configuration.frozen),
    ("row.observable", sizes.observable),
    ("row.capacity", sizes.capacity),
    ("row.transfer", sizes.transfer),
    ("row.admission", admission.admission),
    ("row.repetitions", admission.repetitions),
    ("row.no-substitute", matrix.no_substitute),
    ("row.matrix", matrix.matrix),
    ("row.error", configuration.error),
)
