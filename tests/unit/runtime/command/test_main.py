"""The command line itself: the quick path, click behind it, and what is imported when."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from aisimc_runtime import __version__
from aisimc_runtime.command.main import VERBS
from tests.builders.texts import SPECS
from tests.unit.runtime.command.aisimc import Done, aisimc


def modules_after(*arguments: str) -> set[str]:
    """The modules that a command line has loaded when it is done."""
    code = (
        "import sys\nfrom aisimc_runtime.command.main import _quick\nassert _quick(sys.argv[1:]) is not None\n"
        "sys.stderr.write('\\nMODULES ' + ' '.join(sys.modules))\n"
    )
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=True)
    return set(done.stderr.rsplit("MODULES ", 1)[1].split())


HEAVY = {"click", "lark", "rich", "networkx", "jsonschema", "ruamel", "argparse", "dataclasses", "json", "orjson"}
HEAVY |= {
    "typing",
    "pathlib",
    "subprocess",
    "socket",
    "asyncio",
    "hashlib",
    "importlib.metadata",
    "inspect",
    "pygls",
    "psutil",
}


@pytest.mark.parametrize("arguments", [("--version",), ("--help",)])
def test_version_and_help_import_next_to_nothing(arguments: tuple[str, ...]) -> None:
    loaded = modules_after(*arguments)
    assert not loaded & (HEAVY | {"re", "aisimc_compiler"})


@pytest.mark.parametrize("stem", ["quickstart", "nightly-conversation"])
def test_check_imports_nothing_heavy(stem: str) -> None:
    (spec,) = (path for path in SPECS if path.stem == stem)
    assert not modules_after("check", str(spec)) & HEAVY


def test_check_of_a_whole_matrix_imports_none_of_the_heavy_modules(shared: Path) -> None:
    loaded = modules_after("check", str(shared / "examples" / "nightly-conversation.campaign"))
    assert not loaded & HEAVY
    assert not any(name.startswith("aisimc_compiler.rules.texts") for name in loaded)
    assert "aisimc_compiler.syntax.recovery" not in loaded


def test_version() -> None:
    assert aisimc("--version") == aisimc("-V") == Done(0, f"aisimc {__version__}\n", "")


def test_help_names_every_verb_and_needs_no_click() -> None:
    done = aisimc("--help")
    assert (done.status, done.err) == (0, "")
    assert all(f"  {verb} " in done.out for verb in VERBS)
    assert aisimc("-h") == done
    assert aisimc() == Done(2, done.out, "")


def test_click_prints_the_same_help() -> None:
    from click import Context

    from aisimc_runtime.command.group import LazyGroup

    group = LazyGroup("aisimc")
    assert group.get_help(Context(group)) + "\n" == aisimc("--help").out


@pytest.mark.parametrize("verb", ["check", "fmt", "explain", "lsp"])
def test_every_verb_of_the_language_has_help(verb: str) -> None:
    done = aisimc(verb, "--help")
    assert (done.status, done.err) == (0, "")
    assert done.out.startswith(f"Usage: aisimc {verb}")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("chekc",), "No such command `chekc`. Did you mean `check`?"),
        (("check",), "Missing argument 'FILE...'"),
        (("check", "--format", "xml", "a"), "Invalid value for '--format'"),
        (("check", "--format"), "Option '--format' requires an argument"),
        (("check", "--nope", "a"), "No such option"),
        (("fmt", "--format", "json", "a"), "No such option"),
        (("--nope",), "No such option"),
    ],
)
def test_a_command_line_that_is_refused(arguments: tuple[str, ...], said: str) -> None:
    done = aisimc(*arguments)
    assert (done.status, done.out) == (2, "")
    assert done.err.startswith("aisimc: error: ")
    assert said in done.err


@pytest.mark.parametrize(
    "arguments",
    [
        ("check", str(SPECS[0])),
        ("check", "--format", "json", str(SPECS[0])),
        ("check", "--format=github", "--color", "never", "BROKEN"),
        ("check", "--color=always", "BROKEN", "none"),
        ("check", "BROKEN", "--format", "sarif"),
        ("fmt", "--check", "BROKEN", str(SPECS[0])),
        ("fmt", "--diff", "LOOSE"),
        ("fmt", "--diff", "--check", "--color", "always", "LOOSE"),
    ],
)
def test_the_quick_path_and_click_give_the_same(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    (tmp_path / "BROKEN").write_text("row x { a: 1 }\n")
    (tmp_path / "LOOSE").write_text("row x { a=1 }\n")
    quick = aisimc(*arguments, cwd=tmp_path)
    code = f"from aisimc_runtime.command.group import run_group; raise SystemExit(run_group({list(arguments)!r}))"
    slow = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert quick == (slow.returncode, slow.stdout, slow.stderr)


def test_completion_for_shells_is_left_to_click() -> None:
    done = aisimc(_AISIMC_COMPLETE="bash_source")
    assert "_aisimc_completion" in done.out


def test_a_mistake_of_ours_is_one_line(tmp_path: Path) -> None:
    code = (
        "import sys; sys.argv = ['aisimc', 'check', 'x']\n"
        "import aisimc_compiler.api as api\n"
        "def broken(path): raise RuntimeError('boom')\n"
        "api.check_file = broken\n"
        "from aisimc_runtime.command.main import main\nmain()\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 3
    assert done.stderr.startswith("aisimc: error: this is a mistake in aisimc itself: RuntimeError: boom\n")
    assert "Traceback" not in done.stderr
    debugging = {**os.environ, "AISIMC_TRACEBACK": "1"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, env=debugging)
    assert "Traceback" in done.stderr
