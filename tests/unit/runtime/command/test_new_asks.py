"""`aisimc new` on a terminal: a wrong answer is asked again, and costs none of the others."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from aisimc_runtime.scaffold.rows import ROWS
from tests.unit.runtime.command.aisimc import Done


def asked(answers: str, folder: Path, *arguments: str) -> Done:
    """`aisimc new ARGUMENTS` on a terminal, with the answers typed ahead; standard output is no terminal."""
    ours, theirs = pty.openpty()
    try:
        os.write(ours, answers.encode())
        done = subprocess.run(
            [sys.executable, "-m", "aisimc_runtime", "new", *arguments],
            stdin=theirs, capture_output=True, cwd=folder, check=False, timeout=60,
        )  # fmt: skip
    finally:
        os.close(ours)
        os.close(theirs)
    return Done(done.returncode, done.stdout.decode(), done.stderr.decode())


def test_wrong_answers_are_asked_again_and_the_others_kept(tmp_path: Path) -> None:
    answers = "mine\nfoo\nembedded\nembedded+p.patch\n\nt.jsonl\nvllm-agregated\nvllm-aggregated\n5\n0:6_000\n"
    done = asked(answers, tmp_path)
    assert done.status == 0, done
    said = done.out + done.err
    assert "`foo` names no revision; write aisimulate==VERSION for a wheel" in said
    assert "there is no row `vllm-agregated`; did you mean `vllm-aggregated`?" in said
    assert "the window `5` is not START:ROWS" in said
    table = [line[line.index("  ") :].split(maxsplit=2) for line in said.splitlines() if " workers" in line]
    assert [cells[0] for cells in table] == list(ROWS)
    assert {tuple(cells[1:]) for cells in table} > {("vllm", "aggregated, 4 workers")}
    written = " ".join((tmp_path / "mine.campaign").read_text("utf-8").split())
    assert "start = 0 rows = 6_000" in written and "corpus = long" in written
    assert "row vllm-aggregated {" in written and "t.jsonl" in written


@pytest.mark.parametrize(("rows", "window"), [(10, None), (5_000, "start = 0 rows = 5_000")])
def test_the_window_s_default_is_what_the_trace_has(tmp_path: Path, rows: int, window: str | None) -> None:
    (tmp_path / "t.jsonl").write_text("{}\n" * rows)
    done = asked("\n\n", tmp_path, "n", "--baseline", "embedded", "--candidate", "embedded", "--relation", "r",
                 "--trace", "t.jsonl")  # fmt: skip
    assert done.status == 0, done
    written = " ".join((tmp_path / "n.campaign").read_text("utf-8").split())
    assert ("slice {" in written) is (window is not None)
    assert window is None or window in written


def test_nothing_is_asked_where_the_flags_say_what_is_needed(tmp_path: Path) -> None:
    done = asked("", tmp_path, "n", "--baseline", "embedded", "--candidate", "embedded", "--relation", "r", "--trace",
                 "t.jsonl", "--row", "vllm-aggregated")  # fmt: skip
    assert done.status == 0, done
    assert "slice" not in (tmp_path / "n.campaign").read_text("utf-8")


def test_leaving_is_said_and_writes_nothing(tmp_path: Path) -> None:
    done = asked("n\n\x04", tmp_path)
    assert done.status == 130
    assert done.err.splitlines()[-1] == "aisimc: error: ended before the last answer; nothing was written"
    assert list(tmp_path.iterdir()) == []
