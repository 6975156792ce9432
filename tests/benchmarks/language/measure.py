"""CPU time of start-up and growth of `aisimc check`, beside the bare interpreter and peers, in one run.

    python -m tests.benchmarks.language.measure [--runs 9]

Prints a table for README.md. Commands are interleaved; of each the least CPU time (user and system, children
included) counts, which is what a quiet machine would give.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

SPECS = Path(__file__).resolve().parents[3] / "specs"

HEAD = """campaign "generated" { language = 1 purpose = "Grow" corpus = long matrix = focused }
revision baseline {
  wheel  = "aisimulate==0.12.0.dev1"
  sha256 = "9334cf5150e74eeff8f55c68a6b01f3cc355d89f5652504ee6c235e02f9d9bd2"
}
revision candidate {
  wheel    = "aisimulate==0.12.0.dev2"
  sha256   = "9b50283211b7927a7d80a87a98a2eb0d869376b6459f9eaf0d18acebef4593e4"
  relation = "the next build of the same line"
}
determinism { mode = canonical_v1 repetitions = 2 correction stable_request_identity { } }
input conversation {
  format     = mooncake
  block_size = 512
  upstream   = "https://github.com/kvcache-ai/Mooncake"
  commit     = "3cca71daccf2a7afb8fe3f0295358f70e3a69fdb"
  path       = "FAST25-release/traces/conversation_trace.jsonl"
  sha256     = "b8cbb061a85206d729d91cdc2981f43c9e0d99209dce588d3af5f7934408b9df"
  rows       = 12_031
}
exclude {
  /summary/wall_time_ms
  /summary/processed_tokens_per_s
  /summary/processed_output_tokens_per_s
  /planner/html_report_path
}
family base {
  input = conversation
  timing polynomial
  capacity { num_gpu_blocks = 6_337 block_size = 64 max_num_seqs = 16 max_num_batched_tokens = 8_192 }
}
"""


def generated(rows: int) -> str:
    """A valid campaign of so many rows, each of about 110 bytes."""
    body = "family = base engine = vllm topology aggregated { workers = 4 } evidence { preemptions = 1..3 }"
    return HEAD + "".join(f"row r{number} {{ {body} }}\n" for number in range(rows))


def broken(errors: int) -> str:
    """A text with so many mistakes."""
    return HEAD + "".join(f"row r{number} {{ family = base engine: vllm }}\n" for number in range(errors))


def cpu_ms(command: list[str]) -> tuple[float, int]:
    """CPU milliseconds and peak memory (MiB) of one run."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return spent * 1000, after.ru_maxrss // 1024


def main() -> None:
    """Measure and print the table."""
    options = argparse.ArgumentParser()
    options.add_argument("--runs", type=int, default=9)
    runs: int = options.parse_args().runs
    with tempfile.TemporaryDirectory() as folder:
        commands = _commands(Path(folder))
        least = dict.fromkeys(commands, float("inf"))
        for number in range(runs):
            for name, (command, slow) in commands.items():
                if number < (3 if slow else runs):
                    least[name] = min(least[name], cpu_ms(command)[0])
    bare = least["python -c pass"]
    out = [
        f"load {os.getloadavg()[0]:.1f}, {runs} runs, least CPU ms",
        "",
        "| command | CPU ms | bare starts |",
        "| --- | ---: | ---: |",
    ]
    out += [f"| {name} | {spent:,.0f} | {spent / bare:.1f} |" for name, spent in least.items()]
    sys.stdout.write("\n".join(out) + "\n")


def _commands(folder: Path) -> dict[str, tuple[list[str], bool]]:
    aisimc = [str(Path(sys.executable).with_name("aisimc"))]
    texts = {"100 rows": generated(100), "1,000 rows": generated(1000), "10,000 rows": generated(10_000)}
    texts |= {"10,000 mistakes": broken(10_000)}
    commands: dict[str, tuple[list[str], bool]] = {
        "python -c pass": ([sys.executable, "-c", "pass"], False),
        "aisimc --version": ([*aisimc, "--version"], False),
        "aisimc --help": ([*aisimc, "--help"], False),
        "import lark": ([sys.executable, "-c", "import lark"], False),
        "import click": ([sys.executable, "-c", "import click"], False),
    }
    for stem in ("quickstart", "nightly-conversation", "published-5000"):
        commands[f"check {stem}"] = ([*aisimc, "check", str(SPECS / f"{stem}.campaign")], False)
    commands["fmt --check nightly-conversation"] = (
        [*aisimc, "fmt", "--check", str(SPECS / "nightly-conversation.campaign")],
        False,
    )
    for name, text in texts.items():
        path = folder / f"{name.replace(' ', '-')}.campaign"
        path.write_text(text, encoding="utf-8")
        commands[f"check {name} ({len(text) / 1e6:.2f} MB)"] = ([*aisimc, "check", str(path)], len(text) > 500_000)
    for peer, command in (
        ("doit --version", ["doit", "--version"]),
        ("snakemake --version", ["snakemake", "--version"]),
    ):
        found = Path(sys.executable).with_name(command[0])
        if found.exists():
            commands[peer] = ([str(found), *command[1:]], False)
    return commands


if __name__ == "__main__":
    main()
