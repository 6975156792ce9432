"""`aisimc pin` holds pins against the bytes at hand, and finds bytes that are not where the campaign says."""

from __future__ import annotations

import hashlib
import json
import re
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from aisimc_runtime.command.pin import command
from aisimc_runtime.inputs.generator import generate
from aisimc_runtime.store.content import Store

ROWS = list(generate(5, 60, 512))
DATA = b"".join(ROWS)


def sha(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


SLICE = sha(b"".join(ROWS[10:30]))
INPUT = f"""input window {{
  format     = mooncake
  block_size = 512
  file       = "t.jsonl"
  sha256     = "{sha(DATA)}"
  rows       = 60
  slice {{
    start  = 10
    rows   = 20
    sha256 = "{SLICE}"
  }}
}}
"""
GENERATED = f"""input window {{
  format     = mooncake
  block_size = 512
  generator {{ seed = 5 rows = 60 }}
  sha256     = "{sha(DATA)}"
  rows       = 60
}}
"""


class Place:
    """A folder with a campaign file, a store and a folder of traces."""

    def __init__(self, folder: Path) -> None:
        self.campaign = folder / "campaign" / "c.campaign"
        self.inputs = folder / "inputs"
        self.store = Store(folder / "store")
        self.campaign.parent.mkdir()
        self.inputs.mkdir()

    def pin(self, text: str | None = None, *options: str) -> Result:
        if text is not None:
            self.campaign.write_text(text, "utf-8")
        return CliRunner().invoke(command, [str(self.campaign), *options])

    @property
    def text(self) -> str:
        return self.campaign.read_text("utf-8")


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    made = Place(tmp_path)
    monkeypatch.setenv("AISIMC_STORE", str(made.store.root))
    monkeypatch.setenv("AISIMC_INPUTS", str(made.inputs))
    return made


def beside(place: Place) -> None:
    (place.campaign.parent / "t.jsonl").write_bytes(DATA)


def in_the_inputs(place: Place) -> None:
    (place.inputs / "deep").mkdir()
    (place.inputs / "deep" / "other-name.jsonl").write_bytes(DATA)


def in_the_store(place: Place) -> None:
    place.store.add_bytes(DATA, kind="input", name="another")


def nowhere(place: Place) -> None:
    pass


PLACES = pytest.mark.parametrize("put", [beside, in_the_inputs, in_the_store])


@PLACES
def test_pins_that_hold(place: Place, put: Callable[[Place], None]) -> None:
    put(place)
    done = place.pin(INPUT)
    assert (done.exit_code, done.stderr) == (0, "")
    assert done.stdout == f"{place.campaign}: every pin holds\n"


@PLACES
@pytest.mark.parametrize(
    ("was", "edited", "rule", "underlined"),
    [
        ("start  = 10", "start  = 11", "input.slice", SLICE),
        ("    rows   = 20", "    rows   = 19", "input.slice", SLICE),
        (SLICE, "0" * 64, "input.slice", "0" * 64),
        ("start  = 10", "start  = 41", "input.slice", "41"),
        (SLICE, SLICE.upper(), "", ""),
    ],
    ids=["start", "rows", "checksum", "beyond", "capitals"],
)
def test_an_edited_slice(
    place: Place, put: Callable[[Place], None], was: str, edited: str, rule: str, underlined: str
) -> None:
    put(place)
    text = INPUT.replace(was, edited)
    assert text != INPUT
    done = place.pin(text)
    assert place.text == text
    if not rule:
        assert done.exit_code == 0
        return
    assert done.exit_code == 3
    assert rule in done.stderr
    line = next(n for n, line in enumerate(text.splitlines(), 1) if underlined in line)
    assert f"{place.campaign}:{line}:" in done.stderr
    assert "holds" not in done.stdout
    if edited == "start  = 41":
        assert "it can start at row 40 at the latest" in done.stderr
        return
    assert "aisimc pin --refresh" in done.stderr
    mended = place.pin(None, "--refresh")
    assert mended.exit_code == 0, mended.output
    assert place.text != text
    assert place.pin().stdout.endswith("every pin holds\n")


@pytest.mark.parametrize(
    ("was", "edited", "word"),
    [
        (sha(DATA), "0" * 64, f"hashes to {sha(DATA)}"),
        ("rows       = 60", "rows       = 61", "60 rows, and 61 are pinned"),
        ("seed = 5", "seed = 6", "the generated trace is not what is pinned"),
        ("block_size = 512", "block_size = 256", "the generated trace is not what is pinned"),
        ("rows = 60 }", "rows = 59 }", "It has 59 rows, 60 are pinned"),
    ],
)
def test_an_edited_trace(place: Place, was: str, edited: str, word: str) -> None:
    text = (INPUT if was in (sha(DATA), "rows       = 60") else GENERATED).replace(was, edited)
    beside(place)
    done = place.pin(text)
    assert (done.exit_code, place.text) == (3, text)
    assert "input.checksum" in done.stderr
    assert word in done.stderr
    assert "^^^" in done.stderr or "^^" in done.stderr
    assert place.pin(None, "--refresh").exit_code == 0
    assert place.pin().stdout.endswith("every pin holds\n")


def test_a_replaced_trace_is_seen_though_the_store_has_the_old_one(place: Place) -> None:
    in_the_store(place)
    (place.campaign.parent / "t.jsonl").write_bytes(b"".join(ROWS[:50]))
    done = place.pin(INPUT)
    assert done.exit_code == 3
    assert "50 rows, 60 are pinned" in done.stderr
    assert place.pin(None, "--refresh").exit_code == 0
    assert sha(b"".join(ROWS[:50])) in place.text


def test_what_is_not_at_hand_is_said_and_not_fetched(place: Place) -> None:
    upstream = INPUT.replace(
        'file       = "t.jsonl"', f'upstream = "https://127.0.0.1:9/none" commit = "{"1" * 40}" path = "t.jsonl"'
    )
    wheel = f'revision baseline {{ wheel = "aisimulate==1.0" sha256 = "{"a" * 64}" }}\n'
    done = place.pin(wheel + upstream)
    assert (done.exit_code, done.stderr) == (0, "")
    assert "not verified, the pinned bytes are not here: revision baseline, input window" in done.stdout
    assert "every pin holds" not in done.stdout


def test_refresh_without_a_network_takes_an_upstream_trace_by_its_pinned_checksum(place: Place) -> None:
    in_the_inputs(place)
    text = INPUT.replace(
        'file       = "t.jsonl"', f'upstream = "https://127.0.0.1:9/none" commit = "{"1" * 40}" path = "t.jsonl"'
    )
    done = place.pin(text.replace("start  = 10", "start  = 11"), "--refresh")
    assert done.exit_code == 0, done.output
    assert sha(b"".join(ROWS[11:31])) in place.text
    assert "taken by its pinned checksum" in done.stderr
    first = place.pin(re.sub(r"  (sha256|rows) {2,}= .*\n", "", text, count=2))
    assert first.exit_code == 3
    assert "aisimc store add" in first.stderr


def without_checksums(text: str) -> str:
    return re.sub(r' *sha256 *= "[0-9a-f]{64}"\n', "", text).replace("  rows       = 60\n", "")


class TestAFirstPin:
    """Of a file that is not beside the campaign: by its name."""

    def test_in_a_folder_of_inputs(self, place: Place) -> None:
        (place.inputs / "t.jsonl").write_bytes(DATA)
        done = place.pin(without_checksums(INPUT))
        assert done.exit_code == 0, done.output
        assert f"taken from {place.inputs / 't.jsonl'}" in done.stderr
        assert sha(DATA) in place.text and SLICE in place.text and "= 60" in place.text

    def test_in_the_store(self, place: Place) -> None:
        place.store.add_bytes(DATA, kind="input", name="t.jsonl")
        assert place.pin(without_checksums(INPUT)).exit_code == 0
        assert sha(DATA) in place.text

    def test_the_same_bytes_twice_are_no_question(self, place: Place) -> None:
        in_the_inputs(place)
        for folder in (place.inputs, place.inputs / "deep"):
            (folder / "t.jsonl").write_bytes(DATA)
        assert place.pin(without_checksums(INPUT)).exit_code == 0

    def test_two_files_of_that_name(self, place: Place) -> None:
        in_the_inputs(place)
        (place.inputs / "t.jsonl").write_bytes(DATA)
        (place.inputs / "deep" / "t.jsonl").write_bytes(DATA[:-100])
        text = without_checksums(INPUT)
        done = place.pin(text)
        assert (done.exit_code, place.text) == (3, text)
        assert "2 different files are called t.jsonl" in done.stderr

    def test_nowhere(self, place: Place) -> None:
        done = place.pin(without_checksums(INPUT))
        assert done.exit_code == 3
        assert str(place.inputs) in done.stderr
        assert "AISIMC_INPUTS" in done.stderr and "aisimc store add" in done.stderr


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ('input x {\n  file = "/srv/t.jsonl"\n}\n', "input.upstream"),
        ('input x {\n  file = "~/t.jsonl"\n}\n', "input.upstream"),
        ('input x {\n  file = "C:/t.jsonl"\n}\n', "input.upstream"),
        ('input x {\n  upstream = "--upload-pack=x"\n  path = "t"\n}\n', "input.upstream"),
        ('input x {\n  upstream = "https://me:secret@example.org/r"\n  path = "t"\n}\n', "input.upstream"),
        ('revision candidate {\n  repository = "ext::sh"\n}\n', "pin.commit"),
        ("input x {\n  format = mooncake\n}\n", "name.missing"),
        ('input x {\n  file = ""\n}\n', "name.missing"),
        ("revision candidate {\n  relation = ancestor\n}\n", "name.missing"),
        ('input x {\n  file = "t.jsonl"\n  slice {\n    start = 0\n  }\n}\n', "input.slice"),
    ],
)
@pytest.mark.parametrize("option", [(), ("--refresh",)])
def test_what_check_would_refuse_is_not_pinned_in_silence(
    place: Place, text: str, rule: str, option: tuple[str, ...]
) -> None:
    beside(place)
    done = place.pin(text, *option)
    assert done.exit_code == 3
    assert f" {rule}: " in done.stderr
    assert "holds" not in done.stdout
    if rule != "input.slice":
        assert place.text == text


