"""What is not there, or is named and does not exist, in words.

Only imported when something is wrong.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import Any

from aisimc_compiler.diagnostics.model import Diagnostic
from aisimc_compiler.model.campaign import Given
from aisimc_compiler.model.nearest import nearest
from aisimc_compiler.model.resolve.kinds import wanted
from aisimc_compiler.model.vocabulary import BLOCKS, Attribute
from aisimc_compiler.rules.refusal import did_you_mean, listed, refuse, refuse_name, refuse_value
from aisimc_compiler.source import Span
from aisimc_compiler.syntax import tree


def missing_attributes(block: tree.Block, name: Span, missing: list[str]) -> Diagnostic:
    """`name.missing`: everything that one block lacks, at its name."""
    title = _title(block)
    lacks = listed(missing, last="and")
    return refuse(
        "name.missing",
        name,
        f"{title} does not say its {lacks}",
        label=f"{lacks} {'is' if len(missing) == 1 else 'are'} missing",
        help=_missing_help(missing, block.keyword.text),
    )


_MENDS = {
    ("campaign", "language"): "write `language = 1`",
    ("campaign", "corpus"): "write `corpus = long`, or `corpus = preflight` for a small try",
    ("campaign", "matrix"): "write `matrix = authoritative` for all eight rows, or `matrix = focused`",
    ("input", "rows"): "`aisimc pin` counts them",
    ("input", "format"): "write `format = mooncake`",
    ("determinism", "mode"): "write `mode = canonical_v1`",
    ("determinism", "repetitions"): "write `repetitions = 2`",
}
"""What to write where one word of the method's own is missing."""


def _missing_help(missing: list[str], keyword: str) -> str:
    known: dict[str, Attribute] = {}
    for block in BLOCKS.values():
        known.update({name: spec for name, spec in block.attributes.items() if name not in known})
    if len(missing) != 1:
        return ""
    if (keyword, missing[0]) in _MENDS:
        return _MENDS[keyword, missing[0]]
    if keyword == "topology" and missing[0] in ("prefill", "decode"):
        return f"write `{missing[0]} {{ workers = 2 }}`"
    if missing[0] in known:
        return f"`{missing[0]}` takes {wanted(known[missing[0]])}"
    return f"write `{missing[0]} {{ … }}`" if missing[0] != "timing" else "write `timing polynomial`"


def _title(block: tree.Block) -> str:
    label = block.labels[0] if block.labels else None
    keyword = block.keyword.text
    if label is None:
        return f"the `{keyword}` block"
    name = label.text if isinstance(label, tree.Name) else str(label.value)
    return f"{keyword} `{name}`"


def missing_blocks(name: Span, missing: list[str]) -> Diagnostic:
    """`name.missing`: the blocks that a campaign lacks, at its name."""
    lacks = listed(missing, last="and")
    return refuse(
        "name.missing",
        name,
        f"the campaign has no {lacks} block{'' if len(missing) == 1 else 's'}",
        label=f"{lacks} {'is' if len(missing) == 1 else 'are'} missing",
        help="\n".join(f"`{keyword}`: {BLOCKS[keyword].doc}" for keyword in missing),
    )


def unknown_reference(noun: str, given: Given[Any], known: Iterable[str], *, suggest: bool = True) -> Diagnostic:
    """`name.unknown`: an input, family or row that does not exist; `suggest` looks for the nearest that does."""
    names = tuple(islice(known, 1000))
    meant = nearest(given.value, names) if suggest else None
    hint = did_you_mean(meant)
    if not hint and names:
        hint = f"there {'is' if len(names) == 1 else 'are'} {listed(names[:8], last='and')}"
    return refuse_value(
        "name.unknown",
        given,
        f"there is no {noun} `{given.value}`",
        label=f"no {noun} has this name",
        help=hint,
        replace=meant,
    )


def digest_of_nothing(sha256: Given[Any]) -> Diagnostic:
    """`name.unknown`: a digest in a row that has no frozen configuration."""
    return refuse_name(
        "name.unknown",
        sha256,
        "`sha256` belongs to a `frozen` configuration, and the row has none",
        label="the digest of nothing",
        help="name the file in `frozen`, or remove the digest",
    )


def missing_capacity(name: Span, missing: list[str]) -> Diagnostic:
    """`name.missing`: capacity fields that neither a block nor what it inherits from says."""
    lacks = listed(missing, last="and")
    return refuse(
        "name.missing",
        name,
        f"the `capacity` block does not say its {lacks}",
        label=f"{lacks} {'is' if len(missing) == 1 else 'are'} missing",
        help="each takes a positive integer",
    )
