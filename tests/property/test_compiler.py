"""Any text at all gives diagnostics or a plan, never an exception; and a plan's digest depends on meaning only."""

from __future__ import annotations

import os
import random
import re
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from aisimc_compiler.api import check_text, compile_file
from aisimc_compiler.plan.build import build_plan, canonical_bytes, digest_of
from tests.builders.campaigns import EXCEPTION, ON_CHECKOUTS, ON_EMBEDDED, ON_WHEELS, PERFORMANCE, said

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "tests" / "cases" / "examples"
WHOLE = ON_WHEELS + EXCEPTION + PERFORMANCE
BASES = [WHOLE, ON_CHECKOUTS, ON_EMBEDDED]
TOKENS = re.compile(r'"[^"\n]*"|[A-Za-z][\w-]*|/[\w/*]+|[-\d][\d_.]*|[{}\[\]=,]|\s+|.')
ODD = [
    "{", "}", "=", "[", "]", ",", '"', '"x"', "1..3", "3..1", "-1", "1e999", "9" * 40, "1 ms", "1 B", "/a/*", "/", "*",
    "#", "\n", "\0", "\ufeff", "é", "🙂", "true", "row", "frozen", "golden", "import", "family", "baseline", "all",
    "capacity", "topology", "timing", "aggregated", "disaggregated", "polynomial", "slice", "correction", "expect",
    "max_in_flight = 3", "family = paged", 'frozen = "x.json"', 'golden = "x.yaml"', 'import "x.campaign"', "rows = []",
]  # fmt: skip

quick = settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def _plan_or_diagnostics(text: str) -> str:
    """A plan's digest, `fragment`, or `refused` with diagnostics that can be shown; anything else is no answer."""
    result = check_text(text, "<fuzz>", str(EXAMPLES))
    for diagnostic in result.diagnostics:
        assert 0 <= diagnostic.span.start <= diagnostic.span.end <= len(diagnostic.span.source.text)
        assert diagnostic.message and "\n" not in diagnostic.message
    if not result.ok:
        return "refused" if result.diagnostics else "refused without a word"
    if result.fragment:
        return "fragment"
    return "no campaign" if result.campaign is None else digest_of(canonical_bytes(build_plan(result.campaign)))


ANSWER = re.compile("[0-9a-f]{64}|fragment|refused")


@quick
@given(st.text(max_size=400))
@example("")
@example("campaign")
@example('campaign "x" { }')
@example("row")
@example('import ""')
def test_any_text(text: str) -> None:
    assert ANSWER.fullmatch(_plan_or_diagnostics(text))


@quick
@given(st.sampled_from(BASES), st.randoms(use_true_random=False), st.integers(1, 6))
def test_mutated_campaigns(base: str, randoms: random.Random, count: int) -> None:
    tokens = TOKENS.findall(base)
    for _ in range(count):
        at = randoms.randrange(len(tokens))
        kind = randoms.randrange(5)
        if kind == 0:
            del tokens[at]
        elif kind == 1:
            tokens[at] = randoms.choice(ODD)
        elif kind == 2:
            tokens.insert(at, " " + randoms.choice(ODD) + " ")
        elif kind == 3:
            other = randoms.randrange(len(tokens))
            tokens[at], tokens[other] = tokens[other], tokens[at]
        else:
            end = min(len(tokens), at + randoms.randrange(60))
            tokens[at:at] = tokens[at:end]
    assert ANSWER.fullmatch(_plan_or_diagnostics("".join(tokens)))


def _blocks(text: str) -> list[str]:
    """The top-level blocks of a text that has every closing brace of one at the start or the end of a line."""
    found, depth, start = [], 0, 0
    for match in re.finditer(r'"[^"]*"|[{}]', text):
        depth += {"{": 1, "}": -1}.get(match[0], 0)
        if match[0] == "}" and depth == 0:
            found.append(text[start : match.end()])
            start = match.end()
    return found


