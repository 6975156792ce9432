"""docs/profile.md has every key of a profile, its defaults are the code's, and its example is accepted."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from aisimc_runtime.run.job import Limits
from aisimc_runtime.run.profile import Profile, load_profile, schema, size_bytes, span_s


@pytest.fixture(scope="module")
def page(root: Path) -> str:
    return (root / "docs" / "profile.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def defaults(page: str) -> dict[str, str]:
    """Default by key, as the page's table has them."""
    found = re.findall(r"^\| `([a-z_.]+)` \| [^|]+ \| ([^|]+) \|", page, flags=re.MULTILINE)
    return {key: default.strip().strip("`") for key, default in found}


def test_every_key_is_in_the_table_and_no_other(defaults: dict[str, str]) -> None:
    top = schema()["properties"]
    limits = {f"limits.{key}" for key in top["limits"]["properties"]}
    assert set(defaults) == (set(top) - {"limits"}) | limits


def test_the_defaults_are_the_code_s(defaults: dict[str, str]) -> None:
    code = Profile()
    limits = {key: defaults[f"limits.{key}"] for key in ("time", "memory", "output", "processes")}
    assert code.limits == Limits(
        span_s(limits["time"]),
        size_bytes(limits["memory"]),
        size_bytes(limits["output"]),
        int(limits["processes"]),
    )
    assert defaults["executor"] == code.executor
    assert int(defaults["cpus_per_replay"]) == code.cpus_per_replay
    assert (code.jobs, code.cpus, code.store) == (None, None, None)


def test_the_example_is_accepted(page: str, tmp_path: Path) -> None:
    (example,) = re.findall(r"```yaml\n(.*?)```", page, flags=re.DOTALL)
    (tmp_path / "profile.yaml").write_text(example)
    assert load_profile(tmp_path / "profile.yaml").jobs == 2
