"""Topology, capacity and timing of a row: what its roles say over what the row says over what its family says."""

from __future__ import annotations

from aisimc_compiler.hints import Any
from aisimc_compiler.model.campaign import Given, Pool, Timing, Topology, Transfer, Values
from aisimc_compiler.model.closed import COMMON_CAPACITY
from aisimc_compiler.model.resolve.context import Context
from aisimc_compiler.model.resolve.reading import Reading, fill, read, require
from aisimc_compiler.model.vocabulary import BLOCKS
from aisimc_compiler.source import Span
from aisimc_compiler.syntax import tree

_ROLES = ("prefill", "decode")
_STRANGE = {"aggregated": (*_ROLES, "transfer"), "disaggregated": ("workers", "dp", "tp")}
"""What shows that the other kind of topology was meant."""


class RoleReading:
    """One pool as it stands in its block."""

    __slots__ = ("capacity", "reading", "timing", "timing_touched")

    def __init__(self, context: Context, reading: Reading) -> None:
        self.reading = reading
        require(context, reading)
        fill(reading)
        self.capacity = capacity_of(context, reading)
        self.timing, self.timing_touched = timing_of(context, reading)


class TopologyReading:
    """A topology as it stands in its block; read once, also where a family hands it to many rows."""

    __slots__ = ("kind", "roles", "transfer", "whole")

    def __init__(self, context: Context, block: tree.Block) -> None:
        label = block.labels[0]
        assert isinstance(label, tree.Name)
        self.kind = Given(label.text, label.span, label.span)
        other = _of_the_other_kind(context, block, label)
        reading = read(context, other[0] if other else block, BLOCKS[f"topology {label.text}"])
        for name in other[1] if other else ():
            reading.touched.setdefault(name, label.span)
        self.roles: dict[str, RoleReading] = {}
        self.transfer: Transfer | None = None
        self.whole = True
        if label.text == "aggregated":
            self.roles["workers"] = RoleReading(context, reading)
            return
        for keyword in _ROLES:
            role = reading.one(keyword)
            if role is not None:
                self.roles[keyword] = RoleReading(context, read(context, role, BLOCKS["role"]))
        transfer = reading.one("transfer")
        if transfer is not None:
            self.transfer = _transfer(context, transfer)
        if any("transfer" in role.reading.astray() for role in self.roles.values()):
            reading.touched.setdefault("transfer", reading.name)
        missing = [keyword for keyword in (*_ROLES, "transfer") if keyword not in reading.touched]
        if missing and not context.torn(block.span):
            from aisimc_compiler.model.resolve.absence import missing_attributes

            context.report(missing_attributes(block, reading.name, missing))


def _of_the_other_kind(
    context: Context, block: tree.Block, label: tree.Name
) -> tuple[tree.Block, tuple[str, ...]] | None:
    """A topology that holds what belongs to the other kind: said once. The rest of it, and what it need not say."""
    strange = _STRANGE[label.text]
    foreign = [item for item in block.body if _name_of(item) in strange]
    if not foreign:
        return None
    from aisimc_compiler.model.resolve.mismatch import other_topology

    context.report(other_topology(label, foreign[0]))
    rest = tuple(item for item in block.body if item not in foreign)
    return block._replace(body=rest), ("workers",) if label.text == "aggregated" else (*_ROLES, "transfer")


def _name_of(item: tree.Attribute | tree.Block | tree.Value) -> str:
    if isinstance(item, tree.Attribute):
        return item.name.text
    return item.keyword.text if isinstance(item, tree.Block) else ""


def _transfer(context: Context, block: tree.Block) -> Transfer:
    reading = read(context, block, BLOCKS["transfer"])
    get: Any = reading.given.get
    touched = frozenset(BLOCKS["transfer"].attributes if context.torn(block.span) else reading.touched)
    return Transfer(reading.name, get("bytes_per_token"), get("bandwidth"), get("mode"), get("latency"), touched)


def capacity_of(context: Context, reading: Reading) -> Reading | None:
    """The capacity block in another block."""
    block = reading.one("capacity")
    return read(context, block, BLOCKS["capacity"]) if block else None


def timing_of(context: Context, reading: Reading) -> tuple[Timing | None, bool]:
    """The timing in another block, and whether there is one at all (it may have been refused)."""
    touched = "timing" in reading.touched
    block = reading.one("timing")
    if block is None:
        return None, touched
    label = block.labels[0]
    assert isinstance(label, tree.Name)
    inner = read(context, block, BLOCKS[f"timing {label.text}"])
    require(context, inner)
    get: Any = inner.given.get
    return Timing(Given(label.text, label.span, label.span), get("prefill"), get("decode")), touched


