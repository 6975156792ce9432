"""One replay: configuration and trace in, canonical record and counters out."""

from __future__ import annotations

import hashlib
import os
import time

import canonical
import config as configuration
import counters as counting
import lossless
import module

TYPE_CHECKING = False  # `typing` itself would cost every replay some milliseconds
if TYPE_CHECKING:
    from typing import Any


def payload(config: dict[str, Any], trace: str) -> str:
    """The JSON text for `run_replay_json`: the row's own spec, the trace, and the determinism mode."""
    traffic = {
        "source_type": "trace",
        "trace_path": trace,
        "trace_format": "mooncake",
        "trace_block_size": config["trace_block_size"],
        "arrival_speedup_ratio": config["arrival_speedup_ratio"],
    }
    in_flight = config["spec"].get("max_in_flight")
    if in_flight is not None:
        traffic["replay_concurrency"] = in_flight  # beside a trace the spec's own field is ignored silently
    text: str = lossless.write({"spec": config["spec"], "traffic": traffic, "determinism": "canonical_v1"})
    return text


def replay(options: dict[str, str], config_path: str, out: str, started: float) -> None:
    """Replay once and leave `canonical.jsonl` and `qualification.jsonl`. Raises with one line that says why not."""
    os.makedirs(out, exist_ok=True)
    if os.listdir(out):
        raise ValueError(f"the output folder is not empty: {out}")
    config, config_sha256 = configuration.load(config_path)
    trace = configuration.trace_path(config, config_path)
    configuration.check_trace(config, trace)
    text = module.runtime(options).run_replay_json(payload(config, trace))
    configuration.check_trace(config, trace)
    reader = lossless.reader(text, module.orjson(options))
    if config["write_full_report"]:
        put(out, "report.json", text.encode() + b"\n")
    del text
    if options.get("--correction"):
        correct(options["--correction"], reader)
    line = canonical.line(reader, config)
    backend = counting.engine_backend(config["spec"])
    figures = counting.count(reader.document, backend, "--chunks-count-as-readmissions" in options)
    record = {
        "row_name": config["row_name"],
        "source_revision": module.revision(options),
        "config_sha256": config_sha256,
        "runner_binary_sha256": options.get("--runtime-sha256"),
        "canonical_sha256": hashlib.sha256(line).hexdigest(),
        **figures,
        "derived": counting.derived(figures),
        "measured_process_ms": (time.perf_counter() - started) * 1000,
    }
    for difference in counting.differences(config["expected"], record):
        raise ValueError(f"the configuration's expectation does not hold: {difference}")
    put(out, "canonical.jsonl", line)
    put(out, "qualification.jsonl", lossless.write(record).encode() + b"\n")


def correct(name: str, reader: lossless.Plain | lossless.Fast) -> None:
    """Apply a built-in correction by name. Raises `ValueError` for a name that is not built in."""
    if name != "stable_request_identity":
        raise ValueError(f"no correction {name!r} is built in for wheels")
    import stable_request_identity

    stable_request_identity.correct(reader)


def put(folder: str, name: str, data: bytes) -> None:
    """Write a file so that it stands under its name only when it is whole."""
    temporary = os.path.join(folder, f".{name}.tmp")
    with open(temporary, "wb") as stream:
        stream.write(data)
    os.rename(temporary, os.path.join(folder, name))
