"""Pinning: each rule with its valid neighbours and the kinds of text that it refuses."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.builders.campaigns import (
    ON_CHECKOUTS,
    ON_EMBEDDED,
    ON_WHEELS,
    WHEELS,
    assert_refused,
    changed,
    check,
    said,
)

BASELINE = '"fb7b0d56de035d66ca9fcae7ff424055dcbf37cd"'
CANDIDATE = '"6f9a315e583e8c4ed95e0a4fb5d20bd79d5cf140"'
DIGEST = '"9b50283211b7927a7d80a87a98a2eb0d869376b6459f9eaf0d18acebef4593e4"'
WHEEL = '"aisimulate==0.12.0.dev2"'
OTHER_40 = "0" * 40
OTHER_64 = "a" * 64
ONLY_CANDIDATE_WHEEL = WHEELS[WHEELS.index("revision candidate") :]


def _as(old: str, new: str) -> tuple[str, str]:
    return old, new


COMMITS = [
    '"main"',
    '"HEAD"',
    '"HEAD~1"',
    '"refs/heads/main"',
    '"refs/tags/v1.2"',
    '"v1.2"',
    '"6f9a315"',
    '"6f9a315e583e8c4ed95e0a4fb5d20bd79d5cf14"',
    '"6f9a315e583e8c4ed95e0a4fb5d20bd79d5cf1400"',
    '"6f9a315e583e8c4ed95e0a4fb5d20bd79d5cf14g"',
    '" 6f9a315e583e8c4ed95e0a4fb5d20bd79d5cf140"',
    '"6f9a315e583e8c4ed95e0a4fb5d20bd79d5cf140\\n"',
    '"6f9a315e583e8c4ed95e0a4fb5d20bd79d5cf14０"',
    '"6f9a315e583e8c4еd95e0a4fb5d20bd79d5cf140"',
    '""',
    '"   "',
    '"latest"',
    f'"{OTHER_64}0"',
]

WHEEL_PINS = [
    '"aisimulate>=0.12"',
    '"aisimulate<=0.12"',
    '"aisimulate~=0.12"',
    '"aisimulate!=0.12"',
    '"aisimulate>0.11,<0.13"',
    '"aisimulate==0.12.*"',
    '"aisimulate==0.12,>0"',
    '"aisimulate===0.12.0.dev2"',
    '"aisimulate"',
    '"aisimulate=="',
    '"aisimulate=0.12.0.dev2"',
    '"aisimulate==latest"',
    '"aisimulate[cuda]==0.12.0.dev2"',
    "\"aisimulate==0.12.0.dev2; python_version > '3'\"",
    '"aisimulate @ https://example.org/a.whl"',
    '"https://example.org/aisimulate-0.12-py3-none-any.whl"',
    '"aisimulate-0.12.0.dev2-cp311-abi3-linux_x86_64.whl"',
    '"numpy==1.0"',
    '"ai-simulate==0.12.0.dev2"',
    '"aisimulate==0.12.0.dev２"',
    '"аisimulate==0.12.0.dev2"',
    '""',
    '"  "',
]

BAD_DIGESTS = [
    '""',
    '"9b50283211b7927a"',
    f'"{OTHER_64}a"',
    f'"{OTHER_64[:-1]}g"',
    f'"sha256:{OTHER_64}"',
    f'" {OTHER_64}"',
    f'"{OTHER_64[:-1]}а"',
]


@pytest.mark.parametrize("text", COMMITS)
def test_a_commit_is_a_full_id(text: str, tmp_path: Path) -> None:
    source, span = changed(ON_CHECKOUTS, (CANDIDATE, f"«{text}»"))
    assert_refused(check(source, tmp_path), "pin.commit", span)


@pytest.mark.parametrize("name", ["branch", "tag", "ref", "rev"])
def test_what_moves_pins_nothing(name: str, tmp_path: Path) -> None:
    source, span = changed(ON_CHECKOUTS, ("  relation   = ancestor", f'  «{name}» = "main"\n  relation = ancestor'))
    assert_refused(check(source, tmp_path), "pin.commit", span)


def test_a_checkout_without_a_commit(tmp_path: Path) -> None:
    source, span = changed(
        ON_CHECKOUTS,
        (
            f'  repository = "https://github.com/ai-dynamo/aisimulate"\n  commit     = {CANDIDATE}',
            '  repository = «"https://github.com/ai-dynamo/aisimulate"»',
        ),
    )
    assert_refused(check(source, tmp_path), "pin.commit", span)


@pytest.mark.parametrize("text", WHEEL_PINS)
def test_a_wheel_is_an_exact_version(text: str, tmp_path: Path) -> None:
    source, span = changed(ON_WHEELS, (WHEEL, f"«{text}»"))
    assert_refused(check(source, tmp_path), "pin.wheel", span)


@pytest.mark.parametrize("text", BAD_DIGESTS)
def test_a_wheel_has_a_whole_digest(text: str, tmp_path: Path) -> None:
    source, span = changed(ON_WHEELS, (DIGEST, f"«{text}»"))
    found = assert_refused(check(source, tmp_path), "pin.wheel", span)
    if "sha256:" in text or text == f'" {OTHER_64}"':
        assert found.replacement is not None
        assert found.replacement.text == f'"{OTHER_64}"'


def test_a_wheel_without_its_digest(tmp_path: Path) -> None:
    source, span = changed(ON_WHEELS, (WHEEL, f"«{WHEEL}»"), (f"  sha256   = {DIGEST}\n", ""))
    assert_refused(check(source, tmp_path), "pin.wheel", span)


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        ((ONLY_CANDIDATE_WHEEL, ""), "pin.arms"),
        (("revision candidate {", "revision «canary» {"), "pin.arms"),
        (("revision candidate {", "revision «candidat» {"), "pin.arms"),
        (("revision candidate {", "revision «Candidate» {"), "pin.arms"),
        (("revision candidate {", "revision «baseline» {"), "pin.arms"),
    ],
)
def test_there_is_one_of_each_arm(change: tuple[str, str], rule: str, tmp_path: Path) -> None:
    source, span = changed(ON_WHEELS, change)
    result = check(source, tmp_path)
    assert rule in {d.rule for d in result.diagnostics}, said(result.diagnostics)
    if span is not None:
        assert (result.diagnostics[0].span.start, result.diagnostics[0].span.end) == span


def test_a_third_arm(tmp_path: Path) -> None:
    third = '\nrevision «candidate» { wheel = "aisimulate==1.0" sha256 = "' + OTHER_64 + '" relation = "x" }\n'
    source, span = changed(ON_WHEELS, ("determinism {", third + "determinism {"))
    assert_refused(check(source, tmp_path), "pin.arms", span)


SAME_WHEEL = [
    '«"aisimulate==0.12.0.dev1"»',
    '«"aisimulate == 0.12.0.dev1"»',
    '«"AISimulate==0.12.0.dev1"»',
    '«"aisimulate==0.12.0.DEV1"»',
    '«"aisimulate==0.12.0dev1"»',
    '«"aisimulate==0.12.dev1"»',
]


@pytest.mark.parametrize("wheel", SAME_WHEEL)
def test_the_same_wheel_twice(wheel: str, tmp_path: Path) -> None:
    same = '"9334CF5150e74eeff8f55c68a6b01f3cc355d89f5652504ee6c235e02f9d9bd2"'
    source, span = changed(ON_WHEELS, (WHEEL, wheel), (DIGEST, same))
    assert_refused(check(source, tmp_path), "pin.distinct", span)


def test_the_same_commit_twice(tmp_path: Path) -> None:
    source, span = changed(ON_CHECKOUTS, (CANDIDATE, f"«{BASELINE.upper()}»"))
    assert_refused(check(source, tmp_path), "pin.distinct", span)


def test_the_same_embedded_sources_twice(tmp_path: Path) -> None:
    source, span = changed(
        ON_EMBEDDED,
        ('  embedded     = "reference-core"', '  embedded     = «"reference-core"»'),
        ('  patch        = "patches/change.patch"\n', ""),
        (f'  patch_sha256 = "{"1" * 64}"\n', ""),
    )
    assert_refused(check(source, tmp_path), "pin.distinct", span)


def test_a_self_check_of_two_revisions(tmp_path: Path) -> None:
    source, span = changed(ON_WHEELS, ("  matrix   = focused", "  matrix   = focused self_check = «true»"))
    assert_refused(check(source, tmp_path), "pin.distinct", span)


RELATIONS = [
    (ON_WHEELS, '  relation = "the next build of the same line"', "  relation = «ancestor»"),
    (ON_WHEELS, '"the next build of the same line"', '«""»'),
    (ON_WHEELS, '"the next build of the same line"', '«"  "»'),
    (ON_WHEELS, '"the next build of the same line"', '«"ancestor"»'),
    (ON_CHECKOUTS, "= ancestor", "= «descendant»"),
    (ON_CHECKOUTS, "= ancestor", "= «Ancestor»"),
    (ON_CHECKOUTS, "= ancestor", '= «"ancestor"»'),
    (ON_EMBEDDED, '"one patch on top"', "«ancestor»"),
    (ON_CHECKOUTS, "  relation   = ancestor\n", ""),
]


@pytest.mark.parametrize(("base", "old", "new"), RELATIONS)
def test_the_relation_is_said_and_can_be_verified(base: str, old: str, new: str, tmp_path: Path) -> None:
    source, span = changed(base, (old, new))
    assert_refused(check(source, tmp_path), "pin.relation", span)


def test_ancestry_across_two_repositories(tmp_path: Path) -> None:
    repository = '  repository = "https://github.com/ai-dynamo/aisimulate"\n  commit     = ' + CANDIDATE
    source, span = changed(
        ON_CHECKOUTS,
        (repository, repository.replace("ai-dynamo", "somebody")),
        ("= ancestor", "= «ancestor»"),
    )
    assert_refused(check(source, tmp_path), "pin.relation", span)


def test_a_relation_in_the_baseline(tmp_path: Path) -> None:
    source, span = changed(
        ON_CHECKOUTS,
        ("  relation   = ancestor\n", ""),
        (f"  commit     = {BASELINE}", f'  commit     = {BASELINE}\n  «relation» = "older"'),
    )
    assert_refused(check(source, tmp_path), "pin.relation", span)


SAME_BUILD = [
    (ON_CHECKOUTS, '"1.93.1"', '«"stable"»'),
    (ON_CHECKOUTS, '"1.93.1"', '«"nightly"»'),
    (ON_CHECKOUTS, '"1.93.1"', '«"1.x"»'),
    (ON_CHECKOUTS, '"1.93.1"', '«">=1.90"»'),
    (ON_CHECKOUTS, '"1.93.1"', '«"1.93.1 "»'),
    (ON_CHECKOUTS, "build {", "build «candidate» {"),
    (ON_CHECKOUTS, "  profile   = release", "  profile   = release\n  «candidate» { profile = dev }"),
    (ON_CHECKOUTS, "  relation   = ancestor", '  relation   = ancestor\n  «features» = ["x"]'),
    (ON_CHECKOUTS, "  relation   = ancestor", '  relation   = ancestor\n  «toolchain» = "1.90.0"'),
    (ON_WHEELS, "determinism {", '«build» { toolchain = "system" profile = release }\ndeterminism {'),
]


@pytest.mark.parametrize(("base", "old", "new"), SAME_BUILD)
def test_both_arms_are_built_alike(base: str, old: str, new: str, tmp_path: Path) -> None:
    source, span = changed(base, (old, new))
    assert_refused(check(source, tmp_path), "pin.same-build", span)


def test_a_wheel_against_a_checkout(tmp_path: Path) -> None:
    start = ON_CHECKOUTS.index("revision candidate")
    end = ON_CHECKOUTS.index("build {")
    arm = ONLY_CANDIDATE_WHEEL.replace(WHEEL, f"«{WHEEL}»")
    source, span = changed(ON_CHECKOUTS[:start] + arm + ON_CHECKOUTS[end:])
    assert_refused(check(source, tmp_path), "pin.same-build", span)


FEATURES = [
    '[«"all"»]',
    '[«"*"»]',
    '[«"ALL"»]',
    '[«"default"»]',
    '[«"all-features"»]',
    '[«"--all-features"»]',
    '[«"replay-*"»]',
    '["replay-bench", «"all"»]',
    '["replay-bench", «"replay-bench"»]',
    '[«""»]',
    '[«" "»]',
    '[«"a,b"»]',
    '[«"a b"»]',
    '[«" replay-bench"»]',
    "[«all»]",
    "«all»",
    '«"all"»',
    "«default»",
]


@pytest.mark.parametrize("features", FEATURES)
def test_features_are_named_one_by_one(features: str, tmp_path: Path) -> None:
    source, span = changed(ON_CHECKOUTS, ('["replay-bench"]', features))
    assert_refused(check(source, tmp_path), "pin.features", span)


@pytest.mark.parametrize("name", ["all_features", "all-features", "default_features"])
def test_cargos_own_wildcards(name: str, tmp_path: Path) -> None:
    source, span = changed(ON_CHECKOUTS, ('  features  = ["replay-bench"]', f"  «{name}» = true"))
    assert_refused(check(source, tmp_path), "pin.features", span)


PATCH = f'patch = "a.patch" sha256 = "{OTHER_64}"'
CORRECTIONS = [
    (ON_WHEELS, "correction stable_request_identity { «arms» = [candidate] }"),
    (ON_WHEELS, "correction stable_request_identity { «only» = candidate }"),
    (ON_WHEELS, "correction stable_request_identity { «candidate» { } }"),
    (ON_WHEELS, "correction stable_request_identity { «baseline» = true }"),
    (ON_WHEELS, 'correction stable_request_identity { patch = «"a.patch"» }'),
    (ON_WHEELS, "correction «stable_request_identities» { }"),
    (ON_WHEELS, "correction «something» { }"),
    (ON_WHEELS, f"correction «sums» {{ {PATCH} }}"),
    (ON_CHECKOUTS, 'correction sums { patch = «"a.patch"» }'),
    (ON_CHECKOUTS, 'correction sums { patch = "a.patch" sha256 = «"abc"» }'),
    (ON_CHECKOUTS, f'correction sums {{ patch = «""» sha256 = "{OTHER_64}" }}'),
    (ON_CHECKOUTS, f'correction «sums» {{ sha256 = "{OTHER_64}" }}'),
    (ON_CHECKOUTS, "correction «stable_request_identity» { }"),
    (ON_EMBEDDED, "correction «stable_request_identity» { }"),
]


@pytest.mark.parametrize(("base", "correction"), CORRECTIONS)
def test_corrections_are_for_both_arms_and_pinned(base: str, correction: str, tmp_path: Path) -> None:
    source, span = changed(base, ("  repetitions = 2\n", f"  repetitions = 2\n  {correction}\n"))
    assert_refused(check(source, tmp_path), "pin.correction", span)


def test_a_needless_correction_waits_for_what_is_wrong(tmp_path: Path) -> None:
    source, span = changed(
        ON_CHECKOUTS,
        ("  repetitions = 2\n", "  repetitions = 2\n  correction stable_request_identity { }\n"),
        (CANDIDATE, '«"main"»'),
    )
    assert_refused(check(source, tmp_path), "pin.commit", span)


EMBEDDED_PINS = [
    ('  embedded     = "reference-core"', '  embedded     = «"reference-kore"»'),
    ('  embedded     = "reference-core"', '  embedded     = «""»'),
    (f'  sha256       = "{"0" * 64}"\n', f'  sha256       = «"{"0" * 63}"»\n'),
    (f'  patch_sha256 = "{"1" * 64}"', f'  patch_sha256 = «"{"1" * 65}"»'),
    ('"patches/change.patch"', '«""»'),
    ('  patch        = "patches/change.patch"\n', ""),
]


@pytest.mark.parametrize(("old", "new"), EMBEDDED_PINS)
def test_embedded_sources_are_pinned(old: str, new: str, tmp_path: Path) -> None:
    source, span = changed(ON_EMBEDDED, (old, new))
    assert_refused(check(source, tmp_path), "pin.embedded", span)


def test_an_embedded_patch_without_its_digest(tmp_path: Path) -> None:
    source, span = changed(
        ON_EMBEDDED,
        ('"patches/change.patch"', '«"patches/change.patch"»'),
        (f'  patch_sha256 = "{"1" * 64}"\n', ""),
    )
    assert_refused(check(source, tmp_path), "pin.embedded", span)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("  engine = vllm", '  engine = vllm\n  «source_revision» = "fb7b0d56"'),
        ("  repetitions = 2\n", '  repetitions = 2\n  «source_revision» = "fb7b0d56"\n'),
        ("  language = 1", '  language = 1\n  «source_revision» = "fb7b0d56"'),
        ("family paged {", 'family paged {\n  «source_revision» = "fb7b0d56"'),
        ("block_size = 64 ", 'block_size = 64 «source_revision» = "a" '),
        ("determinism {", '«source_revision» = "fb7b0d56"\ndeterminism {'),
    ],
)
def test_nobody_states_a_source_revision(old: str, new: str, tmp_path: Path) -> None:
    source, span = changed(ON_WHEELS, (old, new))
    assert_refused(check(source, tmp_path), "pin.embedded", span)


@pytest.mark.parametrize(
    ("base", "change"),
    [
        (ON_WHEELS, ("", "")),
        (ON_CHECKOUTS, ("", "")),
        (ON_EMBEDDED, ("", "")),
        (ON_CHECKOUTS, (CANDIDATE, f'"{OTHER_64}"')),
        (ON_CHECKOUTS, (CANDIDATE, CANDIDATE.upper())),
        (ON_WHEELS, (WHEEL, '"aisimulate == 0.12.0.dev2"')),
        (ON_WHEELS, (WHEEL, '"AISimulate==0.12.0.dev2"')),
        (ON_WHEELS, (WHEEL, '"aisimulate==0.12.0+cu12"')),
        (ON_WHEELS, (WHEEL, '"aisimulate==1!2.0rc1.post2"')),
        (ON_WHEELS, (WHEEL, '"aisimulate==0.12.0.dev1"')),
        (ON_WHEELS, (DIGEST, DIGEST.upper())),
        (ON_WHEELS, ("  repetitions = 2\n", "  repetitions = 2\n  correction stable_request_identity { }\n")),
        (ON_CHECKOUTS, ("  repetitions = 2\n", f"  repetitions = 2\n  correction sums {{ {PATCH} }}\n")),
        (ON_CHECKOUTS, ('["replay-bench"]', "[]")),
        (ON_CHECKOUTS, ('  features  = ["replay-bench"]\n', "")),
        (ON_CHECKOUTS, ('["replay-bench"]', '["replay-bench", "dep/feature", "full"]')),
        (ON_CHECKOUTS, ('"1.93.1"', '"system"')),
        (ON_CHECKOUTS, ('"1.93.1"', '"nightly-2026-11-01"')),
        (ON_CHECKOUTS, ("= ancestor", '= "two branches that share a base"')),
    ],
)
def test_valid_neighbours(base: str, change: tuple[str, str], tmp_path: Path) -> None:
    source = base if change == ("", "") else changed(base, change)[0]
    result = check(source, tmp_path)
    assert result.ok, said(result.diagnostics)


def test_a_self_check_of_one_revision(tmp_path: Path) -> None:
    source, _ = changed(
        ON_WHEELS,
        ("  matrix   = focused", "  matrix   = focused self_check = true"),
        (WHEEL, '"aisimulate==0.12.0.dev1"'),
        (DIGEST, '"9334cf5150e74eeff8f55c68a6b01f3cc355d89f5652504ee6c235e02f9d9bd2"'),
        ('  relation = "the next build of the same line"\n', ""),
    )
    result = check(source, tmp_path)
    assert result.ok, said(result.diagnostics)
