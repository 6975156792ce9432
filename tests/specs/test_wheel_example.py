"""specs/tests/first_admission_reuse.py: an example for wheels; here with a runtime that answers as two builds do."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

from aisimc_runtime.engines.wheel_driver import module as driver


@pytest.fixture
def example(root: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("example", root / "specs/tests/first_admission_reuse.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(("told", "status"), [([0, 4, 4], 0), ([None, None, None], 1), ([0, 4, 0], 1)])
def test_it_tells_the_builds_apart(
    example: ModuleType, told: list[int | None], status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run_replay_json(text: str) -> str:
        asked = json.loads(text)
        rows = Path(asked["traffic"]["trace_path"]).read_text().splitlines()
        assert [json.loads(row)["timestamp"] for row in rows] == [0, 100, 200]
        name = "first_admission_reused_input_tokens"
        return json.dumps({"per_request": [{} if value is None else {name: value} for value in told]})

    monkeypatch.setenv("AISIMC_ARTIFACT", "hash-without-a-suffix")
    monkeypatch.setattr(example, "load", lambda path: SimpleNamespace(run_replay_json=run_replay_json))
    assert example.main() == status


def test_it_loads_a_file_without_a_suffix(example: ModuleType, tmp_path: Path) -> None:
    orjson = importlib.util.find_spec("orjson.orjson")
    assert orjson is not None
    assert orjson.origin is not None
    artifact = tmp_path / "0123abcd"
    artifact.write_bytes(Path(orjson.origin).read_bytes())
    with pytest.raises(ImportError, match="PyInit__runtime"):  # it was loaded, and asked for the right module
        example.load(str(artifact))
    assert driver.load("orjson", str(artifact)).dumps({"a": 1}) == b'{"a":1}'