def _digest(text: str) -> str:
    result = check_text(text, "<text>", "")
    assert result.ok and result.campaign is not None, said(result.diagnostics)
    return digest_of(canonical_bytes(build_plan(result.campaign)))


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(BASES), st.randoms(use_true_random=False))
def test_the_order_of_blocks_does_not_matter(base: str, randoms: random.Random) -> None:
    blocks = _blocks(base)
    randoms.shuffle(blocks)
    assert _digest("\n".join(blocks)) == _digest(base)


@settings(max_examples=60, deadline=None)
@given(st.randoms(use_true_random=False))
def test_the_order_of_attributes_and_lists_without_order_does_not_matter(randoms: random.Random) -> None:
    def shuffled(match: re.Match[str]) -> str:
        parts = re.findall(r"[a-z_0-9]+ = (?:\[[^\]]*\]|[\w./]+(?: (?:GB/s|B|ms))?)", match[1])
        randoms.shuffle(parts)
        return "{ " + randoms.choice([" ", ", ", "\n  "]).join(parts) + " }"

    text = re.sub(r"\{ ([^{}\n]+) \}", shuffled, WHOLE)
    lines = re.search(r"exclude \{\n(.*?)\}", text, re.S)
    assert lines
    pointers = lines[1].split()
    randoms.shuffle(pointers)
    text = text.replace(lines[1], "\n".join(pointers) + "\n")
    assert _digest(text) == _digest(WHOLE)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("block_size = 64 ", "block_size = 64  # a comment\n"),
        ("6_144", "6144"),
        ("1.05", "1.050"),
        ("100 GB/s", "100.0 GB/s"),
        ("262_144 B", "256 KiB"),
        ("ratio = 2.0", "ratio = 2"),
        ("10 ms", "0.01 s"),
        ("latency", "latency"),
        ("{ workers = 4 }", "{ workers = 4 dp = 1 tp = 1 }"),
        ("mode = full_prompt }", "mode = full_prompt latency = 0 ms }"),
        ('"aisimulate==0.12.0.dev2"', '"AISimulate == 0.12.0.dev2"'),
        ("9b50283211b7927a", "9B50283211B7927A"),
        ("  engine = sglang", "  engine = sglang\n  composition { scaling = none }"),
    ],
)
def test_what_means_the_same_has_one_digest(old: str, new: str) -> None:
    base = WHOLE if old != "latency" else WHOLE.replace("  # nothing", "")
    assert _digest(base.replace(old, new, 1)) == _digest(base)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("6_144", "6_145"),
        ("ratio = 2.0", "ratio = 2.0000000000000004"),
        ("One change", "Another change"),
        ("workers = all", ""),
        ("row sglang-disaggregated", "row sglang"),
        ("seed      = 20261129", "seed      = 20261130"),
        ("2.5 ms", "2.6 ms"),
        ("full_prompt", "destination_missing"),
        ("the next build", "the following build"),
    ],
)
def test_what_means_something_else_has_another_digest(old: str, new: str) -> None:
    assert _digest(WHOLE.replace(old, new, 1)) != _digest(WHOLE)


@pytest.mark.parametrize(
    "surroundings",
    [
        {"PYTHONHASHSEED": "0"},
        {"PYTHONHASHSEED": "4711"},
        {"LC_ALL": "C"},
        {"LC_ALL": "tr_TR.UTF-8", "LANG": "tr_TR.UTF-8"},
        {"TZ": "Pacific/Kiritimati"},
        {"PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "LC_ALL": "POSIX"},
    ],
)
def test_the_digest_does_not_depend_on_the_surroundings(surroundings: dict[str, str], tmp_path: Path) -> None:
    path = EXAMPLES / "everything-else.campaign"
    here = compile_file(path).plan_digest
    code = "import sys; from aisimc_compiler.api import compile_file; print(compile_file(sys.argv[1]).plan_digest)"
    environment = {**os.environ, **surroundings, "PYTHONPATH": str(ROOT / "compiler")}
    done = subprocess.run(
        [sys.executable, "-c", code, os.path.relpath(path, tmp_path)],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == here
