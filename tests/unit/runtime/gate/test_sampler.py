"""The order, the record, invalidation, failure and resumption, with processes that only exist in the record."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable, Collection
from pathlib import Path

import pytest

from aisimc_compiler.plan import schedule
from aisimc_runtime.failures import Interrupted
from aisimc_runtime.gate.result import build
from aisimc_runtime.gate.sampler import INVALIDATION_LIMIT, Ending, Evicted, Measured, Sampler
from aisimc_runtime.gate.samples import History, Recorder, cut_torn_line, history, read_events
from tests.unit.runtime.gate.making import CAUSES, DESIGN, SESSION, lines, process, reading

Outcome = Measured | BaseException | None


class FakeBench:
    """Takes 20 ms for the baseline and 21 for the candidate; `script` may say otherwise for a process by number."""

    def __init__(self, script: Callable[[int], Outcome] = lambda number: None) -> None:
        self.script = script
        self.ran: list[str] = []
        self.waits: list[float] = []

    @property
    def cpus(self) -> Collection[int]:
        return (1,)

    def measure(self, arm: str) -> Measured:
        self.ran.append(arm)
        outcome = self.script(len(self.ran))
        if isinstance(outcome, BaseException):
            raise outcome
        return outcome or ok(arm, jitter=len(self.ran) * 7 % 13)

    def stopped(self) -> str | None:
        return None

    def wait(self, seconds: float) -> None:
        self.waits.append(seconds)


@pytest.fixture(autouse=True)
def no_waiting_for_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """A record of 400 lines is synced 400 times; these tests read it back through the same kernel."""
    monkeypatch.setattr(os, "fsync", lambda handle: None)


def ok(arm: str, *, jitter: int = 0, run_delay_ms: float = 0.0) -> Measured:
    loop = (20.0 if arm == "baseline" else 20.4) + jitter * 0.01
    timing = {"replay_execution_ms": loop, "setup_ms": 1.0, "end_to_end_ms": 23.0}
    return Measured(process(run_delay_ms=run_delay_ms), reading(), reading(at_s=100.03), timing)


def failed(error: str) -> Measured:
    return Measured(process(exit_status=1), reading(), reading(at_s=100.03), None, error)


def run(folder: Path, bench: FakeBench, declared: Collection[str] = CAUSES) -> Ending:
    path = folder / "samples.jsonl"
    past = history(read_events(path))
    with Recorder(path) as record:
        record.write("session", session=len(past.sessions) + 1, **SESSION)
        sampler = Sampler(
            steps=schedule.steps(DESIGN.seed, "row"),
            history=past,
            record=record,
            bench=bench,
            declared=declared,
            say=lambda text: None,
        )
        return sampler.run()


def recorded(folder: Path) -> History:
    return history(read_events(folder / "samples.jsonl"))


def planned() -> list[str]:
    return [step.arm for step in schedule.steps(DESIGN.seed, "row")]


def test_an_undisturbed_row_runs_the_schedule_and_nothing_else(tmp_path: Path) -> None:
    bench = FakeBench()
    assert run(tmp_path, bench) is Ending.COMPLETE
    assert bench.ran == planned()
    assert sorted(recorded(tmp_path).valid()) == list(range(1, 61))
    gate = build(DESIGN, "row", recorded(tmp_path))
    assert gate["result"] == "PASS"
    assert gate["attempts"]["processes"] == 130


def test_a_finished_row_starts_nothing(tmp_path: Path) -> None:
    run(tmp_path, FakeBench())
    again = FakeBench()
    assert run(tmp_path, again) is Ending.COMPLETE
    assert again.ran == []


def test_an_invalidated_pair_runs_again_whole_and_in_the_same_order(tmp_path: Path) -> None:
    """Process 14 (second half of pair 2) waited for its CPU."""
    bench = FakeBench(lambda number: ok("x", run_delay_ms=5.0) if number == 14 else None)
    assert run(tmp_path, bench) is Ending.COMPLETE
    order = planned()
    assert bench.ran == order[:14] + order[12:14] + order[14:]
    assert bench.waits == [0.25]
    spoilt, good = [found for found in recorded(tmp_path).rounds() if found.pair == 2]
    assert (spoilt.status, good.status, good.round) == ("invalid", "valid", 2)
    assert spoilt.causes[0]["cause"] == "competing_load"
    gate = build(DESIGN, "row", recorded(tmp_path))
    assert gate["invalidated"][0]["attempts"] == [13, 14]
    assert gate["attempts"]["invalidated_rounds"] == 1


def test_what_is_not_declared_invalidates_nothing(tmp_path: Path) -> None:
    bench = FakeBench(lambda number: ok("x", run_delay_ms=5.0) if number == 14 else None)
    assert run(tmp_path, bench, declared=("affinity_violation",)) is Ending.COMPLETE
    assert bench.ran == planned()


def test_a_node_that_spoils_pair_after_pair_is_given_up(tmp_path: Path) -> None:
    bench = FakeBench(lambda number: ok("x", run_delay_ms=5.0) if number > 10 else None)
    assert run(tmp_path, bench) is Ending.EXHAUSTED
    assert len(bench.ran) == 10 + 2 * INVALIDATION_LIMIT
    gate = build(DESIGN, "row", recorded(tmp_path))
    assert gate["result"] == "NOT_MEASURED"
    assert "only 0 of 60 pairs are valid" in gate["reason"]
    assert run(tmp_path, FakeBench()) is Ending.EXHAUSTED  # continuing it does not buy new tries


@pytest.mark.parametrize("number", [3, 11, 12, 130])
def test_a_product_failure_fails_the_row_at_once_and_for_good(tmp_path: Path, number: int) -> None:
    bench = FakeBench(lambda at: failed("exit status 1: no blocks") if at == number else None)
    assert run(tmp_path, bench) is Ending.FAILED
    assert len(bench.ran) == number
    gate = build(DESIGN, "row", recorded(tmp_path))
    assert gate["result"] == "FAIL"
    assert "exit status 1: no blocks" in gate["reason"]
    again = FakeBench()
    assert run(tmp_path, again) is Ending.FAILED
    assert again.ran == []


def test_a_failure_under_competing_load_is_still_a_failure(tmp_path: Path) -> None:
    disturbed = Measured(process(run_delay_ms=20.0), reading(), reading(), None, "left no timing.json")
    assert run(tmp_path, FakeBench(lambda at: disturbed if at == 12 else None)) is Ending.FAILED


@pytest.mark.parametrize("number", [4, 11, 12, 71, 130])
def test_an_interrupted_row_resumes_at_the_pair_boundary(tmp_path: Path, number: int) -> None:
    bench = FakeBench(lambda at: Interrupted("Ctrl-C") if at == number else None)
    with pytest.raises(Interrupted):
        run(tmp_path, bench)
    done = len(recorded(tmp_path).valid())
    assert done == max(0, (number - 11) // 2)
    again = FakeBench()
    assert run(tmp_path, again) is Ending.COMPLETE
    # Warmed up again, then every pair that was not complete, from its first half.
    assert again.ran == planned()[:10] + planned()[10 + 2 * done :]
    past = recorded(tmp_path)
    assert len(past.attempts) == number + 10 + 120 - 2 * done
    assert [a.attempt for a in past.attempts if a.status == "interrupted"] == [number]
    assert len(past.sessions) == 2


def test_a_kill_leaves_an_attempt_without_an_end(tmp_path: Path) -> None:
    """SIGKILL writes nothing more: what stands is the announcement, and half a line of what came next."""
    run(tmp_path, FakeBench())
    path = tmp_path / "samples.jsonl"
    whole = lines(path)
    cut = next(at for at, line in enumerate(whole) if '"attempt":40,' in line and "finished" in line)
    path.write_text("\n".join([*whole[:cut], whole[cut][:30]]))
    assert cut_torn_line(path) == 30
    assert cut_torn_line(path) == 0
    past = recorded(tmp_path)
    assert past.attempts[-1].status == "interrupted"
    assert len(past.valid()) == 14
    assert run(tmp_path, FakeBench()) is Ending.COMPLETE
    gate = build(DESIGN, "row", recorded(tmp_path))
    assert gate["attempts"]["interrupted"] == 1
    assert gate["attempts"]["valid_pairs"] == 60


def test_a_pair_whose_verdict_was_not_written_is_run_again(tmp_path: Path) -> None:
    run(tmp_path, FakeBench())
    path = tmp_path / "samples.jsonl"
    kept = [line for line in lines(path) if not ('"event":"pair"' in line and '"pair":60,' in line)]
    path.write_text("\n".join(kept) + "\n")
    again = FakeBench()
    run(tmp_path, again)
    assert again.ran == planned()[:10] + planned()[-2:]


def test_an_eviction_is_judged_before_the_harness_ends(tmp_path: Path) -> None:
    bench = FakeBench(lambda at: Evicted("told to end by SIGTERM") if at == 12 else None)
    with pytest.raises(Evicted):
        run(tmp_path, bench)
    [spoilt] = recorded(tmp_path).rounds()
    assert spoilt.status == "invalid"
    assert spoilt.causes[0] == {
        "cause": "scheduler_eviction",
        "arm": planned()[11],
        "evidence": "told to end by SIGTERM",
    }


def test_every_attempt_is_announced_before_it_ends(tmp_path: Path) -> None:
    run(tmp_path, FakeBench())
    events = [json.loads(line) for line in lines(tmp_path / "samples.jsonl")]
    assert Counter(event["event"] for event in events) == {"session": 1, "attempt": 130, "finished": 130, "pair": 60}
    announced: set[int] = set()
    for event in events:
        if event["event"] == "attempt":
            announced.add(event["attempt"])
        elif event["event"] == "finished":
            assert event["attempt"] in announced


def test_waiting_for_quiet_grows_and_is_bounded(tmp_path: Path) -> None:
    bench = FakeBench(lambda number: ok("x", run_delay_ms=5.0) if 11 <= number < 31 else None)
    run(tmp_path, bench)
    assert bench.waits == [0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 8.0, 8.0, 8.0, 8.0]
