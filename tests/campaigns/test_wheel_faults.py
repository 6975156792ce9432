"""Campaigns that are killed, interrupted and sabotaged: each goes on to the report of an undisturbed run."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.campaigns.wheels import Place, campaign, sglang, trtllm, vllm

pytestmark = [pytest.mark.wheels, pytest.mark.slow]

KILL_AT_LINE = """
import os
from aisimc_runtime.journal import journal
append, count = journal.Journal.append, [0]
def killing(self, *args, **kwargs):
    append(self, *args, **kwargs)
    count[0] += 1
    if count[0] == {line}:
        os.kill(os.getpid(), 9)
journal.Journal.append = killing
"""
FULL_DISK = """
import os
from aisimc_runtime.run import staging
real = staging.write_atomic
def full(path, *args, **kwargs):
    if path.name == "{name}":
        from aisimc_runtime.ports.files import explain
        raise explain(OSError(28, "No space left on device"), f"cannot write {{path}}")
    real(path, *args, **kwargs)
staging.write_atomic = full
"""


def children_of(place: Path) -> list[int]:
    """Processes that name the place in their command line or work in it."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                named = str(place).encode() in (entry / "cmdline").read_bytes()
                if named or str((entry / "cwd").readlink()).startswith(str(place)):
                    found.append(int(entry.name))
            except OSError:
                continue
    return found


def all_gone(place: Path) -> bool:
    """Whether nothing that a campaign started is left, after a moment."""
    until = time.monotonic() + 3
    while time.monotonic() < until:
        if not children_of(place):
            return True
        time.sleep(0.05)
    return False


def fresh(place: Place) -> None:
    shutil.rmtree(place.folder / ".aisimc", ignore_errors=True)


def wait_for(place: Place, process: subprocess.Popen[str], words: str) -> None:
    """Until the journal says so."""
    while True:
        assert process.poll() is None
        found = list(place.folder.glob(".aisimc/runs/*/journal.jsonl"))
        if found and words in found[0].read_text():
            return
        time.sleep(0.01)


def test_killed_at_every_line_of_the_journal(place: Place, conversation: bytes) -> None:
    spec = place.write(campaign(conversation, trtllm(), count=60))
    undisturbed = place.run(spec).verdict["report_digest"]
    lines = len(place.journal())
    assert lines > 25
    for line in range(1, lines + 1):
        fresh(place)
        killed = place.run(spec, prelude=KILL_AT_LINE.format(line=line))
        assert killed.status == -signal.SIGKILL, f"line {line}"
        journal = place.run_folder() / "journal.jsonl"
        if line % 3 == 0:  # as a power cut may leave it
            journal.write_bytes(journal.read_bytes()[: -1 - line % 7])
        continued = place.run(spec)
        assert continued.status == 0, f"line {line}: {continued.stderr}"
        assert continued.verdict["report_digest"] == undisturbed, f"line {line}"


def test_killed_at_random_moments(place: Place, conversation: bytes) -> None:
    spec = place.write(campaign(conversation, vllm(), sglang(), trtllm()))
    began = time.monotonic()
    undisturbed = place.run(spec).verdict["report_digest"]
    took = time.monotonic() - began
    moments = random.Random(20261024)
    for _ in range(int(os.environ.get("AISIMC_TEST_KILLS", "6"))):
        fresh(place)
        for _ in range(3):  # killed up to three times before it may end
            process = place.start("run", "--quiet", "--json", spec)
            try:
                process.wait(moments.uniform(0.1, took * 0.7))
            except subprocess.TimeoutExpired:
                process.kill()
            process.communicate()
            assert all_gone(place.folder)
        assert place.run(spec).verdict["report_digest"] == undisturbed


def test_a_killed_replay_is_made_again(place: Place, conversation: bytes) -> None:
    spec = place.write(campaign(conversation, vllm(), count=3000))
    process = place.start("run", "--quiet", "--json", spec)
    wait_for(place, process, "replay/vllm-aggregated/candidate/1")
    until = time.monotonic() + 10
    victims: list[int] = []
    while not victims and time.monotonic() < until:
        victims = [pid for pid in children_of(place.folder) if _is_replay(pid, "candidate-1")]
    os.kill(victims[0], signal.SIGKILL)
    _, stderr = process.communicate(timeout=120)
    assert process.returncode == 3
    assert "replay candidate-1 of row vllm-aggregated: ended from outside by SIGKILL" in stderr
    continued = place.run(spec)
    assert continued.status == 1  # the capacity is flooded by so many rows: a result, not a fault
    fresh(place)
    assert place.run(spec).verdict["report_digest"] == continued.verdict["report_digest"]


