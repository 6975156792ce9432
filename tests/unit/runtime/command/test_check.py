"""`aisimc check`: what it says where, and how it ends."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.builders.texts import SPECS
from tests.unit.runtime.command.aisimc import aisimc

VALID = str(next(path for path in SPECS if path.stem == "quickstart"))


def write(folder: Path, text: str | bytes, name: str = "a.campaign") -> str:
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return str(path)


def test_a_valid_campaign() -> None:
    done = aisimc("check", VALID)
    assert done == (0, "1 campaign is valid\n", "")


def test_several_files_and_a_summary(tmp_path: Path) -> None:
    first = write(tmp_path, "row x { a: 1 }\n")
    second = write(tmp_path, "row y { b = 007 c = 008 }\n", "b.campaign")
    done = aisimc("check", first, second, VALID)
    assert done.status == 2
    assert done.out.index(f"{first}:1:10") < done.out.index(f"{second}:1:13")
    assert done.out.rstrip().rsplit("\n", 1)[-1].endswith("in 2 files")


def test_a_fragment_says_so(tmp_path: Path) -> None:
    text = "exclude {\n  /summary/wall_time_ms\n  /summary/processed_tokens_per_s\n"
    text += "  /summary/processed_output_tokens_per_s\n  /planner/html_report_path\n}\n"
    path = write(tmp_path, text)
    done = aisimc("check", path)
    assert (done.status, done.err) == (0, "")
    assert done.out.startswith(f"{path}: a fragment")


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    path = str(tmp_path / "none")
    done = aisimc("check", path, VALID)
    assert done.status == 2
    assert done.err.startswith(f"aisimc: error: {path} cannot be read: there is no such file")
    assert done.err.count("\n") == 1


@pytest.mark.parametrize(
    ("content", "place", "byte", "help_"),
    [
        (b"a = \xff", (1, 5), "0xff", "save the file as UTF-8"),
        ("# größe\na = ".encode() + b"\xe9\n", (2, 5), "0xe9", "save the file as UTF-8"),
        ("campaign".encode("utf-16"), (1, 1), "0xff", "this looks like UTF-16; a campaign is UTF-8 text"),
        (b"\x1f\x8b\x08\x00", (1, 2), "0x8b", "this looks like a compressed file; a campaign is UTF-8 text"),
    ],
)
def test_a_file_that_is_not_utf8(tmp_path: Path, content: bytes, place: tuple[int, int], byte: str, help_: str) -> None:
    path = write(tmp_path, content)
    done = aisimc("check", path, "--format", "json")
    assert (done.status, done.err) == (2, "")
    [found] = json.loads(done.out)["diagnostics"]
    assert (found["rule"], found["line"], found["column"]) == ("syntax", *place)
    assert found["message"] == f"the byte {byte} begins no character of UTF-8"
    assert found["help"] == help_
    for verb in (("check",), ("plan",), ("run",)):
        done = aisimc(*verb, path)
        assert done.status == 2
        assert f"{path}:{place[0]}:{place[1]}" in done.out + done.err
        assert "Traceback" not in done.out + done.err


def test_a_folder(tmp_path: Path) -> None:
    done = aisimc("check", str(tmp_path))
    assert (done.status, done.err) == (2, f"aisimc: error: {tmp_path} cannot be read: it is a folder\n")


def test_standard_input() -> None:
    text = Path(VALID).read_text(encoding="utf-8")
    assert aisimc("check", "-", stdin=text, cwd=Path(VALID).parent).status == 0
    done = aisimc("check", "-", stdin="row x { a: 1 }")
    assert done.status == 2
    assert "--> <stdin>:1:10" in done.out
    assert "<stdin>:1:1" in aisimc("check", "-", stdin=b"\xff").out


@pytest.mark.parametrize("form", ["json", "sarif"])
@pytest.mark.parametrize("text", ["row x { a: 1 }\n", Path(VALID).read_text(encoding="utf-8")])
def test_machine_formats_are_whole_documents(tmp_path: Path, form: str, text: str) -> None:
    path = str(SPECS[0]) if "campaign" in text else write(tmp_path, text)
    done = aisimc("check", "--format", form, path)
    loaded = json.loads(done.out)
    found = loaded["diagnostics"] if form == "json" else loaded["runs"][0]["results"]
    assert bool(found) == (done.status == 2)


def test_github_format(tmp_path: Path) -> None:
    path = write(tmp_path, "row x { a: 1 }\n")
    lines = aisimc("check", "--format=github", path).out.splitlines()
    assert [line for line in lines if line.startswith(f"::error file={path},line=1,endLine=1,title=AC0001 syntax,")]


@pytest.mark.parametrize(
    ("arguments", "environment", "coloured"),
    [
        ((), {}, False),
        (("--color", "always"), {}, True),
        (("--color=always",), {"NO_COLOR": "1"}, True),
        (("--color", "never"), {}, False),
        ((), {"FORCE_COLOR": "1"}, False),
    ],
)
def test_colour(tmp_path: Path, arguments: tuple[str, ...], environment: dict[str, str], coloured: bool) -> None:
    done = aisimc("check", *arguments, write(tmp_path, "row x { a: 1 }\n"), **environment)
    assert ("\x1b[" in done.out) == coloured


def test_fix_mends_and_checks_again(tmp_path: Path) -> None:
    path = write(tmp_path, "# kept\r\nrow x { engine: vllm; }\r\n")
    Path(path).chmod(0o640)
    done = aisimc("check", "--fix", path)
    assert Path(path).read_bytes() == b"# kept\r\nrow x { engine = vllm }\r\n"
    assert Path(path).stat().st_mode & 0o777 == 0o640
    assert "2 mends applied" in done.err
    assert "AC0001" not in done.out
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.campaign"]
    before = Path(path).stat().st_mtime_ns
    assert "applied" not in aisimc("check", "--fix", path).err
    assert Path(path).stat().st_mtime_ns == before


def test_fix_needs_files() -> None:
    done = aisimc("check", "--fix", "-")
    assert (done.status, done.out) == (2, "")
    assert done.err == "aisimc: error: --fix changes files, and `-` is none\n"


def test_a_file_named_twice_is_checked_once(tmp_path: Path) -> None:
    path = write(tmp_path, "row x { a: 1 }\n")
    assert aisimc("check", path, path).out == aisimc("check", path).out


def test_an_import_with_a_mistake_is_said_once(tmp_path: Path) -> None:
    write(tmp_path, "family f { engine: vllm }\n", "part.campaign")
    first = write(tmp_path, 'import "part.campaign"\n')
    second = write(tmp_path, 'import "part.campaign"\n', "b.campaign")
    assert aisimc("check", first, second).out.count("error[AC0001]") == 1


def test_output_that_the_terminal_cannot_encode(tmp_path: Path) -> None:
    done = aisimc("check", write(tmp_path, "row x { a = “漢字” }\n"), PYTHONIOENCODING="ascii")
    assert done.status == 2
    assert "\\u201c" in done.out
    assert done.err == ""


def test_a_closed_pipe_is_no_mistake(tmp_path: Path) -> None:
    import subprocess
    import sys

    path = write(tmp_path, "row x { a = 007 }\n" * 3000)
    command = f"{sys.executable} -m aisimc_runtime check {path} | head -n 1"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True)
    assert done.stderr == ""
