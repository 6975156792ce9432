"""One campaign from its plan to its verdict, in the plan's stages, each step in the journal.

Anything that is already in the run folder, and still is what it was, is not done again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from aisimc_compiler.rules.refusal import plural
from aisimc_runtime.engines.base import Acquired, Artifact, EngineContext
from aisimc_runtime.engines.registry import engine_for
from aisimc_runtime.executors.base import Note, ReplayFinished, ReplayStarted, RowBlocked, RowEvent, RowFinished
from aisimc_runtime.executors.registry import executor_for
from aisimc_runtime.failures import Blocked, Failure, Interrupted
from aisimc_runtime.inputs import acquire as inputs
from aisimc_runtime.inputs.capacity import too_small
from aisimc_runtime.inputs.locate import input_folders
from aisimc_runtime.journal.journal import Journal
from aisimc_runtime.ports.files import explain, sha256_file
from aisimc_runtime.ports.processes import Processes
from aisimc_runtime.run import finish
from aisimc_runtime.run.exception_tests import run_test, tests_of
from aisimc_runtime.run.folder import RunFolder
from aisimc_runtime.run.plan import Plan, find_file
from aisimc_runtime.run.profile import Profile
from aisimc_runtime.run.progress import Progress
from aisimc_runtime.run.staging import (
    Arm,
    forget_rows,
    kept_replays,
    probe,
    same_artifacts,
    stage_rows,
    unstage,
    write_json,
)
from aisimc_runtime.run.together import at_once
from aisimc_runtime.store.content import Store
from aisimc_runtime.store.known_runs import remember

T = TypeVar("T")
Json = dict[str, Any]


@dataclass(slots=True)
class Campaign:
    """A plan being carried out (mutable on purpose: the stages fill it in)."""

    plan: Plan
    folder: RunFolder
    store: Store
    profile: Profile
    progress: Progress
    journal: Journal
    processes: Processes = field(default_factory=Processes)
    acquired: dict[str, Acquired] = field(default_factory=dict)
    arms: dict[str, Arm] = field(default_factory=dict)
    ready: dict[str, inputs.Ready] = field(default_factory=dict)

    def carry_out(self) -> Json:
        """All stages; the report. Raises `Blocked` or `Interrupted`, both noted in the journal; nothing is lost."""
        try:
            with self.store.in_use():
                executor_for(self.profile.executor).check(self.profile)
                self.acquire()
                self.build()
                self.journal.append("done", "barrier")
                self._replay()
                self._judge()
                self._gate()
                return self._report()
        except Interrupted as failure:
            self.journal.append("interrupted", message=failure.message)
            raise
        except Failure as failure:
            self._note_blocked(failure)
            raise
        except OSError as error:
            blocked = explain(error, "the campaign cannot go on")
            self._note_blocked(blocked)
            raise blocked from error
        finally:
            self.processes.end_all()

    def _note_blocked(self, failure: Failure) -> None:
        try:
            self.journal.append("blocked", message=failure.message, help=failure.help)
        except Failure:
            return  # the journal's own disk is what gave up

    def acquire(self) -> None:
        """Revisions and inputs, at once: both are mostly waiting for the network."""
        data = self.plan.data
        self.progress.stage("acquire", f"{len(self.plan.arms)} revisions, {plural(len(data['inputs']), 'input')}")
        remember(self.store, self.folder.path.parent)
        sources = inputs.Sources(self.store, self.plan.base, input_folders(), self.processes, self.progress.say)

        def revision(arm: str) -> Acquired:
            pinned = data["revisions"][arm]
            return self._step(
                f"acquire-revision/{arm}", lambda: engine_for(pinned["source"]).acquire(arm, pinned, self._context())
            )

        def trace(name: str) -> inputs.Ready:
            spec = data["inputs"][name]
            path, where = self._step(f"acquire-input/{name}", lambda: inputs.acquire(name, spec, sources))
            return self._step(f"verify-slice/{name}", lambda: inputs.verify(name, spec, path, where, self.store))

        work: list[tuple[str, Callable[[str], Any]]] = [(arm, revision) for arm in self.plan.arms] + [
            (name, trace) for name in data["inputs"]
        ]
        found = at_once([partial(task, key) for key, task in work], self.processes.end_all)
        self.acquired = dict(zip(self.plan.arms, found, strict=False))
        self.ready = dict(zip(data["inputs"], found[len(self.plan.arms) :], strict=True))
        self._verify_relation()
        small = too_small(data, {name: ready.facts for name, ready in self.ready.items()})
        if small:
            raise Blocked("\n".join(small), help="`row.capacity`: no replay was started; give those pools more blocks")
        self._write_inputs()

    def _verify_relation(self) -> None:
        """A claimed ancestry, in git (`pin.relation`); only two checkouts of one repository can claim one."""
        relation, revisions = self.plan.data["relation"], self.plan.data["revisions"]
        if relation is not None and relation["kind"] == "ancestor":
            from aisimc_runtime.engines.checkout import verify_ancestry

            check = partial(verify_ancestry, revisions["baseline"], revisions["candidate"], self._context())
            self._step("verify-relation", check)

    def _context(self) -> EngineContext:
        return EngineContext(
            store=self.store,
            processes=self.processes,
            scratch=self.folder.scratch,
            build=self.plan.data["build"],
            corrections=self.plan.data["determinism"]["corrections"],
            find_file=lambda name, sha256: find_file(self.plan, self.store, name, sha256),
            say=self.progress.say,
            matrix=tuple(entry["id"] for entry in self.plan.data["coverage"]),
            done=partial(self.journal.append, "done"),
        )

    def _step(self, action: str, do: Callable[[], T]) -> T:
        """One action of the plan, with its beginning and end in the journal."""
        self.journal.append("start", action)
        try:
            result = do()
        except Failure as failure:
            self.journal.append("failed", action, message=failure.message)
            raise
        self.journal.append("done", action)
        return result

    def _write_inputs(self, unchanged: dict[str, bool] | None = None) -> None:
        entries = {name: ready.to_json(self.plan.data["inputs"][name]) for name, ready in self.ready.items()}
        for name, state in (unchanged or {}).items():
            entries[name]["unchanged"] = state
        write_json(self.folder.path / "inputs.json", entries)

    def build(self) -> None:
        """Artifacts, one after the other, and what each says of itself."""
        self.progress.stage("build", ", ".join(self.plan.data["revisions"][arm]["source"] for arm in self.plan.arms))
        for arm in self.plan.arms:
            acquired = self.acquired[arm]
            engine = engine_for(acquired.revision["source"])
            context = self._context()
            artifact = self._step(f"build/{arm}", partial(engine.build, arm, acquired, context))
            self.arms[arm] = self._step(f"probe/{arm}", partial(probe, artifact, context))
        if not same_artifacts(self.folder, self.arms):
            self.progress.say("an artifact is not the one that this run began with: its rows are replayed afresh")
            forget_rows(self.folder)
        write_json(self.folder.path / "artifacts.json", {arm: found.to_json() for arm, found in self.arms.items()})

    def _replay(self) -> None:
        """Every row that has not been replayed yet, on the profile's executor."""
        jobs = stage_rows(self.plan, self.folder, self.store, self.profile, self.arms, self.ready)
        total = sum(1 for row in self.plan.data["rows"].values() if any(a["repetitions"] for a in row["arms"].values()))
        kept = kept_replays(jobs) if self.profile.executor == "local" else ()
        self.progress.replaying(self.plan.data["rows"], {job.row for job in jobs}, total, kept)
        blocked: list[str] = []
        for event in executor_for(self.profile.executor).run(jobs, self.profile):
            self._journal_event(event)
            self.progress.event(event)
            if isinstance(event, RowBlocked):
                blocked.append(event.reason)
        if blocked:
            more = f" ({plural(len(blocked) - 1, 'more row')} blocked too)" if len(blocked) > 1 else ""
            raise Blocked(blocked[0] + more, help="what was collected is kept; run the campaign again to continue it")

    def _journal_event(self, event: RowEvent) -> None:
        match event:
            case ReplayStarted():
                action = f"replay/{event.row}/{event.arm}/{event.repetition}"
                self.journal.append("start", action, cpus=list(event.cpus), node=event.node)
            case ReplayFinished():
                action = f"replay/{event.row}/{event.arm}/{event.repetition}"
                kind = "lost" if event.lost else "done" if event.ok else "failed"
                self.journal.append(kind, action, message=event.summary, wall_ms=event.wall_ms, cpu_ms=event.cpu_ms)
            case RowFinished():
                self.journal.append("row", event.row, node=event.node)
            case RowBlocked():
                self.journal.append("row-blocked", event.row, message=event.reason)
            case Note():
                self.journal.append("note", event.row or "", message=event.text, data=event.data)

    def _judge(self) -> None:
        """Rows by the rules, exception records by their tests, inputs by their checksums."""
        self.progress.stage("judge", "determinism, parity, evidence")
        for name in self.plan.data["rows"]:
            for action, findings in finish.row_findings(self.plan.data, name, self.folder.row(name)):
                failed = [finding.message for finding in findings if str(finding.status) in ("failed", "missing")]
                self.journal.append("failed" if failed else "done", action, message="; ".join(failed[:3]))
        for name, command in tests_of(self.plan.data):
            for found in self.arms.values():
                self._exception_test(name, command, found.artifact)
        self._write_inputs({name: self._unchanged(name, ready) for name, ready in self.ready.items()})

    def _exception_test(self, name: str, command: list[str], artifact: Artifact) -> None:
        """Run one record's regression test on one arm, unless its outcome is kept."""
        place = self.folder.path / "exceptions" / name
        if not (place / f"{artifact.arm}.json").is_file():
            limit_s = self.profile.limits.time_s
            self._step(
                f"exception-test/{name}/{artifact.arm}",
                lambda: run_test(place, self.plan.base, command, artifact, self.processes, limit_s),
            )

    def _unchanged(self, name: str, ready: inputs.Ready) -> bool:
        """`input.unchanged`: the whole file and the slice in the store hash as before the first replay."""
        pinned = self.plan.data["inputs"][name]["sha256"]

        def holds(path: Path, sha256: str) -> bool:
            try:
                return sha256_file(path) == sha256
            except OSError:
                return False

        result = holds(ready.path, pinned) and holds(self.store.path(ready.slice_sha256), ready.slice_sha256)
        self.journal.append("done" if result else "failed", f"input-unchanged/{name}")
        return result

    def _gate(self) -> None:
        """The declared performance gate, row by row, after the semantic result of each is known."""
        if self.plan.data["performance"] is not None:
            finish.gate(
                self.plan, self.folder, self.store, self.profile, self.arms, self.ready, self.journal, self.progress
            )

    def _report(self) -> Json:
        self.progress.stage("report", "")
        unstage(self.plan, self.folder)
        self.journal.append("done", "clean")
        report = finish.write_reports(self.folder)
        self.journal.append("done", "verdict", verdict=report["verdict"])
        self.journal.append("done", "report", digest=report["digest"])
        self.journal.append("finished", digest=report["digest"], exit_status=report["verdict"]["exit_status"])
        finish.seal(self.folder)
        return report
