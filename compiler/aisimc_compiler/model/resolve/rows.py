"""Rows and fixtures: families applied, defaults filled in, references to inputs and families followed."""

from __future__ import annotations

from aisimc_compiler.hints import Any, Literal
from aisimc_compiler.loading import Unreadable
from aisimc_compiler.model.campaign import Frozen, Given, Golden, Input, Row, Values
from aisimc_compiler.model.closed import ENGINES
from aisimc_compiler.model.resolve import topologies
from aisimc_compiler.model.resolve.blocks import named
from aisimc_compiler.model.resolve.context import Context
from aisimc_compiler.model.resolve.imports import Placed
from aisimc_compiler.model.resolve.parts import Parts
from aisimc_compiler.model.resolve.paths import meant, normalised, objection
from aisimc_compiler.model.resolve.topologies import Shape
from aisimc_compiler.source import Span
from aisimc_compiler.syntax import tree

_CONFIGURING = (
    "engine",
    "topology",
    "capacity",
    "timing",
    "composition",
    "arrival_speedup_ratio",
    "max_sim_time_ms",
    "max_in_flight",
)


def rows(
    context: Context, found: dict[str, list[Placed]], families: dict[str, Parts], inputs: dict[str, Input]
) -> tuple[Row, ...]:
    """Every row and fixture, in reading order."""
    seen: dict[str, Span] = {}
    result = []
    placed = [*found.get("row", []), *found.get("fixture", [])]
    for entry in placed:
        item = entry.item
        assert isinstance(item, tree.Block)
        name = named(context, item, seen, "rows or fixtures")
        parts = Parts(context, item, entry.base)
        if name is not None:
            result.append(_Merger(context, name, parts, families, inputs).row())
    return tuple(result)


def families_as_rows(context: Context, families: dict[str, Parts], inputs: dict[str, Input]) -> tuple[Row, ...]:
    """Each family as a row that need not be whole, of no known engine; for after the rows, which take it as it is."""
    result = []
    for text, parts in families.items():
        span = parts.reading.name
        merger = _Merger(context, Given(text, span, span), parts, {}, inputs)
        merger.whole = False
        parts.shape.torn = True
        row = merger.row()
        known = row.engine is not None and row.engine.value in ENGINES
        result.append(
            row._replace(
                kind="fixture",
                engine=None if known else row.engine,
                topology=row.topology or topologies.alone(parts.shape),
                frozen=None,
                golden=None,
            )
        )
    return tuple(result)


