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
from aisimc_compiler.model.vocabulary import BLOCKS
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
        help=_missing_help(missing, block),
    )


def missing_in_a_role(block: tree.Block, name: Span, part: str, role: str) -> Diagnostic:
    """`name.missing`: a capacity or timing that only the other role has, at the row's name."""
    return refuse(
        "name.missing",
        name,
        f"{_title(block)} does not say the `{part}` of its `{role}` role",
        label=f"`{part}` is missing for `{role}`",
        help=f"say it in `{role}`, or in the row for both roles",
    )


_MENDS = {
    ("campaign", "language"): "write `language = 1`",
    ("campaign", "corpus"): "write `corpus = long`, or `corpus = preflight` for a small try",
    ("campaign", "matrix"): "write `matrix = authoritative` for all eight rows, or `matrix = focused`",
    ("row", "input"): "name an `input` block of the campaign",
    ("fixture", "input"): "name an `input` block of the campaign",
    ("input", "rows"): "`aisimc pin` counts them",
    ("input", "format"): "write `format = mooncake`",
    ("determinism", "mode"): "write `mode = canonical_v1`",
    ("determinism", "repetitions"): "write `repetitions = 2`",
}
"""What to write where one word of the method's own is missing."""


def _missing_help(missing: list[str], block: tree.Block) -> str:
    if len(missing) != 1:
        return ""
    keyword = block.keyword.text
    label = block.labels[0] if block.labels else None
    kind = f"{keyword} {label.text}" if isinstance(label, tree.Name) else keyword
    spec = BLOCKS.get(kind) or BLOCKS.get(keyword) or BLOCKS["role"]
    known = spec.attributes
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


_BLOCK_MENDS = {
    "exclude": "write `exclude { … }` with its four pointers: `aisimc explain exclude.closed`",
    "determinism": "write `determinism { mode = canonical_v1 repetitions = 2 }`",
    "revision": "write `revision baseline { … }` and `revision candidate { … }`",
    "input": "write `input NAME { … }`; `aisimc new` makes one from a trace",
    "row": "write `row NAME { … }`, or a `fixture`",
}


def missing_blocks(name: Span, missing: list[str]) -> Diagnostic:
    """`name.missing`: the blocks that a campaign lacks, at its name."""
    lacks = listed(missing, last="and")
    return refuse(
        "name.missing",
        name,
        f"the campaign has no {lacks} block{'' if len(missing) == 1 else 's'}",
        label=f"{lacks} {'is' if len(missing) == 1 else 'are'} missing",
        help=_BLOCK_MENDS.get(missing[0], "")
        if len(missing) == 1
        else "\n".join(f"`{keyword}`: {BLOCKS[keyword].doc}" for keyword in missing),
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
