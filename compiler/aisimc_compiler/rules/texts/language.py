"""Rules of the language itself. Codes AC00xx."""

from __future__ import annotations

Entry = tuple[str, str, str, str, str, str, str, str]

METHOD = "AI Simulate's replay parity method (the skill aisimulate-replay-parity in its repository)"
"""The document that most rules come from, in words by which a reader finds it."""

_LANGUAGE = "this language, so that a campaign means one thing; docs/language.md"

RULES: tuple[Entry, ...] = (
    (
        "AC0001",
        "syntax",
        "the text parses",
        (
            "a campaign is read the same way by everybody or not at all; the parser goes on at the next attribute "
            "or block, so that later mistakes show too"
        ),
        _LANGUAGE,
        "corpus = \nmatrix = focused",
        "corpus = preflight\nmatrix = focused",
        "compile",
    ),
    (
        "AC0002",
        "syntax.duplicate",
        "no attribute or single-use block is given twice in one place",
        "with two values in one place it is left to the reader which one counts",
        _LANGUAGE,
        "block_size = 512\nblock_size = 256",
        "block_size = 512",
        "compile",
    ),
    (
        "AC0003",
        "type.mismatch",
        "a value has the kind that its attribute takes",
        "the engines convert and ignore silently what they did not expect; the language does not",
        _LANGUAGE,
        'rows = "5000"',
        "rows = 5_000",
        "compile",
    ),
    (
        "AC0004",
        "name.unknown",
        "everything that is named exists",
        "the engines ignore a misspelt key without a word, and replay something else than was meant",
        _LANGUAGE,
        "evidence { preemtions = 1..3 }",
        "evidence { preemptions = 1..3 }",
        "compile",
    ),
    (
        "AC0005",
        "name.missing",
        "every required attribute and block is there",
        "what is not said would be decided by somebody's default, and defaults differ between builds",
        _LANGUAGE,
        "determinism { mode = canonical_v1 }",
        "determinism { mode = canonical_v1 repetitions = 2 }",
        "compile",
    ),
    (
        "AC0006",
        "name.duplicate",
        "no two inputs, families, rows or exceptions share a name",
        "what two things share is the name of neither",
        _LANGUAGE,
        "input window { … }\ninput window { … }",
        "input window { … }\ninput second-window { … }",
        "compile",
    ),
    (
        "AC0007",
        "language.version",
        "the campaign says `language = 1`",
        "a later version of the language may read the same text in another way",
        _LANGUAGE,
        "language = 2",
        "language = 1",
        "compile",
    ),
    (
        "AC0008",
        "import.path",
        "an import stays inside the first file's folder, exists, and makes no cycle",
        "a campaign's folder holds everything that its plan is made of, so that a copy of it plans the same",
        _LANGUAGE,
        'import "../shared/exclusions.campaign"',
        'import "common/exclusions.campaign"',
        "compile",
    ),
)
