"""The `slurm` section of a profile: mistakes are shown at their line, before anything is started."""

from __future__ import annotations

from pathlib import Path

import pytest

from aisimc_runtime.executors.cluster.port import SubmitRefused
from aisimc_runtime.executors.slurm.client import SlurmScheduler
from aisimc_runtime.executors.slurm.executor import SlurmExecutor, explain
from aisimc_runtime.executors.slurm.settings import key_line, slurm_settings
from aisimc_runtime.failures import Blocked, Refused
from aisimc_runtime.ports.processes import Finished
from aisimc_runtime.run.profile import Profile, load_profile

WHOLE = """\
executor: slurm
jobs: 8
slurm:
  shared: /lustre/me
  partition: long,short
  account: lab
  constraint: "zen4&nvme"
  time: 90 min
  cpus_per_row: 8
  memory: 33 GiB
  options: ["--qos=night", "--exclusive"]
  local_storage: /local/scratch
  setup: ["module load python/3.11"]
  python: /sw/aisimc/bin/python
  poll: 20 s
  give_up: 2 h
  settle: 5 s
  heartbeat: 15
  reruns: 1
"""


def profile(tmp_path: Path, text: str) -> Profile:
    path = tmp_path / "cluster.yaml"
    path.write_text(text)
    return load_profile(path)


def test_every_key_arrives(tmp_path: Path) -> None:
    settings = slurm_settings(profile(tmp_path, WHOLE))
    assert settings.shared == Path("/lustre/me")
    assert (settings.partition, settings.account, settings.constraint) == ("long,short", "lab", "zen4&nvme")
    assert (settings.time_min, settings.cpus_per_row, settings.memory_mib) == (90, 8, 33 * 1024)
    assert settings.options == ("--qos=night", "--exclusive")
    assert settings.jobs == 8
    assert (settings.poll_s, settings.give_up_s, settings.reruns) == (20, 7200, 1)
    assert (settings.patience.settle_s, settings.patience.beat_s) == (5, 15)
    assert (settings.local_storage, settings.python) == ("/local/scratch", "/sw/aisimc/bin/python")


def test_a_time_is_rounded_up_to_slurm_s_minutes(tmp_path: Path) -> None:
    assert slurm_settings(profile(tmp_path, "slurm: { shared: /s, time: 61 s }\n")).time_min == 2


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("slurm:\n  shared: /s\n  partiton: main\n", "3: unknown key `slurm.partiton`; did you mean `partition`?"),
        ("slurm:\n  shared: /s\n  time: soon\n", "3: `slurm.time`: a time such as"),
        ("slurm:\n  shared: /s\n  cpus_per_row: 0\n", "3: `slurm.cpus_per_row`: CPUs of each row's allocation"),
        ("slurm:\n  shared: /s\n  options: [qos=x]\n", "3: `slurm.options.0`: one option of sbatch, with its dashes"),
        ("slurm:\n  shared: /s\n  local_storage: tmp\n", "3: `slurm.local_storage`: a folder on each node's own disk"),
        ("slurm: [1]\n", "1: `slurm`: the settings of the Slurm executor: a mapping"),
        ("slurm:\n  shared: /s\n  reruns: -1\n", "3: `slurm.reruns`: how often a row"),
    ],
)
def test_mistakes_point_at_their_line(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(Refused) as failure:
        profile(tmp_path, text)
    assert f"{tmp_path}/cluster.yaml:{said}" in failure.value.message


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("slurm: { time: 1 h }\n", "names no `shared` folder"),
        ("slurm: { shared: /s, options: [--job-name=x] }\n", "'--job-name=x' is set by aisimc itself"),
        ("slurm: { shared: /s, options: [-J x] }\n", "'-J x' is set by aisimc itself"),
        ("slurm: { shared: /s, options: [--array=1-4] }\n", "'--array=1-4' is set by aisimc itself"),
        ("slurm: { shared: /s, options: [--no-requeue] }\n", "'--no-requeue' is set by aisimc itself"),
        ("cpus: [0]\nslurm: { shared: /s }\n", "`cpus` names the CPUs of one machine"),
        ("cpus_per_replay: 5\nslurm: { shared: /s, cpus_per_row: 4 }\n", "`cpus_per_replay` is 5"),
    ],
)
def test_what_a_schema_cannot_say_is_refused_too(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(Refused) as failure:
        slurm_settings(profile(tmp_path, text))
    assert said in failure.value.message


def test_a_refusal_shows_the_line_the_value_and_the_choice(tmp_path: Path) -> None:
    scheduler = SlurmScheduler(slurm_settings(profile(tmp_path, WHOLE)), lambda argv, _: Finished(0, "a\nb\na\n", ""))
    refused = SubmitRefused("sbatch: Invalid partition name specified", "partition")
    failure = explain(refused, profile(tmp_path, WHOLE), scheduler)
    assert isinstance(failure, Blocked)
    assert failure.message == (
        f"{tmp_path}/cluster.yaml:5: Slurm refuses the allocation: sbatch: Invalid partition name specified "
        "(slurm.partition is 'long,short')"
    )
    assert failure.help == "partitions here: a, b"


def test_a_key_that_is_not_set_points_at_the_section(tmp_path: Path) -> None:
    text = "executor: slurm\nslurm:\n  shared: /s\n"
    silent = _silent(tmp_path)
    failure = explain(SubmitRefused("Invalid account", "account"), profile(tmp_path, text), silent)
    assert failure.message.startswith(f"{tmp_path}/cluster.yaml:2: ")
    assert "(slurm.account is not set)" in failure.message


def _silent(tmp_path: Path) -> SlurmScheduler:
    return SlurmScheduler(slurm_settings(profile(tmp_path, "slurm: { shared: /s }\n")), lambda *_: Finished(1, "", ""))


def test_a_profile_that_changed_meanwhile_is_still_named(tmp_path: Path) -> None:
    loaded = profile(tmp_path, WHOLE)
    (tmp_path / "cluster.yaml").unlink()
    assert key_line(loaded, "partition") == str(tmp_path / "cluster.yaml")


def test_a_machine_without_slurm_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(Blocked, match="Slurm's `sbatch` is not on this machine's PATH"):
        SlurmExecutor().check(profile(tmp_path, WHOLE))
