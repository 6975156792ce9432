"""What drives a row, and how often it is replayed (`row.admission`, `row.repetitions`)."""

from __future__ import annotations

from collections.abc import Iterator

from aisimc_compiler.diagnostics.model import Diagnostic, Label
from aisimc_compiler.model import closed
from aisimc_compiler.model.campaign import Campaign

_SPEEDUP_LIMITS = (1e-6, 1e6)


def admission(campaign: Campaign) -> Iterator[Diagnostic]:
    """`row.admission`: timestamps drive admission in rows; fixtures may limit the requests in flight."""
    from aisimc_compiler.rules.refusal import refuse_name, refuse_value

    for row in campaign.rows:
        speedup, flight = row.arrival_speedup_ratio, row.max_in_flight
        if speedup is not None and not _SPEEDUP_LIMITS[0] <= speedup.value <= _SPEEDUP_LIMITS[1]:
            yield refuse_value(
                "row.admission",
                speedup,
                f"timestamps cannot be divided by {speedup.value}"
                if speedup.value <= 0
                else f"a speed-up of {speedup.value} leaves nothing of the trace's timing",
                label="takes 0.000001 to 1,000,000",
            )
        if flight is not None and row.kind == "row":
            yield refuse_name(
                "row.admission",
                flight,
                "a row is driven by the trace's timestamps, not by a limit on requests in flight",
                label="only a fixture may limit them",
                help="remove it, or make the row a `fixture`",
                secondary=(Label(row.name.span, "a row"),) if flight.taker is None else (),
            )
        elif flight is not None and flight.value < 1:
            yield refuse_value("row.admission", flight, "at least one request is in flight", label="takes 1 or more")


def repetitions(campaign: Campaign) -> Iterator[Diagnostic]:
    """`row.repetitions`: exactly two fresh processes for each arm."""
    if campaign.determinism is None:
        return
    given = campaign.determinism.repetitions
    if given is not None and given.value != closed.REPETITIONS:
        from aisimc_compiler.rules.refusal import refuse_value

        yield refuse_value(
            "row.repetitions",
            given,
            f"each arm is replayed in exactly two fresh processes, not in {given.value:,}",
            label="takes only 2",
            help="write `2`",
            replace="2",
        )
