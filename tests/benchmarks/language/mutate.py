"""Mutates campaigns without end: every text must give diagnostics or a plan, in bounded time, and never an exception.

    python -m tests.benchmarks.language.mutate --texts 1000000 [--seed 1] [--short]

Prints a line every ten thousand texts. A text that fails is written to `failed.campaign` with its seed.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
import traceback
from pathlib import Path

from aisimc_compiler.api import check_text
from aisimc_compiler.diagnostics.render import text as renderer
from aisimc_compiler.plan.build import build_plan, canonical_bytes
from aisimc_compiler.source import Source
from aisimc_compiler.syntax.format import format_source
from aisimc_compiler.syntax.parser import parse
from tests.builders.mutations import mutated, noise
from tests.builders.texts import EVERY_CONSTRUCT, SPECS

SLOW_S = 2.0


def one(randoms: random.Random, bases: list[str], *, short: bool = False) -> str:
    """The next text: pieces in any order, a damaged part, or (unless they are to be short) a damaged whole."""
    kind = randoms.random() * (0.7 if short else 1.0)
    if kind < 0.3:
        return noise(randoms, randoms.randrange(1, 80))
    base = randoms.choice(bases)
    start = randoms.randrange(len(base)) if kind < 0.7 else 0
    return mutated(base[start : start + (1000 if kind < 0.7 else len(base))], randoms, randoms.choice((1, 1, 2, 3, 8)))


def hold(text: str) -> None:
    """What must hold of any text."""
    source = Source("x.campaign", text)
    result = check_text(text, "x.campaign")
    shown = "".join(renderer.render(result.diagnostics, lambda rule: "AC0000"))
    assert bool(result.diagnostics) == bool(shown)
    if result.ok and not result.fragment and "\ud800" not in text:  # half a surrogate pair is in no file
        assert result.campaign is not None
        assert canonical_bytes(build_plan(result.campaign))
    if not parse(source)[1]:
        once = format_source(source).text
        assert once is not None
        assert format_source(Source("x.campaign", once)).text == once


def main() -> int:
    """Run; the status is 1 when a text failed."""
    options = argparse.ArgumentParser()
    options.add_argument("--texts", type=int, default=1_000_000)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--short", action="store_true", help="no whole campaigns: several times as many a minute")
    arguments = options.parse_args()
    bases = [EVERY_CONSTRUCT, *(path.read_text(encoding="utf-8") for path in SPECS)]
    begun, slowest = time.monotonic(), 0.0
    for number in range(arguments.texts):
        seed = arguments.seed * 10**9 + number
        text = one(random.Random(seed), bases, short=arguments.short)
        start = time.monotonic()
        try:
            hold(text)
        except BaseException:
            Path("failed.campaign").write_text(text, encoding="utf-8", errors="surrogatepass")
            sys.stderr.write(f"seed {seed}: written to failed.campaign\n{traceback.format_exc()}")
            return 1
        slowest = max(slowest, time.monotonic() - start)
        if number % 10_000 == 9_999:
            rate = (number + 1) / (time.monotonic() - begun)
            sys.stdout.write(f"{number + 1:,} texts, {rate:,.0f} a second, slowest {slowest:.2f} s\n")
            sys.stdout.flush()
        if slowest > SLOW_S:
            sys.stderr.write(f"seed {seed}: slower than {SLOW_S} s\n")
            slowest = 0.0
    return 0


if __name__ == "__main__":
    sys.exit(main())
