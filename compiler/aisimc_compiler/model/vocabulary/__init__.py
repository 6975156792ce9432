"""Every block and attribute of the language, as data: the one source for resolver, completion, reference and tests.

Tables only. What values mean beyond their kind is said by the rules (`aisimc_compiler.rules`).
"""

from __future__ import annotations

from aisimc_compiler.model.vocabulary import campaign, records, rows
from aisimc_compiler.model.vocabulary.terms import (
    BOOLEAN,
    DECIMAL,
    INTEGER,
    LIST,
    OPTIONAL,
    QUANTITY,
    RANGE,
    RATE,
    REQUIRED,
    RULED,
    SIZE,
    STRING,
    TIME,
    UNITS,
    WORD,
    WORD_OR_LIST,
    WORD_OR_STRING,
    Attribute,
    Block,
)

__all__ = [
    "BLOCKS",
    "BOOLEAN",
    "DECIMAL",
    "INTEGER",
    "LIST",
    "OPTIONAL",
    "QUANTITY",
    "RANGE",
    "RATE",
    "REQUIRED",
    "RULED",
    "SIZE",
    "STRING",
    "TIME",
    "UNITS",
    "WORD",
    "WORD_OR_LIST",
    "WORD_OR_STRING",
    "Attribute",
    "Block",
]

BLOCKS: dict[str, Block] = {**campaign.BLOCKS, **rows.BLOCKS, **records.BLOCKS}