class Shape:
    """The topology, capacity and timing of one row or family."""

    __slots__ = (
        "capacity_name",
        "capacity_touched",
        "capacity_values",
        "span",
        "taker",
        "timing",
        "timing_touched",
        "topology",
        "topology_taken",
        "topology_touched",
        "torn",
    )

    def __init__(self, context: Context, reading: Reading) -> None:
        block = reading.one("topology")
        self.topology = TopologyReading(context, block) if block else None
        self.topology_touched = "topology" in reading.touched
        self.topology_taken = False
        capacity = capacity_of(context, reading)
        self.capacity_values: Values = capacity.given if capacity else {}
        self.capacity_touched: frozenset[str] = frozenset(capacity.touched) if capacity else frozenset()
        self.capacity_name: Span | None = capacity.name if capacity else None
        if capacity is None and "capacity" in reading.touched:
            self.capacity_touched = frozenset(COMMON_CAPACITY)
        self.timing, self.timing_touched = timing_of(context, reading)
        self.taker: Span | None = None
        self.span = reading.name
        self.torn = context.torn(reading.tree.span)

    def roles(self) -> tuple[str, ...]:
        """The roles, or pools, of its topology."""
        return tuple(self.topology.roles) if self.topology else ()

    def roles_without_capacity(self) -> tuple[str, ...]:
        """The roles that get no capacity from anywhere; none where there is no topology."""
        if self.capacity_name or self.capacity_touched or self.topology is None:
            return ()
        return tuple(
            name
            for name, role in self.topology.roles.items()
            if not role.capacity and "capacity" not in role.reading.touched
        )

    def roles_without_timing(self) -> tuple[str, ...]:
        """The roles that get no timing from anywhere; none where there is no topology."""
        if self.timing_touched or self.topology is None:
            return ()
        return tuple(name for name, role in self.topology.roles.items() if not role.timing_touched)


def merge(own: Shape, family: Shape | None, taker: Span) -> Shape:
    """A row's shape over its family's: capacity attribute by attribute, topology and timing whole."""
    if family is None:
        return own
    if not own.topology_touched and family.topology_touched:
        own.topology = family.topology
        own.topology_touched = True
        own.topology_taken = True
    if family.capacity_values or family.capacity_touched:
        values = {
            name: _taken(given, taker)
            for name, given in family.capacity_values.items()
            if name not in own.capacity_touched
        }
        values.update(own.capacity_values)
        own.capacity_values = values
        own.capacity_touched = own.capacity_touched | family.capacity_touched
    if not own.timing_touched and family.timing_touched:
        own.timing = _timing_taken(family.timing, taker)
        own.timing_touched = True
    own.taker = taker
    own.torn = own.torn or family.torn
    return own


def _taken(given: Given[Any], taker: Span) -> Given[Any]:
    return Given(given.value, given.span, given.name, "family", taker)


def _timing_taken(timing: Timing | None, taker: Span) -> Timing | None:
    if timing is None:
        return None
    return Timing(
        _taken(timing.kind, taker),
        _taken(timing.prefill_ms, taker) if timing.prefill_ms else None,
        _taken(timing.decode_ms, taker) if timing.decode_ms else None,
    )


def build(context: Context, shape: Shape) -> Topology | None:
    """The topology with each pool's effective capacity and timing; missing capacity fields are reported."""
    reading = shape.topology
    if reading is None:
        _check_capacity(context, shape, None)
        return None
    pools = {}
    taker = shape.taker if shape.topology_taken else None
    for keyword, role in reading.roles.items():
        values = shape.capacity_values
        if role.capacity is not None:
            own = role.capacity.given
            if taker is not None:
                own = {name: _taken(given, taker) for name, given in own.items()}
            values = {**values, **own}
        _check_capacity(context, shape, role.capacity)
        get: Any = role.reading.given.get
        workers, dp, tp = get("workers"), get("dp"), get("tp")
        if taker is not None:
            workers, dp, tp = (_taken(given, taker) if given else None for given in (workers, dp, tp))
        timing = role.timing if role.timing_touched else shape.timing
        pools[keyword] = Pool(role.reading.tree.keyword.span, workers, dp, tp, values, timing)
    kind = reading.kind if taker is None else _taken(reading.kind, taker)
    return Topology(kind, pools, reading.transfer)


def alone(shape: Shape) -> Topology:
    """Capacity and timing of a family without a topology, as if one pool had them."""
    pool = Pool(shape.span, None, None, None, shape.capacity_values, shape.timing)
    return Topology(Given("aggregated", shape.span, shape.span), {"workers": pool}, None)


def _check_capacity(context: Context, shape: Shape, own: Reading | None) -> None:
    """`name.missing` at the capacity block for fields that neither it nor what it inherits from says."""
    touched = shape.capacity_touched | own.touched.keys() if own else shape.capacity_touched
    missing = [name for name in COMMON_CAPACITY if name not in touched]
    if not missing or shape.torn:
        return
    if own is None and not shape.capacity_touched and shape.capacity_name is None:
        return  # there is no capacity at all, which the row itself is told
    from aisimc_compiler.model.resolve.absence import missing_capacity

    name = own.name if own else shape.capacity_name or shape.span
    context.report(missing_capacity(name, missing))
