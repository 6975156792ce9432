"""The configuration of one replay: AI Simulate's own qualification keys, unknown ones refused."""

from __future__ import annotations

import hashlib
import os

import lossless

TYPE_CHECKING = False  # `typing` itself would cost every replay some milliseconds
if TYPE_CHECKING:
    from typing import Any

KEYS: dict[str, type] = {
    "row_name": str,
    "trace_file": str,
    "trace_sha256": str,
    "trace_rows": int,
    "trace_block_size": int,
    "arrival_speedup_ratio": float,
    "trace_upstream_repository": str,
    "trace_upstream_commit": str,
    "trace_upstream_path": str,
    "trace_full_sha256": str,
    "trace_full_rows": int,
    "trace_slice_start": int,
    "iterations": int,
    "capture_canonical": bool,
    "write_full_report": bool,
    "metadata": dict,
    "expected": dict,
    "spec": dict,
    "mode": str,
}
OPTIONAL: dict[str, Any] = {
    "iterations": lossless.Number("1"),
    "capture_canonical": True,
    "write_full_report": False,
    "metadata": {},
    "expected": {},
    "mode": "qualify",
}


def load(path: str) -> tuple[dict[str, Any], str]:
    """Read and check a configuration; numbers as `lossless.Number`. Raises `ValueError` with the key's name."""
    with open(path, "rb") as stream:
        raw = stream.read()
    try:
        config = lossless.read(raw.decode())
    except (ValueError, UnicodeDecodeError) as error:
        raise ValueError(f"the configuration is not JSON: {error}") from error
    if not isinstance(config, dict):
        raise ValueError("the configuration is not a JSON object")
    if "source_revision" in config:
        raise ValueError("source_revision is embedded in the artifact and is not taken from a configuration")
    for key in config:
        if key not in KEYS:
            raise ValueError(f"unknown configuration key {key!r}")
    for key, kind in KEYS.items():
        if key not in config and key not in OPTIONAL:
            raise ValueError(f"the configuration lacks {key}")
        config.setdefault(key, OPTIONAL.get(key))
        _kind(key, config[key], kind)
    _values(config)
    return config, hashlib.sha256(raw).hexdigest()


def _kind(key: str, value: Any, kind: type) -> None:
    if kind in (int, float):
        right = isinstance(value, lossless.Number) and (kind is float or value.isdigit())
    else:
        right = isinstance(value, kind) and not isinstance(value, lossless.Number)
    if not right:
        raise ValueError(f"the configuration's {key} is not {kind.__name__}: {lossless.write(value)[:80]}")


def _values(config: dict[str, Any]) -> None:
    if config["mode"] not in ("qualify", "timing"):
        raise ValueError(f"unknown mode {config['mode']!r}")
    if config["mode"] == "timing":
        raise ValueError("timing is refused: a wheel does not expose replay_execution_ms")
    if config["iterations"] != "1":
        raise ValueError("iterations is not 1: each repetition is a process of its own")
    if not config["capture_canonical"]:
        raise ValueError("capture_canonical is false: there would be nothing to compare")
    if not config["row_name"].strip():
        raise ValueError("row_name is blank")
    spec = config["spec"]
    if spec.get("requests"):
        raise ValueError("spec.requests is not empty: the trace is the only source of requests")
    for name, wanted in (("placement", "round_robin"), ("scaling", "none")):
        adapter = spec.get("adapters", {}).get(name, {"provider": wanted})
        if not isinstance(adapter, dict) or adapter.get("provider") != wanted:
            raise ValueError(f"spec.adapters.{name} is not {wanted}")


def trace_path(config: dict[str, Any], path: str) -> str:
    """The trace beside the configuration (an absolute path is taken as it is)."""
    name: str = config["trace_file"]
    if os.path.isabs(name):
        return name
    if os.path.basename(name) != name:
        raise ValueError(f"trace_file {name!r} is neither a bare name nor an absolute path")
    return os.path.join(os.path.dirname(os.path.abspath(path)), name)


def check_trace(config: dict[str, Any], path: str) -> None:
    """Hash the trace and count its rows. Raises `ValueError` when they are not the declared ones."""
    digest = hashlib.sha256()
    rows = 0
    with open(path, "rb") as stream:
        for line in stream:
            digest.update(line)
            rows += bool(line.strip())
    if digest.hexdigest() != config["trace_sha256"].lower():
        raise ValueError(f"the trace hashes to {digest.hexdigest()}, not to trace_sha256 {config['trace_sha256']}")
    if rows != int(config["trace_rows"]):
        raise ValueError(f"the trace has {rows} rows, not trace_rows {config['trace_rows']}")
