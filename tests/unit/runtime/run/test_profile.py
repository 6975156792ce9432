"""Profiles: read into values, mistakes named with their line."""

from __future__ import annotations

from pathlib import Path

import pytest

from aisimc_runtime.failures import Refused
from aisimc_runtime.run.job import Limits
from aisimc_runtime.run.profile import Profile, load_profile


def load(tmp_path: Path, text: str) -> Profile:
    path = tmp_path / "profile.yaml"
    path.write_text(text)
    return load_profile(path)


def test_everything(tmp_path: Path) -> None:
    found = load(
        tmp_path,
        """\
executor: local
jobs: 4
cpus: "0-3,8"
cpus_per_replay: 2
limits:
  time: 90 s
  memory: 2 GiB
  output: 512 MiB
  processes: 8
store: here
""",
    )
    assert found.jobs == 4
    assert found.cpus == (0, 1, 2, 3, 8)
    assert found.cpus_per_replay == 2
    assert found.limits == Limits(90.0, 2 << 30, 512 << 20, 8)
    assert found.store == tmp_path / "here"


def test_an_empty_profile_is_the_default(tmp_path: Path) -> None:
    assert load(tmp_path, "").limits == Limits()
    assert load(tmp_path, "# nothing\n").executor == "local"


@pytest.mark.parametrize(("text", "seconds"), [("250 ms", 0.25), ("2 min", 120.0), ("1.5 h", 5400.0), ("30", 30.0)])
def test_times(tmp_path: Path, text: str, seconds: float) -> None:
    assert load(tmp_path, f"limits:\n  time: {text}\n").limits.time_s == seconds


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("jobs: 2\nexecutr: local\n", ":2: unknown key `executr`; did you mean `executor`?"),
        ("executor: cloud\n", ":1: `executor`: one of `local` and `slurm`"),
        ("limits:\n  time: 5\n  memry: 3\n", ":3: unknown key `limits.memry`; did you mean `memory`?"),
        ("limits:\n  time: soon\n", ":2: `limits.time`: a time such as"),
        ("limits:\n  memory: 0\n", ":2: `limits.memory`: a size such as"),
        ("jobs: 0\n", ":1: `jobs`: how many replays run at once"),
        ("jobs: 1\njobs: 2\n", ":2:"),
        ("cpus: [0, -1]\n", ":1: `cpus"),
        ("a: [\n", ":2:"),
        ("- 1\n", ":1: a profile is a mapping"),
    ],
)
def test_mistakes_are_named_with_their_line(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(Refused) as caught:
        load(tmp_path, text)
    assert f"profile.yaml{words}" in caught.value.message


def test_all_mistakes_at_once(tmp_path: Path) -> None:
    with pytest.raises(Refused) as caught:
        load(tmp_path, "jobs: 0\nexecutor: cloud\n")
    assert [line.split(":")[1] for line in caught.value.message.splitlines()] == ["1", "2"]


def test_every_unknown_key_and_where_the_known_ones_are_described(tmp_path: Path) -> None:
    with pytest.raises(Refused) as caught:
        load(tmp_path, "job: 1\nlimits:\n  memry: 3\n  tim: 5\nsore: here\n")
    lines = [line.split("profile.yaml:")[1] for line in caught.value.message.splitlines()]
    assert lines == [
        "1: unknown key `job`; did you mean `jobs`?",
        "3: unknown key `limits.memry`; did you mean `memory`?",
        "4: unknown key `limits.tim`; did you mean `time`?",
        "5: unknown key `sore`; did you mean `store`?",
    ]
    assert caught.value.help == "docs/profile.md has a table of every key"


def test_a_profile_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(Refused, match="cannot be read"):
        load_profile(tmp_path / "none.yaml")


def test_a_misspelt_profile_offers_the_nearest_file(tmp_path: Path) -> None:
    (tmp_path / "laptop.yaml").write_text("jobs: 1\n")
    with pytest.raises(Refused, match=r"cannot be read: there is no such file$") as refused:
        load_profile(tmp_path / "labtop.yaml")
    assert refused.value.help == f"did you mean `{tmp_path / 'laptop.yaml'}`?"
