"""The blocks of a campaign as a whole: header, revisions, build, determinism, inputs, exclusions."""

from __future__ import annotations

from aisimc_compiler.model import closed
from aisimc_compiler.model.vocabulary.strays import EMBEDDED, PER_ARM, REPETITIONS, SAMPLING
from aisimc_compiler.model.vocabulary.terms import (
    BOOLEAN,
    DIGEST,
    INTEGER,
    LIST,
    OPTIONAL,
    REQUIRED,
    RULED,
    STRING,
    WORD,
    WORD_OR_STRING,
    Attribute,
    Block,
)

BLOCKS: dict[str, Block] = {
    "file": Block(
        "file",
        "a campaign, or a fragment of one for imports",
        {},
        {
            "campaign": "campaign",
            "import": "import",
            "revision": "revision",
            "build": "build",
            "determinism": "determinism",
            "input": "input",
            "exclude": "exclude",
            "family": "family",
            "row": "row",
            "fixture": "fixture",
            "unsupported": "unsupported",
            "exception": "exception",
            "performance": "performance",
        },
        stray={**EMBEDDED},
    ),
    "campaign": Block(
        "campaign",
        "what is qualified, and how much of the matrix",
        {
            "language": Attribute(INTEGER, "the version of the language: 1"),
            "purpose": Attribute(STRING, "the question that the campaign answers"),
            "corpus": Attribute(
                WORD, "`long`: 5,000 requests or more in every row; `preflight`: fewer", words=("long", "preflight")
            ),
            "matrix": Attribute(
                WORD,
                "`authoritative`: the whole engine-only matrix; `focused`: some rows of it",
                words=("authoritative", "focused"),
            ),
            "self_check": Attribute(
                BOOLEAN, "both arms are one revision: a check for leaked entropy", OPTIONAL, default=False
            ),
        },
        label="string",
        presence=RULED,
        stray={**REPETITIONS, **EMBEDDED},
    ),
    "import": Block("import", "brings in another file's blocks", label="string", repeated=True),
    "revision": Block(
        "revision",
        "one arm of the comparison, pinned",
        {
            "repository": Attribute(STRING, "the git repository of a checkout", RULED),
            "commit": Attribute(STRING, "the full commit id of a checkout", RULED),
            "wheel": Attribute(STRING, "an exact published version: `aisimulate==VERSION`", RULED),
            "embedded": Attribute(STRING, "the engine that ships with aisimc: `reference-core`", RULED),
            "sha256": Attribute(STRING, f"of the wheel file, or of the embedded sources: {DIGEST}", RULED),
            "patch": Attribute(STRING, "a patch on the embedded sources", OPTIONAL),
            "patch_sha256": Attribute(STRING, f"the patch's {DIGEST}", RULED),
            "relation": Attribute(
                WORD_OR_STRING,
                "on the candidate: `ancestor` (verified in git), or the relation in words",
                RULED,
                words=("ancestor",),
                ruled=True,
            ),
        },
        label="word",
        words=closed.ARMS,
        presence=RULED,
        repeated=True,
        stray={
            **EMBEDDED,
            "branch": "pin.commit",
            "tag": "pin.commit",
            "ref": "pin.commit",
            "rev": "pin.commit",
            "features": "pin.same-build",
            "toolchain": "pin.same-build",
            "profile": "pin.same-build",
            "rustflags": "pin.same-build",
            "build": "pin.same-build",
            "correction": "pin.correction",
        },
    ),
    "build": Block(
        "build",
        "how both arms are built, for checkouts and the embedded engine",
        {
            "toolchain": Attribute(STRING, '`"system"`, or a Rust version'),
            "profile": Attribute(WORD, "the Cargo profile", words=("release", "dev")),
            "features": Attribute(
                LIST, "the Cargo features, each by its name", OPTIONAL, item=STRING, default=(), ruled=True
            ),
            "rustflags": Attribute(LIST, "the flags of rustc, one string each", OPTIONAL, item=STRING, default=()),
            "locked": Attribute(BOOLEAN, "the lockfile is binding", OPTIONAL, default=True),
        },
        presence=RULED,
        stray={
            **dict.fromkeys((*closed.ARMS, "arms"), "pin.same-build"),
            **EMBEDDED,
            "all_features": "pin.features",
            "all-features": "pin.features",
            "default_features": "pin.features",
            "default-features": "pin.features",
        },
    ),
    "determinism": Block(
        "determinism",
        "how entropy is kept out",
        {
            "mode": Attribute(WORD, "the determinism mode of the replay", words=("canonical_v1",), ruled=True),
            "repetitions": Attribute(INTEGER, "fresh processes for each arm and row: 2"),
        },
        {"correction": "correction"},
        presence=REQUIRED,
        stray={"average": "row.repetitions", "runs": "row.repetitions", **EMBEDDED},
    ),
    "correction": Block(
        "correction",
        "a temporary determinism correction, the same for both arms",
        {
            "patch": Attribute(STRING, "a patch that is applied to both checkouts", OPTIONAL),
            "sha256": Attribute(STRING, f"the patch's {DIGEST}", RULED),
        },
        label="name",
        repeated=True,
        stray=dict.fromkeys(
            (*closed.ARMS, "arms", "arm", "only", "revision", "revisions", "apply_to"), "pin.correction"
        ),
    ),
    "input": Block(
        "input",
        "a trace, pinned",
        {
            "format": Attribute(WORD, "the trace format", words=("mooncake",), ruled=True),
            "block_size": Attribute(INTEGER, "tokens that one prefix id of the trace stands for"),
            "file": Attribute(STRING, "a file beside the campaign", RULED),
            "upstream": Attribute(STRING, "the repository of an external trace", RULED),
            "commit": Attribute(STRING, "the full commit id in that repository", RULED),
            "path": Attribute(STRING, "the trace's path in that commit", RULED),
            "sha256": Attribute(STRING, f"of the full file: {DIGEST}", RULED),
            "rows": Attribute(INTEGER, "rows of the full file"),
        },
        {"slice": "slice", "generator": "generator"},
        label="name",
        presence=REQUIRED,
        repeated=True,
        stray={
            **SAMPLING,
            **EMBEDDED,
            **PER_ARM,
            "branch": "input.upstream",
            "tag": "input.upstream",
            "ref": "input.upstream",
            "url": "input.upstream",
            "repository": "input.upstream",
        },
    ),
    "slice": Block(
        "slice",
        "one contiguous window of the input",
        {
            "start": Attribute(INTEGER, "the first row of the window, from 0"),
            "rows": Attribute(INTEGER, "rows of the window"),
            "sha256": Attribute(STRING, f"of the window's bytes: {DIGEST}", RULED),
        },
        stray={"*": "input.slice", **SAMPLING},
    ),
    "generator": Block(
        "generator",
        "the trace is generated by aisimc itself",
        {
            "seed": Attribute(INTEGER, "the generator's seed"),
            "rows": Attribute(INTEGER, "rows to generate"),
        },
    ),
    "exclude": Block(
        "exclude",
        "the closed list of result fields that byte parity leaves out, one pointer after the other",
        presence=REQUIRED,
        stray={"*": "exclude.closed"},
    ),
}
