"""A long build says that it is still at work, and stops saying so when it ends."""

from __future__ import annotations

import threading
import time

import pytest

from aisimc_runtime.engines.heartbeat import Heartbeat


def test_it_speaks_while_the_block_runs_and_not_after() -> None:
    said: list[str] = []
    twice = threading.Event()

    def say(text: str) -> None:
        said.append(text)
        if len(said) == 2:
            twice.set()

    with Heartbeat(say, "build baseline: still compiling", every_s=0.01):
        assert twice.wait(10)
    before = list(said)
    time.sleep(0.05)
    assert said == before
    assert before[0] == "build baseline: still compiling, 0 s"


def test_a_short_block_is_silent_and_its_error_gets_through() -> None:
    said: list[str] = []
    with pytest.raises(ValueError, match="broken"), Heartbeat(said.append, "at work", every_s=60):
        raise ValueError("broken")
    assert said == []
