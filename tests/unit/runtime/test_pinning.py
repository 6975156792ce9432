"""Pinning edits what is missing or moving, in place, and leaves everything else as it was written."""

from __future__ import annotations

import hashlib
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner

from aisimc_compiler.source import Source
from aisimc_compiler.syntax.parser import parse
from aisimc_runtime.command.pin import command as pin_command
from aisimc_runtime.failures import Blocked
from aisimc_runtime.pinning import commits, files
from aisimc_runtime.pinning.edits import Edit, apply, laid_out
from aisimc_runtime.pinning.files import FileFacts
from aisimc_runtime.pinning.findings import Unpinned, Wanted
from aisimc_runtime.pinning.walk import pins
from aisimc_runtime.pinning.wheels import PinnedWheel

FULL = "fb7b0d56de035d66ca9fcae7ff424055dcbf37cd"
HASH = "a" * 64


class FakeWorld:
    """Answers at once; a name with `missing` in it cannot be found."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def commit(self, repository: str, revision: str) -> str:
        self.asked.append(f"commit {repository} {revision}")
        if "missing" in revision:
            raise Blocked("no such commit")
        return FULL

    def wheel(self, requirement: str) -> PinnedWheel:
        self.asked.append(f"wheel {requirement}")
        return PinnedWheel("aisimulate==2.0", HASH)

    def file_sha256(self, file: str) -> str:
        self.asked.append(f"file {file}")
        return "b" * 64

    def wheel_at_hand(self, sha256: str) -> tuple[str, str] | None:
        return None

    def trace(self, wanted: Wanted) -> FileFacts | None:
        self.asked.append(f"trace {wanted.source['kind']} {wanted.window} {wanted.effort.name}")
        return FileFacts("c" * 64, 12_031, "d" * 64 if wanted.window else None)

    def embedded_sha256(self, core: str) -> str:
        return "e" * 64


def pinned(text: str, *, refresh: bool = False) -> tuple[str, list[str], list[str]]:
    file, diagnostics = parse(Source("t.campaign", text))
    assert diagnostics == []
    world = FakeWorld()
    found = list(pins(file, world, refresh=refresh))
    edits = [edit for edit in found if isinstance(edit, Edit)]
    return apply(text, edits), [item.place for item in found if isinstance(item, Unpinned)], world.asked


def test_a_wheel_gets_its_hash_under_the_version_with_the_layout_kept() -> None:
    text = 'revision baseline {\n  wheel    = "aisimulate==2.0"   # the nightly\n}\n'
    after, problems, _ = pinned(text)
    assert after == (
        f'revision baseline {{\n  wheel    = "aisimulate==2.0"   # the nightly\n  sha256   = "{HASH}"\n}}\n'
    )
    assert problems == []
    assert pinned(after)[0] == after


def test_a_block_on_one_line_stays_on_one_line() -> None:
    assert pinned('revision baseline { wheel = "aisimulate==2.0" }\n')[0] == (
        f'revision baseline {{ wheel = "aisimulate==2.0" sha256 = "{HASH}" }}\n'
    )


def test_a_range_becomes_the_version_it_means_today() -> None:
    text = f'revision candidate {{\n  wheel  = "aisimulate>=1.0"\n  sha256 = "{"0" * 64}"\n}}\n'
    assert pinned(text)[0] == f'revision candidate {{\n  wheel  = "aisimulate==2.0"\n  sha256 = "{HASH}"\n}}\n'


@pytest.mark.parametrize("moving", ["main", "v1.2", "HEAD", "fb7b0d56", FULL.upper()])
def test_a_moving_commit_becomes_the_full_one(moving: str) -> None:
    text = f'revision candidate {{\n  repository = "R"\n  commit     = "{moving}"\n}}\n'
    assert pinned(text)[0] == text.replace(moving, FULL)


def test_what_is_pinned_is_left_alone_and_only_verified() -> None:
    text = (
        f'revision baseline {{\n  repository = "R"\n  commit     = "{FULL}"\n}}\n'
        f'revision candidate {{\n  wheel  = "aisimulate==1.0"\n  sha256 = "{HASH}"\n}}\n'
        f'input x {{\n  file   = "t.jsonl"\n  sha256 = "{HASH}"\n  rows   = 9\n}}\n'
    )
    after, _, asked = pinned(text)
    assert (after, asked) == (text, ["trace file None VERIFY"])


def test_refresh_computes_checksums_again() -> None:
    text = f'input x {{\n  file   = "t.jsonl"\n  sha256 = "{HASH}"\n  rows   = 9\n}}\n'
    after, _, asked = pinned(text, refresh=True)
    assert after == f'input x {{\n  file   = "t.jsonl"\n  sha256 = "{"c" * 64}"\n  rows   = 12_031\n}}\n'
    assert asked == ["trace file None REFRESH"]


def test_an_input_gets_checksum_rows_and_slice_checksum() -> None:
    text = 'input x {\n  format = mooncake\n  file   = "t.jsonl"\n  slice {\n    start = 0\n    rows  = 5_000\n  }\n}\n'
    after, _, asked = pinned(text)
    assert after == (
        'input x {\n  format = mooncake\n  file   = "t.jsonl"\n'
        f'  sha256 = "{"c" * 64}"\n  rows   = 12_031\n'
        f'  slice {{\n    start = 0\n    rows  = 5_000\n    sha256 = "{"d" * 64}"\n  }}\n}}\n'
    )
    assert asked == ["trace file (0, 5000) FILL"]


def test_the_embedded_engine_and_patches_follow_their_files() -> None:
    text = (
        'revision candidate {\n  embedded     = "reference-core"\n'
        f'  sha256       = "{HASH}"\n  patch        = "p.patch"\n  patch_sha256 = "{HASH}"\n}}\n'
    )
    assert pinned(text)[0] == text.replace(HASH, "e" * 64, 1).replace(HASH, "b" * 64)


def test_refresh_leaves_the_spelling_of_a_number_that_holds() -> None:
    text = f'input x {{\n  file   = "t.jsonl"\n  sha256 = "{"c" * 64}"\n  rows   = 12031\n}}\n'
    assert pinned(text, refresh=True)[0] == text


@pytest.mark.parametrize("bad", ["", "to be pinned", "abc123", "…", "g" * 64, "sha256:" + HASH])
@pytest.mark.parametrize(
    ("text", "good"),
    [
        ('revision baseline {\n  wheel  = "aisimulate==2.0"\n  sha256 = "SHA"\n}\n', HASH),
        ('input x {\n  file   = "t.jsonl"\n  sha256 = "SHA"\n  rows   = 12_031\n}\n', "c" * 64),
        (
            'input x {\n  file   = "t.jsonl"\n  sha256 = "CCC"\n  rows   = 12_031\n'.replace("CCC", "c" * 64)
            + '  slice {\n    start  = 0\n    rows   = 9\n    sha256 = "SHA"\n  }\n}\n',
            "d" * 64,
        ),
        ('row r {\n  frozen = "r.json"\n  sha256 = "SHA"\n}\n', "b" * 64),
    ],
    ids=["wheel", "trace", "slice", "frozen"],
)
def test_what_is_no_checksum_is_as_good_as_missing(text: str, good: str, bad: str) -> None:
    """`check` refuses it and says that `aisimc pin` computes it, so it has to."""
    assert pinned(text.replace("SHA", bad))[0] == text.replace("SHA", good)


def test_one_place_that_cannot_be_pinned_does_not_hold_up_the_others() -> None:
    text = (
        'revision baseline {\n  repository = "R"\n  commit     = "missing"\n}\n'
        'revision candidate {\n  repository = "R"\n  commit     = "main"\n}\n'
    )
    after, problems, _ = pinned(text)
    assert after == text.replace("main", FULL)
    assert problems == ["revision baseline"]


def test_file_facts_agree_with_the_bytes(tmp_path: Path) -> None:
    rows = [f'{{"timestamp": {n}}}\n'.encode() for n in range(10)]
    trace = tmp_path / "t.jsonl"
    trace.write_bytes(b"".join(rows))
    facts = files.facts_of(trace, (2, 3))
    assert facts.sha256 == hashlib.sha256(b"".join(rows)).hexdigest()
    assert (facts.rows, facts.slice_sha256) == (10, hashlib.sha256(b"".join(rows[2:5])).hexdigest())
    assert files.facts_of(trace, (8, 3)).slice_sha256 is None
    trace.write_bytes(b"".join([*rows, b"\n"]))
    with pytest.raises(Blocked, match="line 11: the line is blank"):
        files.facts_of(trace)


@pytest.fixture
def repository(tmp_path: Path) -> tuple[Path, str, str]:
    """A repository with two commits: the first tagged (annotated), the second on `main`."""
    where = tmp_path / "repo"

    def git(*arguments: str) -> str:
        identity = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "init.defaultBranch=main"]
        done = subprocess.run(["git", *identity, *arguments], cwd=where, check=True, capture_output=True, text=True)
        return done.stdout.strip()

    where.mkdir()
    git("init", "--quiet")
    git("commit", "--quiet", "--allow-empty", "-m", "one")
    first = git("rev-parse", "HEAD")
    git("tag", "-a", "v1", "-m", "v1")
    git("commit", "--quiet", "--allow-empty", "-m", "two")
    return where, first, git("rev-parse", "HEAD")


def test_git_resolves_branches_tags_and_short_ids(repository: tuple[Path, str, str]) -> None:
    where, first, second = repository
    assert commits.resolve(str(where), "main", where.parent) == second
    assert commits.resolve("repo", "HEAD", where.parent) == second
    assert commits.resolve(f"file://{where}", "v1", where.parent) == first
    assert commits.resolve(str(where), first[:10], where.parent) == first


def test_git_says_what_it_does_not_know(repository: tuple[Path, str, str]) -> None:
    where, _, _ = repository
    with pytest.raises(Blocked, match="no branch, tag or commit named 'nowhere'"):
        commits.resolve(str(where), "nowhere", where.parent)
    with pytest.raises(Blocked, match="no single commit"):
        commits.resolve(str(where), "00000000", where.parent)
    with pytest.raises(Blocked, match="git ls-remote"):
        commits.resolve(str(where / "gone"), "main", where.parent)


PINNED_LATER = 'campaign "c" {{\n{0}language{1}= 1\n}}\n\nrow r {{\n{0}frozen{1}= "f.json"\n}}\n'


@pytest.mark.parametrize("tidy", [True, False])
def test_a_file_that_was_laid_out_stays_so_and_another_is_not_touched_elsewhere(tmp_path: Path, tidy: bool) -> None:
    (tmp_path / "f.json").write_text("{}")
    path = tmp_path / "c.campaign"
    before = PINNED_LATER.format("  ", " ") if tidy else PINNED_LATER.format("   ", "    ")
    assert (laid_out(before) == before) is tidy
    path.write_text(before)
    result = CliRunner().invoke(pin_command, [str(path)])
    assert result.exit_code == 0, result.output
    after = path.read_text()
    assert hashlib.sha256(b"{}").hexdigest() in after
    assert (laid_out(after) == after) is tidy
    assert tidy or "   language    = 1\n" in after


def test_what_has_every_pin_is_left_as_it_is_laid_out_or_not(tmp_path: Path) -> None:
    path = tmp_path / "c.campaign"
    path.write_text('campaign "c" {\n      language = 1\n}\n')
    assert CliRunner().invoke(pin_command, [str(path)]).exit_code == 0
    assert path.read_text() == 'campaign "c" {\n      language = 1\n}\n'
