"""Differential fuzzing: random small replays on the reference core and on a published runtime.

Run from the repository's root::

    python -m tests.benchmarks.fidelity.fuzz path/to/_runtime.abi3.so --cases 300
"""

from __future__ import annotations

import argparse
import collections
import json
import sys
from pathlib import Path

from .arms import Answer, Arm, Payload, core_arm, wheel_arm
from .cases import Shape, payload
from .compare import compare

SHAPES = {
    "vllm": Shape("vllm", disaggregated=False),
    "vllm-whole-prompts": Shape("vllm", disaggregated=False, chunked=False),
    "trtllm": Shape("trtllm", disaggregated=False),
    "sglang": Shape("sglang", disaggregated=False),
    "vllm-handoff": Shape("vllm", disaggregated=True),
    "trtllm-handoff": Shape("trtllm", disaggregated=True),
    "sglang-handoff": Shape("sglang", disaggregated=True),
}


def outcome(ours: Answer, theirs: Answer) -> str:
    """One word for a case: how the two answers relate."""
    if "timeout" in theirs or "crash" in theirs:
        return "wheel does not return" if "timeout" not in ours else "neither returns"
    if "timeout" in ours or "crash" in ours:
        return "CORE DOES NOT RETURN"
    if "error" in ours or "error" in theirs:
        return "same error" if ours.get("error") == theirs.get("error") else "ERRORS DIFFER"
    return "equal" if compare(ours["report"], theirs["report"]).is_equal else "DIFFERENT"


def explain(case: Payload, ours: Answer, theirs: Answer) -> str:
    """Lines that say where a case parts."""
    if "report" not in ours or "report" not in theirs:
        return f"  core: {ours.get('error', 'returned')}\n  wheel: {theirs.get('error', 'returned')}"
    found = compare(ours["report"], theirs["report"])
    return f"  {found.equal_times}/{found.requests} times equal; keys {found.summary_keys[:6]}\n  {found.parting}"


def run(shape: str, seeds: range, arms: tuple[Arm, Arm], keep: Path | None) -> collections.Counter[str]:
    """Run the cases of one shape; differing ones are explained and, with ``keep``, written down."""
    core, wheel = arms
    counts: collections.Counter[str] = collections.Counter()
    for seed in seeds:
        case = payload(SHAPES[shape], seed)
        theirs = wheel.replay(case, limit_s=4.0)
        ours = core.replay(case, limit_s=20.0)
        verdict = outcome(ours, theirs)
        counts[verdict] += 1
        if verdict.isupper():
            sys.stdout.write(f"{shape} {seed}: {verdict}\n{explain(case, ours, theirs)}\n")
            if keep is not None:
                (keep / f"{shape}-{seed}.json").write_text(json.dumps(case))
    return counts


def main() -> int:
    """Command line entry; the status is the number of shapes with differences, at most 1."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("runtime", type=Path)
    parser.add_argument("--cases", type=int, default=100)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--shape", choices=sorted(SHAPES), action="append")
    parser.add_argument("--keep", type=Path)
    options = parser.parse_args()
    arms = (core_arm(), wheel_arm(options.runtime))
    failed = 0
    for shape in options.shape or SHAPES:
        counts = run(shape, range(options.first, options.first + options.cases), arms, options.keep)
        failed |= any(verdict.isupper() for verdict in counts)
        sys.stdout.write(f"{shape}: {dict(counts)}\n")
        sys.stdout.flush()
    for arm in arms:
        arm.close()
    return failed


if __name__ == "__main__":
    sys.exit(main())
