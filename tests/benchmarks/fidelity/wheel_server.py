"""Replays payloads on a published runtime, one JSON line in, one out. Runs in its own interpreter.

Usage: ``python wheel_server.py PATH_TO_SO``. The compiled module is loaded by path; nothing else of
the wheel is imported.
"""

from __future__ import annotations

import importlib.util
import json
import sys
import time
from importlib.machinery import ExtensionFileLoader
from pathlib import Path


def load(path: str) -> object:
    """Load a compiled extension module from ``path``."""
    name = Path(path).name.split(".", 1)[0]
    loader = ExtensionFileLoader(name, path)
    spec = importlib.util.spec_from_file_location(name, path, loader=loader)
    if spec is None:
        raise ImportError(path)
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


def serve(path: str) -> None:
    """Answer payloads until standard input ends."""
    runtime = load(path)
    replay = runtime.run_replay_json  # type: ignore[attr-defined]
    for line in sys.stdin:
        begun = time.perf_counter()
        try:
            answer = {"report": json.loads(replay(line))}
        except RuntimeError as error:
            answer = {"error": str(error).removeprefix("AISimulate replay failed: ")}
        answer["call_ms"] = (time.perf_counter() - begun) * 1000.0
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    serve(sys.argv[1])
