"""Measure one row where this runs: `python -m aisimc_runtime.gate.row FOLDER`.

A process of its own, so that the affinity it sets and the signals it takes are nobody else's, and so that
an executor can start it on any node. It says what happens as JSON lines on standard output, and ends with
the exit status of `aisimc`.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import filelock

from aisimc_compiler.plan import schedule
from aisimc_runtime.command.exits import Exit
from aisimc_runtime.engines.registry import engine_for
from aisimc_runtime.failures import Blocked, Failure, Interrupted
from aisimc_runtime.gate import placement
from aisimc_runtime.gate.bench import ProcessBench, Staged, stage_locally
from aisimc_runtime.gate.job import GateJob
from aisimc_runtime.gate.placement import Placement
from aisimc_runtime.gate.process import die_with_parent
from aisimc_runtime.gate.result import build
from aisimc_runtime.gate.sampler import Evicted, Sampler
from aisimc_runtime.gate.samples import Recorder, cut_torn_line, history, read_events
from aisimc_runtime.gate.telemetry import gate_node_facts
from aisimc_runtime.ports.files import write_atomic

SAME_NODE = ("hostname", "cpu_model", "microcode", "kernel")
"""What must not differ between two sessions of one row (`run.same-node`)."""

Say = Callable[[str], None]


def main() -> int:
    """Entry point; the one argument is the row's gate folder."""
    die_with_parent(signal.SIGINT)  # nobody measures on behalf of a campaign that is gone
    try:
        measure(Path(sys.argv[1]), lambda text: _tell(say=text))
    except Failure as failure:
        _tell(failure={"message": failure.message, "help": failure.help, "exit": int(failure.exit)})
        return int(failure.exit)
    except KeyboardInterrupt:  # before or after the part that has handlers of its own
        return int(Exit.INTERRUPTED)
    return 0


def measure(folder: Path, say: Say) -> None:
    """Sample the row to its end and write `gate.json`; nothing to do where it stands already.

    Raises `Blocked` when the row cannot be measured as pinned, `Interrupted` when a signal asked for the end.
    """
    if (folder / "gate.json").is_file():
        return
    job = GateJob.read(folder)
    with one_gate_per_node(say):
        staged = stage_locally(job)
        place = persist_schedule(job)
        torn = cut_torn_line(folder / "samples.jsonl")
        past = history(read_events(folder / "samples.jsonl"))
        with Recorder(folder / "samples.jsonl") as record:
            if torn:
                record.write("note", text="a torn last line was cut off", bytes=torn)
            session = _session(staged, place)
            _same_node(past.sessions, session["node"])
            record.write("session", session=len(past.sessions) + 1, **session)
            bench = _bench(job, staged, place)
            with signals(bench):
                Sampler(
                    steps=schedule.steps(job.design.seed, job.row),
                    history=past,
                    record=record,
                    bench=bench,
                    declared=job.design.invalidate_on,
                    say=say,
                ).run()
            staged.verify()
    gate = build(job.design, job.row, history(read_events(folder / "samples.jsonl")))
    write_atomic(folder / "gate.json", json.dumps(gate, sort_keys=True, indent=1).encode() + b"\n")
    shutil.rmtree(staged.work, ignore_errors=True)
    say(f"{job.row}: {gate['result']}: {gate['reason']}")


def persist_schedule(job: GateJob) -> Placement:
    """Write the order and the CPUs before the first process, or read them back and check them.

    Raises `Blocked` when the schedule that is there is not the plan's, or its CPUs are not ours any more.
    """
    path = job.folder / "schedule.json"
    planned = _schedule(job)
    if not path.is_file():
        place = placement.choose(job.cpus, job.cpus_per_process)
        data = planned | {"cpus": list(place.cpus), "numa_nodes": list(place.numa_nodes)}
        write_atomic(path, json.dumps(data, sort_keys=True, indent=1).encode() + b"\n")
        return place
    found = json.loads(path.read_bytes())
    if {key: found.get(key) for key in planned} != planned:
        raise Blocked(f"{path} is not the schedule that the plan declares", help="run the campaign with --again")
    return placement.again(found["cpus"], found["numa_nodes"])


def _schedule(job: GateJob) -> dict[str, Any]:
    steps = schedule.steps(job.design.seed, job.row)
    return {
        "schema": "aisimc.schedule/1",
        "row": job.row,
        "seed": job.design.seed,
        "generator": "splitmix64",
        "row_seed": schedule.row_seed(job.design.seed, job.row),
        "steps": [[step.order, step.kind, step.number, step.position, step.arm] for step in steps],
    }


def _session(staged: Staged, place: Placement) -> dict[str, Any]:
    return {
        "node": gate_node_facts(),
        "cpus": list(place.cpus),
        "harness_cpus": list(place.harness_cpus),
        "numa_nodes": list(place.numa_nodes),
        "storage": placement.file_system(staged.work.resolve()),
        "verified": {file.path.name: file.sha256 for file in staged.files},
    }


def _same_node(sessions: tuple[dict[str, Any], ...], node: dict[str, Any]) -> None:
    if not sessions:
        return
    began = sessions[0]["node"]
    changed = [key for key in SAME_NODE if began.get(key) != node.get(key)]
    if changed:
        what = ", ".join(f"{key} {began.get(key)!r} is now {node.get(key)!r}" for key in changed)
        raise Blocked(
            f"the row's samples began on another node or another kernel: {what}",
            help="all samples of a row come from one node: continue there, or measure anew with --again",
        )


def _bench(job: GateJob, staged: Staged, place: Placement) -> ProcessBench:
    engines = {arm: engine_for(artifact.source) for arm, artifact in staged.artifacts.items()}
    return ProcessBench(
        staged=staged,
        command=lambda artifact, config, out: engines[artifact.arm].command(artifact, config, out),
        placement=place,
        time_limit_s=job.time_limit_s,
    )


@contextlib.contextmanager
def one_gate_per_node(say: Say) -> Iterator[None]:
    """Hold this user's lock on measuring on this node: two gates at once would be each other's load."""
    path = Path(tempfile.gettempdir()) / f"aisimc-gate-{os.getuid()}.lock"
    lock = filelock.FileLock(path)
    try:
        lock.acquire(blocking=False)
    except filelock.Timeout:
        say("waiting for another gate on this node to end")
        lock.acquire()
    try:
        yield
    finally:
        lock.release()


@contextlib.contextmanager
def signals(bench: ProcessBench) -> Iterator[None]:
    """Turn SIGINT into `Interrupted`, SIGTERM into `Evicted`, and let SIGCONT be seen by the bench."""

    def interrupted(_number: int, _frame: FrameType | None) -> None:
        bench.asked_to_end = Interrupted("interrupted; run it again to continue at this pair")
        raise bench.asked_to_end

    def evicted(_number: int, _frame: FrameType | None) -> None:
        bench.asked_to_end = Evicted("told to end by SIGTERM; run it again to continue at this pair")
        raise bench.asked_to_end

    def continued(_number: int, _frame: FrameType | None) -> None:
        bench.continued = True

    handlers = {signal.SIGINT: interrupted, signal.SIGTERM: evicted, signal.SIGCONT: continued}
    before = {number: signal.signal(number, handler) for number, handler in handlers.items()}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _tell(**line: Any) -> None:
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
