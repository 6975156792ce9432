"""Ctrl-C is said in one line and its mend, whichever verb it ends; the status is 130."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from aisimc_runtime.failures import Interrupted
from aisimc_runtime.run.signals import interruptible

CODE = """
import sys
from unittest import mock
from aisimc_runtime.command.main import main
place, *arguments = sys.argv[1:]
sys.argv = ["aisimc", *arguments]
with mock.patch(place, side_effect=KeyboardInterrupt):
    main()
"""


@pytest.mark.parametrize(
    ("place", "arguments"),
    [
        ("aisimc_runtime.command.checking.check", ["check", "SPEC"]),
        ("aisimc_runtime.command.checking.check", ["check", "--format=text", "--color", "never", "SPEC"]),
        ("aisimc_runtime.command.formatting.format_files", ["fmt", "SPEC"]),
        ("aisimc_runtime.command.pin._with_imports", ["pin", "SPEC"]),
        ("aisimc_runtime.report.verification.verify", ["verify", "RUN"]),
        ("aisimc_runtime.store.content.Store.entries", ["store", "ls"]),
        ("aisimc_runtime.run.loading.load", ["plan", "SPEC"]),
    ],
)
def test_every_verb_says_that_it_was_ended(place: str, arguments: list[str], tmp_path: Path) -> None:
    (tmp_path / "SPEC").write_text("")
    (tmp_path / "RUN").mkdir()
    (tmp_path / "RUN" / "plan.json").write_text("{}")
    done = subprocess.run(
        [sys.executable, "-c", CODE, place, *arguments],
        cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (130, "")
    assert done.stderr.splitlines() == [
        "aisimc: error: ended by SIGINT; no file is half-written",
        "  help: the same command starts again",
    ]


def test_what_keeps_its_work_says_that_the_same_command_continues() -> None:
    with pytest.raises(Interrupted) as caught, interruptible(lambda: None):
        signal.raise_signal(signal.SIGINT)
    assert caught.value.help == "the same command continues"
