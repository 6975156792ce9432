"""Ctrl-C is said in one line and its mend, whichever verb it ends; the status is 130."""

from __future__ import annotations

import signal

import pytest

from aisimc_runtime.command.main import main
from aisimc_runtime.failures import Interrupted
from aisimc_runtime.run.signals import interruptible


def interrupt(*_: object, **__: object) -> None:
    raise KeyboardInterrupt


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
def test_every_verb_says_that_it_was_ended(
    place: str, arguments: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(place, interrupt)
    spec = __file__
    monkeypatch.setattr("sys.argv", ["aisimc", *(spec if word == "SPEC" else word for word in arguments)])
    monkeypatch.setattr("gc.disable", lambda: None)  # this process lives on
    monkeypatch.setattr("os._exit", lambda status: (_ for _ in ()).throw(SystemExit(status)))
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 130
    assert capsys.readouterr().err.splitlines() == [
        "aisimc: error: ended by SIGINT; no file is half-written",
        "  help: the same command starts again",
    ]


def test_what_keeps_its_work_says_that_the_same_command_continues() -> None:
    with pytest.raises(Interrupted) as caught, interruptible(lambda: None):
        signal.raise_signal(signal.SIGINT)
    assert caught.value.help == "the same command continues"
