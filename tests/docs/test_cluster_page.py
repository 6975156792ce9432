"""docs/cluster.md has every key of the `slurm` section, and the defaults that the code has."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from aisimc_runtime.executors.slurm.settings import SlurmSettings, slurm_settings
from aisimc_runtime.run.profile import load_profile, schema, span_s


@pytest.fixture(scope="module")
def page() -> str:
    return (Path(__file__).resolve().parents[2] / "docs" / "cluster.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def table(page: str) -> dict[str, str]:
    """Default by key, as the page's table of keys has them."""
    section = page.split("## The `slurm` section")[1].split("\n## ")[0]
    found = {}
    for keys, default in re.findall(r"^\| (`[^|]+) \| ([^|]+) \|", section, flags=re.MULTILINE):
        found |= {key: default.strip() for key in re.findall(r"`([a-z_]+)`", keys)}
    return found


def test_every_key_is_in_the_table_and_no_other(table: dict[str, str]) -> None:
    assert set(table) == set(schema()["properties"]["slurm"]["properties"])


def test_the_defaults_are_the_code_s(table: dict[str, str]) -> None:
    code = SlurmSettings(shared=Path("/"))
    spans = {
        "time": code.time_min * 60,
        "poll": code.poll_s,
        "give_up": code.give_up_s,
        "settle": code.patience.settle_s,
        "heartbeat": code.patience.beat_s,
    }
    assert {key: span_s(table[key].strip("`")) for key in spans} == spans
    counts = {"cpus_per_row": code.cpus_per_row, "jobs": code.jobs, "reruns": code.reruns}
    assert {key: int(table[key]) for key in counts} == counts


def test_the_example_profile_is_accepted(page: str, tmp_path: Path) -> None:
    (example,) = re.findall(r"```yaml\n(.*?)```", page, flags=re.DOTALL)
    (tmp_path / "cluster.yaml").write_text(example)
    settings = slurm_settings(load_profile(tmp_path / "cluster.yaml"))
    assert settings.partition == "main"
