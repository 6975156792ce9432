"""One configuration for both arms: engine, composition, frozen files and expected refusals."""

from __future__ import annotations

from collections.abc import Iterator

from aisimc_compiler.diagnostics.model import Diagnostic, Label
from aisimc_compiler.hints import Any
from aisimc_compiler.model import closed
from aisimc_compiler.model.campaign import Campaign, Given
from aisimc_compiler.rules.digests import blank


def engine(campaign: Campaign) -> Iterator[Diagnostic]:
    """`row.engine`: a known engine, and only its own capacity fields."""
    common = {*closed.COMMON_CAPACITY, "max_model_len"}
    for row in campaign.rows:
        given = row.engine
        if given is None:
            continue
        if given.value not in closed.ENGINES:
            yield _unknown_engine(given)
            continue
        if row.topology is None:
            continue
        for pool in row.topology.pools.values():
            for name, value in pool.capacity.items():
                if name not in common and name not in closed.ENGINE_CAPACITY[given.value]:
                    yield _foreign_field(name, value, given)


def _unknown_engine(given: Given[str]) -> Diagnostic:
    from aisimc_compiler.model.nearest import nearest
    from aisimc_compiler.rules.refusal import did_you_mean, refuse_value

    meant = closed.ENGINE_ALIASES.get(given.value.lower()) or nearest(given.value, closed.ENGINES)
    return refuse_value(
        "row.engine",
        given,
        f"there is no engine `{given.value}`",
        label="takes `vllm`, `sglang` or `trtllm`",
        help=did_you_mean(meant),
        replace=meant,
    )


def _foreign_field(name: str, value: Given[Any], engine_: Given[str]) -> Diagnostic:
    from aisimc_compiler.rules.refusal import refuse_name

    owner = next(other for other, fields in closed.ENGINE_CAPACITY.items() if name in fields)
    return refuse_name(
        "row.engine",
        value,
        f"`{name}` is a field of {owner}, and the row's engine is {engine_.value}",
        label=f"not a field of {engine_.value}",
        help="remove it",
        secondary=(Label(engine_.span, "the engine"),),
    )


def composition(campaign: Campaign) -> Iterator[Diagnostic]:
    """`row.composition`: round-robin placement, no scaling."""
    from aisimc_compiler.rules.refusal import refuse_value

    for row in campaign.rows:
        for name, only in (("placement", "round_robin"), ("scaling", "none")):
            given = row.composition.get(name)
            if given is not None and given.value != only:
                near = given.value.lower().replace("-", "_") in (only, only.replace("_", ""))
                yield refuse_value(
                    "row.composition",
                    given,
                    f"{name} `{given.value}` is not part of the engine-only composition",
                    label=f"takes only `{only}`",
                    help=f"write `{only}`",
                    replace=only,
                    applicable=near,
                )


def frozen(campaign: Campaign) -> Iterator[Diagnostic]:
    """`row.frozen`: a frozen configuration says everything, and its bytes are the pinned ones."""
    for row in campaign.rows:
        if row.frozen is None:
            continue
        from aisimc_compiler.plan.frozen import frozen_faults

        yield from frozen_faults(campaign, row, row.frozen)


def error(campaign: Campaign) -> Iterator[Diagnostic]:
    """`row.error`: a row that must be refused names the text, and expects nothing else."""
    from aisimc_compiler.rules.refusal import refuse_value

    for row in campaign.rows:
        given = row.expect_error
        if given is None:
            continue
        if blank(given.value):
            yield refuse_value(
                "row.error", given, "the error text is empty, which any error would match", label="says nothing"
            )
            continue
        own = next(
            (
                (name, value)
                for block in (row.expect, row.evidence)
                for name, value in block.items()
                if value.origin == "written"
            ),
            None,
        )
        if own is None and row.golden is not None and row.golden.file.origin == "written":
            own = "golden", row.golden.file
        if own is not None and given.origin == "written":
            yield refuse_value(
                "row.error",
                given,
                "a row that the engine refuses has nothing else to expect",
                label="the replay is refused",
                help="keep `expect_error`, or what the row expects",
                secondary=(Label(own[1].name, "can never be seen"),),
            )
