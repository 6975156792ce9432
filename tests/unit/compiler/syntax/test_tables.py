"""Tables made with the package, stale tables, and no tables."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from aisimc_compiler.syntax import tables
from aisimc_compiler.syntax.generate import generate, write


def test_generated_module_holds_what_generate_makes(tmp_path: Path) -> None:
    grammar = Path(tables.grammar_path())
    write(grammar, tmp_path / "made.py")
    namespace: dict[str, object] = {}
    exec((tmp_path / "made.py").read_text(encoding="utf-8"), namespace)
    made = generate(grammar.read_text(encoding="utf-8"))
    assert {name: namespace[name] for name in made} == made
    assert list(tmp_path.iterdir()) == [tmp_path / "made.py"]


def test_tables_do_not_depend_on_the_hash_seed() -> None:
    code = (
        "from pathlib import Path; from aisimc_compiler.syntax import generate, tables;"
        "print(generate.generate(Path(tables.grammar_path()).read_text()))"
    )
    texts = {
        subprocess.run(
            [sys.executable, "-c", code], env={"PYTHONHASHSEED": seed}, capture_output=True, text=True, check=True
        ).stdout
        for seed in ("0", "1", "77")
    }
    assert len(texts) == 1


def test_stale_tables_are_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "aisimc_compiler.syntax._tables", SimpleNamespace(GRAMMAR="an older one"))
    made = tables._data(Path(tables.grammar_path()).read_text(encoding="utf-8"))
    assert made["GRAMMAR"] != "an older one"
    assert "SHIFT" in made


def test_missing_tables_are_made_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "aisimc_compiler.syntax._tables", None)
    made = tables._data(Path(tables.grammar_path()).read_text(encoding="utf-8"))
    assert made["TERMINALS"][0] == "$END"


def test_every_state_has_a_way_on() -> None:
    made = generate(Path(tables.grammar_path()).read_text(encoding="utf-8"))
    stuck = [state for state, row in enumerate(made["SHIFT"]) if not any(row)]
    assert stuck == [0, made["FINAL"]]