class TestWheels:
    """A hash that belongs to another version, as far as it can be told without a download."""

    def wheel(self, place: Place, version: str) -> str:
        path = place.inputs / "w.whl"
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr(f"aisimulate-{version}.dist-info/METADATA", f"Name: aisimulate\nVersion: {version}\n\n")
        return place.store.add_file(path, kind="wheel")

    def revision(self, arm: str, version: str, sha256: str) -> str:
        return f'revision {arm} {{\n  wheel  = "aisimulate=={version}"\n  sha256 = "{sha256}"\n}}\n'

    def test_the_store_has_the_wheel(self, place: Place) -> None:
        old = self.wheel(place, "1.0.dev85")
        assert place.pin(self.revision("baseline", "1.0.dev85", old)).stdout.endswith("every pin holds\n")
        done = place.pin(self.revision("baseline", "1.0.dev99", old))
        assert done.exit_code == 3
        assert "pin.wheel: the wheel with this SHA-256 is aisimulate 1.0.dev85" in done.stderr
        assert "aisimc pin --refresh" in done.stderr

    def test_two_versions_with_one_hash(self, place: Place) -> None:
        both = self.revision("baseline", "1.0", "a" * 64) + self.revision("candidate", "1.1", "a" * 64)
        done = place.pin(both)
        assert done.exit_code == 3
        assert "cannot be one wheel" in done.stderr
        assert f"{place.campaign}:7:" in done.stderr
        same = self.revision("baseline", "1.0", "a" * 64) + self.revision("candidate", "1.0", "a" * 64)
        assert place.pin(same).exit_code == 0

    def test_said_once(self, place: Place) -> None:
        old = self.wheel(place, "1.0")
        done = place.pin(self.revision("baseline", "1.0", old) + self.revision("candidate", "1.1", old))
        assert done.stderr.count("error[") == 1


