"""The canonical record: one JSON object whose SHA-256, newline included, is the row's digest."""

from __future__ import annotations

import lossless

TYPE_CHECKING = False  # `typing` itself would cost every replay some milliseconds
if TYPE_CHECKING:
    from typing import Any

SCHEMA_VERSION = "dynamo.offline-replay.v1"
CAMPAIGN = "aisimulate.engine-replay-parity.v1"
EXCLUSIONS = (
    "/summary/wall_time_ms",
    "/summary/processed_tokens_per_s",
    "/summary/processed_output_tokens_per_s",
    "/planner/html_report_path",
)
WALL_CLOCK = ("wall_time_ms", "processed_tokens_per_s", "processed_output_tokens_per_s")


def metadata(config: dict[str, Any]) -> dict[str, Any]:
    """What the record says of its row: never a path, a host or a revision."""
    spec = config["spec"]
    return {
        **config["metadata"],
        "campaign": CAMPAIGN,
        "row_name": config["row_name"],
        "composition": {"placement": "round_robin", "scaling": "none"},
        "workload": {
            "format": "mooncake",
            "sha256": config["trace_sha256"],
            "rows": config["trace_rows"],
            "block_size": config["trace_block_size"],
            "arrival_speedup_ratio": config["arrival_speedup_ratio"],
            "upstream": {
                "repository": config["trace_upstream_repository"],
                "commit": config["trace_upstream_commit"],
                "path": config["trace_upstream_path"],
                "full_sha256": config["trace_full_sha256"],
                "full_rows": config["trace_full_rows"],
            },
            "slice": {"start_zero_based": config["trace_slice_start"], "rows": config["trace_rows"]},
        },
        "topology": spec.get("topology"),
        "engine": spec.get("engine"),
        "schema_version": SCHEMA_VERSION,
        "result_exclusions": list(EXCLUSIONS),
    }


def line(reader: lossless.Plain | lossless.Fast, config: dict[str, Any]) -> bytes:
    """The record's bytes, newline included, from the report that `reader` holds.

    Records stay in the report's order; nothing is normalised but key order and white space.
    """
    report = reader.document
    summary = {k: v for k, v in report.items() if k != "per_request" and k not in WALL_CLOCK}
    records = report.get("per_request", [])
    coverage = {
        "capture_canonical_evidence": False,  # run_replay_json gives no runtime evidence
        "capture_per_request": True,
        "capture_planner_details": False,
        "per_request_records": len(records),
    }
    return b"".join(
        (
            b'{"coverage":',
            lossless.write(coverage).encode(),
            b',"metadata":',
            lossless.write(metadata(config)).encode(),
            b',"per_request":',
            reader.bytes(records),
            b',"planner":null,"summary":',
            reader.bytes(summary),
            b"}\n",
        )
    )
