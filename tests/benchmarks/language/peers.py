"""Start-up and planning beside other tools that plan, in one run: CPU seconds and peak memory of each.

    python -m tests.benchmarks.language.peers [--sizes 100,1000,10000] [--limit 300] [--bin DIR]

The peers plan N independent jobs of two steps, nothing of which has been run (a dry run); `aisimc` checks and plans N
rows, each of four replays and four judgements (about ten actions). What is not on PATH or in --bin is said.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from tests.benchmarks.language.measure import generated


class Peer(NamedTuple):
    """A tool: how its spec of N jobs is written, and its command lines."""

    spec: str
    """The file's name."""
    text: Callable[[int], str]
    commands: tuple[tuple[str, ...], ...]


def _make(jobs: int) -> str:
    rules = "".join(f"out/{n}.a:\n\techo {n} > $@\nout/{n}.b: out/{n}.a\n\tcp $< $@\n" for n in range(jobs))
    return f"all: {' '.join(f'out/{n}.b' for n in range(jobs))}\n{rules}"


def _ninja(jobs: int) -> str:
    rules = "rule a\n  command = echo $out > $out\nrule b\n  command = cp $in $out\n"
    return rules + "".join(f"build out/{n}.a: a\nbuild out/{n}.b: b out/{n}.a\n" for n in range(jobs))


def _doit(jobs: int) -> str:
    return (
        f"def task_a():\n    for n in range({jobs}):\n"
        "        yield {'name': n, 'actions': [f'echo {n} > out/{n}.a'], 'targets': [f'out/{n}.a']}\n"
        f"def task_b():\n    for n in range({jobs}):\n"
        "        yield {'name': n, 'actions': [f'cp out/{n}.a out/{n}.b'], 'file_dep': [f'out/{n}.a'],"
        " 'targets': [f'out/{n}.b']}\n"
    )


def _snakemake(jobs: int) -> str:
    return (
        f"rule all:\n    input: expand('out/{{n}}.b', n=range({jobs}))\n"
        "rule a:\n    output: 'out/{n}.a'\n    shell: 'echo {wildcards.n} > {output}'\n"
        "rule b:\n    input: 'out/{n}.a'\n    output: 'out/{n}.b'\n    shell: 'cp {input} {output}'\n"
    )


PEERS = {
    "make": Peer("Makefile", _make, (("--version",), ("-n",))),
    "ninja": Peer("build.ninja", _ninja, (("--version",), ("-n",))),
    "doit": Peer("dodo.py", _doit, (("--version",), ("list", "--all", "-s"))),
    "snakemake": Peer("Snakefile", _snakemake, (("--version",), ("-n", "--quiet", "all"))),
    "aisimc": Peer("x.campaign", generated, (("--version",), ("check", "x.campaign"), ("plan", "x.campaign"))),
}


class Cost(NamedTuple):
    """What one run took; `ended` is False when it was stopped at the limit."""

    cpu_s: float
    peak_mib: int
    ended: bool


def cost(command: list[str], folder: Path, limit_s: float) -> Cost:
    """Run a command under a small parent of its own, so that its peak memory is not an earlier child's."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        ended = True
        try:
            subprocess.run(command, cwd=folder, capture_output=True, timeout=limit_s, check=False)
        except subprocess.TimeoutExpired:
            ended = False
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        os.write(writer, f"{used.ru_utime + used.ru_stime} {used.ru_maxrss // 1024} {int(ended)}".encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as stream:
        cpu, peak, ended_word = stream.read().split()
    os.waitpid(pid, 0)
    return Cost(float(cpu), int(peak), ended_word == "1")


def main() -> None:
    """Measure and print one table."""
    options = argparse.ArgumentParser()
    options.add_argument("--sizes", default="100,1000,10000")
    options.add_argument("--limit", type=float, default=300.0)
    options.add_argument("--bin", type=Path, help="a folder with peers, such as a virtual environment's bin")
    given = options.parse_args()
    sizes = [int(word) for word in given.sizes.split(",")]
    path = os.pathsep.join(
        [*map(str, [given.bin] if given.bin else []), str(Path(sys.executable).parent), os.environ["PATH"]]
    )
    put = sys.stdout.write
    put(f"load {os.getloadavg()[0]:.1f}; CPU s / peak MiB\n\n")
    put(f"| command | {' | '.join(f'{size:,}' for size in sizes)} |\n| --- |{' ---: |' * len(sizes)}\n")
    for name, peer in PEERS.items():
        tool = shutil.which(name, path=path)
        if tool is None:
            put(f"| {name}: not here | {' | '.join('' for _ in sizes)} |\n")
            continue
        for arguments in peer.commands:
            cells = []
            for size in sizes[:1] if arguments == ("--version",) else sizes:
                with tempfile.TemporaryDirectory() as folder:
                    (Path(folder) / peer.spec).write_text(peer.text(size), encoding="utf-8")
                    found = cost([tool, *arguments], Path(folder), given.limit)
                cells.append(f"{'' if found.ended else '> '}{found.cpu_s:.2f} / {found.peak_mib}")
            put(f"| {name} {' '.join(arguments)} | {' | '.join(cells)} |\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