@pytest.mark.parametrize("keyword", ["row", "fixture", "family"])
def test_an_edited_frozen_configuration(place: Place, keyword: str) -> None:
    frozen = place.campaign.parent / "r.json"
    frozen.write_text(json.dumps({"a": 1}))
    text = f'{keyword} r {{\n  frozen = "r.json"\n  sha256 = "{sha(frozen.read_bytes())}"\n}}\n'
    assert place.pin(text).stdout.endswith("every pin holds\n")
    frozen.write_text(json.dumps({"a": 2}))
    done = place.pin()
    assert (done.exit_code, place.text) == (3, text)
    assert "row.frozen" in done.stderr and "--refresh" in done.stderr
    assert place.pin(None, "--refresh").exit_code == 0
    assert sha(frozen.read_bytes()) in place.text


def test_one_wrong_pin_does_not_hold_up_the_others(place: Place) -> None:
    beside(place)
    wrong, missing = INPUT.replace("start  = 10", "start  = 11"), without_checksums(INPUT).replace("window", "other")
    done = place.pin(wrong + missing)
    assert done.exit_code == 3
    assert place.text.startswith(wrong)
    assert place.text.count(SLICE) == 2


def test_a_dry_run_writes_nothing(place: Place) -> None:
    beside(place)
    text = INPUT.replace("start  = 10", "start  = 11")
    assert place.pin(text, "--dry-run").exit_code == 3
    assert place.pin(text, "--dry-run", "--refresh").exit_code == 1
    assert place.text == text