def _is_replay(pid: int, name: str) -> bool:
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False
    return b"driver.py" in words and name.encode() in words


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_one_signal_ends_it_cleanly(place: Place, conversation: bytes, number: signal.Signals) -> None:
    spec = place.write(campaign(conversation, vllm(), count=3000))
    process = place.start("run", "--quiet", "--json", spec)
    wait_for(place, process, "replay/vllm-aggregated/baseline/1")
    process.send_signal(number)
    stdout, stderr = process.communicate(timeout=20)
    assert process.returncode == 130
    assert json.loads(stdout)["state"] == "interrupted"
    assert stderr.splitlines()[0] == f"aisimc: error: ended by {number.name}; what was collected is kept"
    assert all_gone(place.folder)
    assert place.journal()[-1]["event"] == "interrupted"


def test_a_replay_without_end_is_a_failed_row(place: Place, conversation: bytes) -> None:
    (place.folder / "profile.yaml").write_text("limits: { time: 400 ms }\n")
    spec = place.write(campaign(conversation, vllm(), trtllm(), count=5000))
    done = place.run(spec, "--profile", "profile.yaml")
    assert done.status == 1
    assert any("time limit" in reason for reason in done.verdict["reasons"])
    assert all_gone(place.folder)


def test_a_full_disk_is_one_line_and_goes_on_later(place: Place, conversation: bytes) -> None:
    spec = place.write(campaign(conversation, trtllm(), count=60))
    for name in ("artifacts.json", "configuration.json", "job.json"):
        done = place.run(spec, prelude=FULL_DISK.format(name=name))
        if done.status == 0:
            continue  # that file was whole already
        assert done.status == 3
        assert done.stderr.splitlines()[0].endswith("no space left on device")
    assert place.run(spec).status == 0


def test_one_flipped_bit_in_a_runtime_is_found_before_it_is_executed(place: Place, conversation: bytes) -> None:
    spec = place.write(campaign(conversation, trtllm(), count=60))
    record = next((place.store / "wheels").glob("a44b7bd9*.json"))
    runtime = json.loads(record.read_bytes())["runtime"]
    path = place.store / "objects" / runtime[:2] / runtime[2:]
    data = bytearray(path.read_bytes())
    data[1_000_000] ^= 1
    path.unlink()  # a link to the file that all tests share
    path.write_bytes(data)
    done = place.run(spec)
    assert done.status == 3
    assert "has changed" in done.stderr
    assert "aisimc store verify --quarantine" in done.stderr
    assert place.aisimc("store", "verify", "--quarantine").status == 1
    assert place.run(spec).status == 0  # unpacked again


def test_an_input_that_changed_while_it_was_replayed_fails(place: Place, conversation: bytes) -> None:
    mine = Place(place.folder, place.store, inputs=str(place.folder))
    trace = mine.folder / "trace.jsonl"
    trace.write_bytes(conversation)
    spec = mine.write(campaign(conversation, vllm(), count=3000))
    process = mine.start("run", "--quiet", "--json", spec)
    wait_for(mine, process, "replay/vllm-aggregated/baseline/1")
    trace.write_bytes(conversation + b"\n")
    stdout, _ = process.communicate(timeout=120)
    assert process.returncode == 1
    assert any("input.unchanged" in reason for reason in json.loads(stdout)["reasons"])


def test_two_campaigns_share_the_store(place: Place, conversation: bytes) -> None:
    specs = [place.write(campaign(conversation, trtllm(), count=count), f"c{count}.campaign") for count in (60, 61)]
    processes = [place.start("run", "--quiet", "--json", spec) for spec in specs]
    ended = [process.communicate(timeout=120) for process in processes]
    assert [process.returncode for process in processes] == [0, 0], ended
    assert place.aisimc("store", "verify").status == 0
