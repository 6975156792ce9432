"""A scheduler that exists only in memory, one class behind the port: what another scheduler would be."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from aisimc_runtime.executors.cluster import bundle
from aisimc_runtime.executors.cluster.port import (
    Answer,
    JobAnswer,
    JobView,
    Known,
    Phase,
    Request,
    SubmitAnswer,
    SubmitRefused,
    Submitted,
    Unknown,
)


@dataclass(slots=True)
class Job:
    """One job of the simulated cluster (mutable: the test moves it)."""

    request: Request
    phase: Phase = Phase.WAITING
    word: str = "PENDING"
    node: str = ""

    def view(self, number: str) -> JobView:
        return JobView(number, self.phase, self.word, "", self.node, self.request.name)


@dataclass(slots=True)
class SimulatedScheduler:
    """Answers from memory; `away` makes every question unknown, `answers` overrides the next submissions."""

    title: str = "the simulated scheduler"
    jobs: dict[str, Job] = field(default_factory=dict)
    away: str = ""
    answers: list[SubmitAnswer | Callable[[Request], SubmitAnswer]] = field(default_factory=list)
    cancelled: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    numbers: Iterator[int] = field(default_factory=lambda: itertools.count(100))

    def probe(self, request: Request) -> SubmitRefused | None:
        return None

    def take(self, request: Request) -> str:
        """Put a job into the queue, answered or not."""
        number = str(next(self.numbers))
        self.jobs[number] = Job(request)
        return number

    def submit(self, request: Request) -> SubmitAnswer:
        self.asked.append("submit")
        if self.answers:
            answer = self.answers.pop(0)
            return answer(request) if callable(answer) else answer
        return Submitted(self.take(request))

    def queue(self, jobs: Sequence[str]) -> Mapping[str, JobAnswer]:
        self.asked.append("queue")
        if self.away:
            return {job: Unknown(self.away) for job in jobs}
        return {job: Known(self.jobs[job].view(job) if job in self.jobs else None) for job in jobs}

    def accounting(self, jobs: Sequence[str]) -> Mapping[str, JobAnswer]:
        self.asked.append("accounting")
        return {job: Unknown("no accounts are kept") for job in jobs}

    def find(self, names: Sequence[str]) -> Answer[tuple[JobView, ...]]:
        self.asked.append("find")
        if self.away:
            return Unknown(self.away)
        return Known(tuple(job.view(number) for number, job in self.jobs.items() if job.request.name in names))

    def cancel(self, jobs: Sequence[str]) -> Answer[None]:
        self.cancelled += jobs
        for job in jobs:
            self.jobs[job].phase, self.jobs[job].word = Phase.CANCELLED, "CANCELLED"
        return Known(None)

    # --- what a test lets happen ------------------------------------------------------------------------------

    def run(self, job: str, node: str = "n1") -> None:
        """The job starts on a node."""
        self.jobs[job].phase, self.jobs[job].word, self.jobs[job].node = Phase.RUNNING, "RUNNING", node

    def end(self, job: str, phase: Phase, word: str) -> None:
        """The job ends in some way."""
        self.jobs[job].phase, self.jobs[job].word = phase, word

    def finish(self, job: str, scratch: Path) -> None:
        """The job brings its row's result back whole, as the node's part would."""
        row = self.jobs[job].request.folder
        stage = json.loads((row / "stage.json").read_bytes())
        made = scratch / f"made-{job}"
        for arm, repetition in stage["job"]["orders"]:
            folder = made / "replays" / f"{arm}-{repetition}"
            folder.mkdir(parents=True)
            (folder / "process.json").write_text(json.dumps({"node": {"hostname": "n1"}, "affinity_read_back": [0]}))
            (folder / "digests.json").write_text(json.dumps({"canonical_sha256": "d" * 64}))
        (made / "collected.json").write_text("{}")
        facts = {"row": stage["row"], "identity": stage["identity"], "node": self.jobs[job].node}
        bundle.publish(made, row / "result", row / "attempts" / f"{job}.0" / "partial", facts)
        self.end(job, Phase.COMPLETED, "COMPLETED")