class _Merger:
    """One row over its family."""

    def __init__(
        self, context: Context, name: Given[str], own: Parts, families: dict[str, Parts], inputs: dict[str, Input]
    ) -> None:
        self.context = context
        self.name = name
        self.own = own
        self.inputs = inputs
        self.whole = not context.torn(own.reading.tree.span)
        self.family_name: Given[str] | None = own.reading.given.get("family")
        self.family: Parts | None = None
        if self.family_name is not None:
            self.family = families.get(self.family_name.value)
            if self.family is None:
                self.whole = False
                self._unknown("family", self.family_name, families)
            elif self.family.doubtful:
                self.whole = False
        elif "family" in own.reading.touched:
            self.whole = False

    def row(self) -> Row:
        get = self._attribute
        frozen = self._frozen()
        own = self.own.reading
        kind: Literal["row", "fixture"] = "row" if own.tree.keyword.text == "row" else "fixture"
        shape = topologies.merge(
            self.own.shape, self.family.shape if self.family and not frozen else None, self.name.span
        )
        speedup = get("arrival_speedup_ratio")
        if speedup is None and "arrival_speedup_ratio" not in own.touched:
            speedup = Given(1.0, self.name.span, self.name.span, "default")
        row = Row(
            name=self.name,
            kind=kind,
            family=self.family_name,
            engine=None if frozen else get("engine"),
            input=self._input(),
            arrival_speedup_ratio=speedup,
            max_sim_time_ms=get("max_sim_time_ms"),
            max_in_flight=get("max_in_flight"),
            topology=None if frozen else topologies.build(self.context, shape),
            composition=self._merged("composition", whole=True),
            evidence=self._merged("evidence"),
            expect=self._merged("expect"),
            expect_error=get("expect_error"),
            golden=self._golden(),
            frozen=frozen,
            beside_frozen=self._beside() if frozen else (),
        )
        self._require(row, shape)
        return row

    def _attribute(self, name: str) -> Given[Any] | None:
        own = self.own.reading
        if name in own.given:
            return own.given[name]
        if self.family is None or name in own.touched:
            return None
        given = self.family.reading.given.get(name)
        return None if given is None else self._taken(given)

    def _taken(self, given: Given[Any]) -> Given[Any]:
        return Given(given.value, given.span, given.name, "family", self.name.span)

    def _merged(self, keyword: str, *, whole: bool = False) -> Values:
        """A block's values, attribute by attribute over the family's, or the whole block where `whole`."""
        own = self.own.values(keyword)
        if self.family is None or (whole and keyword in self.own.reading.touched):
            return own
        family = self.family.values(keyword)
        if not family:
            return own
        refused = self.own.blocks[keyword].touched if keyword in self.own.blocks else ()
        merged = {name: self._taken(given) for name, given in family.items() if name not in refused}
        merged.update(own)
        return merged

    def _input(self) -> Given[str] | None:
        given = self._attribute("input")
        if given is not None and given.value not in self.inputs and not self.context.fragment:
            self._unknown("input", given, self.inputs)
            return None
        return given

    def _unknown(self, noun: str, given: Given[Any], known: dict[str, Any]) -> None:
        if self.context.fragment:
            return
        if self.context.refers_to_refused(noun, given.value):
            return
        if self.context.torn():
            return  # the text that could not be read may have named it
        if noun == "input" and not known:
            return  # the campaign has no input at all, which is said of it
        from aisimc_compiler.model.resolve.absence import unknown_reference

        self.context.report(unknown_reference(noun, given, known, suggest=self.context.may_suggest()))

    def _frozen(self) -> Frozen | None:
        given = self._attribute("frozen")
        sha256 = self._attribute("sha256")
        if given is None:
            if (
                sha256 is not None
                and self.whole
                and "frozen" not in self.own.reading.touched
                and not self._lacks_frozen()
            ):
                from aisimc_compiler.model.resolve.absence import digest_of_nothing

                self.context.report(digest_of_nothing(sha256))
            return None
        path, data = self._file("row.frozen", given)
        return Frozen(given, sha256, path, data, "sha256" in self.own.reading.touched, self._inherited())

    def _lacks_frozen(self) -> bool:
        """Whether a row has the digest of a frozen configuration, and nothing that would stand in its place."""
        touched = {*self.own.reading.touched, *(self.family.reading.touched if self.family else ())}
        return "sha256" in touched and touched.isdisjoint(("frozen", "engine", "topology", "capacity", "timing"))

    def _golden(self) -> Golden | None:
        given = self._attribute("golden")
        if given is None:
            return None
        path, data = self._file("run.golden", given)
        return Golden(given, path, data)

    def _file(self, rule: str, given: Given[Any]) -> tuple[str, bytes | None]:
        base = self.own.base if given.origin != "family" or self.family is None else self.family.base
        why = objection(self.context, base, given.value)
        path = "" if why else normalised(base, given.value)
        data, near = None, None
        if not why:
            read_ = self.context.loader.data(path)
            if isinstance(read_, Unreadable):
                why = f"cannot be read: {read_.reason}"
                near = meant(self.context, base, given.value) if read_.absent else None
            else:
                data = read_
        if why:
            from aisimc_compiler.rules.refusal import did_you_mean, refuse_value

            quoted = f'"{near}"' if near else None
            noun = "frozen configuration" if rule == "row.frozen" else "golden file"
            self.context.report(
                refuse_value(
                    rule,
                    given,
                    f"the {noun} `{given.value}` {why}",
                    label="named here",
                    help=did_you_mean(quoted),
                    replace=quoted,
                )
            )
        return path, data

    def _inherited(self) -> Values:
        """What the family says, and no frozen row takes over."""
        if self.family is None:
            return {}
        given = self.family.reading.given
        found = {name: self._taken(given[name]) for name in _CONFIGURING if name in given}
        topology = self.family.shape.topology
        if topology is not None:
            found["topology"] = self._taken(topology.kind)
        return {name: value for name, value in found.items() if not self._refused_anyhow(name)}

    def _beside(self) -> tuple[Given[str], ...]:
        """What the row says itself beside `frozen` although the configuration says it already."""
        found = []
        for item in self.own.reading.tree.body:
            name = (
                item.name
                if isinstance(item, tree.Attribute)
                else item.keyword
                if isinstance(item, tree.Block)
                else None
            )
            if name is not None and name.text in _CONFIGURING and not self._refused_anyhow(name.text):
                found.append(Given(name.text, name.span, name.span))
        return tuple(found)

    def _refused_anyhow(self, name: str) -> bool:
        """Whether no row may say it at all (`row.admission`)."""
        return name == "max_in_flight" and self.own.reading.tree.keyword.text == "row"

    def _require(self, row: Row, shape: Shape) -> None:
        """`name.missing` for what neither the row nor its family says."""
        if not self.whole:
            return
        touched = set(self.own.reading.touched)
        if self.family is not None:
            touched.update(self.family.reading.touched)
        needed = ["input"] if row.frozen or "frozen" in touched else ["engine", "input", "topology"]
        missing = [name for name in needed if name not in touched]
        if self._lacks_frozen():
            missing = ["frozen", *(name for name in missing if name == "input")]
        elif not row.frozen and "frozen" not in touched:
            for part, roles in (("capacity", shape.roles_without_capacity()), ("timing", shape.roles_without_timing())):
                if roles and len(roles) == len(shape.roles()):
                    missing.append(part)
                elif roles:
                    self._lacks_in_a_role(part, roles[0])
        if missing:
            missing = self._excused(missing)
        if missing:
            from aisimc_compiler.model.resolve.absence import missing_attributes

            self.context.report(missing_attributes(self.own.reading.tree, self.name.span, missing))

    def _lacks_in_a_role(self, part: str, role: str) -> None:
        from aisimc_compiler.model.resolve.absence import missing_in_a_role

        self.context.report(missing_in_a_role(self.own.reading.tree, self.name.span, part, role))

    def _excused(self, missing: list[str]) -> list[str]:
        readings = [self.own.reading, *([self.family.reading] if self.family else ())]
        if not any(reading.strangers for reading in readings):
            return missing
        from aisimc_compiler.model.resolve.standins import excused

        return excused(missing, readings)
