"""What `aisimc pin` says where the index has no wheel for a requirement."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from packaging.specifiers import SpecifierSet

from aisimc_runtime.pinning.wheels import no_wheel

HAS = [f"0.13.0.dev{number}" for number in (1, 202610130000000070, 202610240000000082, 202610270000000085)]
SAID = (
    "ERROR: Could not find a version that satisfies the requirement aisimulate>=0.13 "
    f"(from versions: 0.1.0.dev1, {', '.join(HAS)})\nERROR: No matching distribution found for aisimulate>=0.13\n"
)


def test_the_newest_wheels_are_named_and_how_to_ask_for_them() -> None:
    found = no_wheel("aisimulate>=0.13", SAID)
    assert found.message == "the index has no wheel for aisimulate>=0.13 on this platform and Python"
    assert "has wheels of 0.13.0.dev202610270000000085, 0.13.0.dev202610240000000082, " in found.help
    assert "and 2 older ones" in found.help
    assert "builds before a release must be asked for" in found.help
    (asked,) = re.findall(r'"aisimulate(.*?)"', found.help)
    assert SpecifierSet(asked, prereleases=True).contains(HAS[-1])


def test_releases_alone_are_named_without_advice_about_others() -> None:
    found = no_wheel("aisimulate>=2", SAID.replace("0.1.0.dev1", "1.0.0"))
    assert "wheels of 1.0.0" in found.help and "must be asked for" not in found.help


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ("ERROR: no (from versions: none)\n", "pip finds no wheel of aisimulate for this platform and Python"),
        (
            "WARNING: Retrying after connection broken by 'NewConnectionError(...)'\nERROR: no (from versions: none)\n",
            "cannot ask for aisimulate>=0.13: the package index cannot be reached",
        ),
        ("ERROR: odd\n", "pip finds no wheel for aisimulate>=0.13: odd"),
        ("", "pip finds no wheel for aisimulate>=0.13: no reason given"),
    ],
)
def test_where_there_is_none_at_all_or_pip_says_something_else(said: str, message: str) -> None:
    assert no_wheel("aisimulate>=0.13", said).message == message


def test_the_example_of_the_page_means_builds_that_have_wheels(root: Path) -> None:
    page = (root / "docs" / "pinning.md").read_text("utf-8")
    (example,) = re.findall(r'^\| `wheel = "aisimulate(>=[^"]*)"`', page, re.MULTILINE)
    assert SpecifierSet(example, prereleases=True).contains(HAS[-1])
