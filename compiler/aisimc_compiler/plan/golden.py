"""Golden files: YAML with expected counters of rows, read with positions so that errors point at their lines."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from aisimc_compiler.diagnostics.model import Diagnostic, Label
from aisimc_compiler.hints import Any
from aisimc_compiler.model import closed
from aisimc_compiler.model.campaign import Campaign, Golden, Row
from aisimc_compiler.plan.configuration import Json
from aisimc_compiler.plan.plain_yaml import plain_yaml
from aisimc_compiler.plan.yaml import Document, read_yaml
from aisimc_compiler.rules.refusal import listed, refuse, refuse_value
from aisimc_compiler.schemas.problems import Problem, dotted, problems, schema
from aisimc_compiler.schemas.quick import accepts
from aisimc_compiler.source import Source, Span


def golden_row(data: bytes, name: str) -> Json:
    """`expect` and `qualified` of a row in a sound golden file; the row's own `qualified` over the file's."""
    return _entry(read_yaml(data).value, name)


def _entry(document: Json, name: str) -> Json:
    row = document["rows"][name]
    return {"expect": row["expect"], "qualified": {**document["qualified"], **row.get("qualified", {})}}


def golden_faults(campaign: Campaign, row: Row, golden: Golden) -> Iterator[Diagnostic]:
    """`run.golden`: the file is sound, has this row, was qualified on this input, and does not contradict the row."""
    data = golden.data
    assert data is not None
    if _surely_sound(campaign, row, golden, data):
        return
    document = read_yaml(data)
    source = _source(campaign, golden, data)
    named = Label(golden.file.span, "named here")
    if document.faults:
        for fault in document.faults:
            span = Span(source, fault.start, max(fault.end, fault.start + 1))
            yield refuse("run.golden", span, f"the golden file cannot be read: {fault.message}", secondary=(named,))
        return
    found = problems("golden", document.value)
    for problem in found:
        yield _shown(source, document, problem, named)
    if not found:
        yield from _row_faults(campaign, row, golden, document, source)


class _Anywhere(dict[Any, tuple[int, int]]):
    """Places of a document that was read without them."""

    def __missing__(self, key: Any) -> tuple[int, int]:
        return 0, 1


@lru_cache(maxsize=8)
def _plainly_sound(data: bytes) -> Json | None:
    """A document that certainly keeps to its schema, read once for all the rows that name it."""
    value = plain_yaml(data)
    return value if value is not None and accepts(schema("golden"), value) else None


def _surely_sound(campaign: Campaign, row: Row, golden: Golden, data: bytes) -> bool:
    """Whether the file says nothing wrong of the row, found out without a YAML library and a schema validator.

    Importing those two costs several times what the rest of a check does. No is no answer: they are asked then.
    """
    value = _plainly_sound(data)
    if value is None:
        return False
    document = Document(value, _Anywhere(), _Anywhere(), ())
    return not any(_row_faults(campaign, row, golden, document, _source(campaign, golden, data)))


def _source(campaign: Campaign, golden: Golden, data: bytes) -> Source:
    folder, slash, _ = campaign.source.name.rpartition("/")
    return _sources(f"{folder}{slash}{golden.path}", data)


@lru_cache(maxsize=32)
def _sources(name: str, data: bytes) -> Source:
    """One Source for one file, so that rows that share it report its mistakes once."""
    return Source(name, data.decode(errors="replace"))


def _shown(source: Source, document: Document, problem: Problem, named: Label) -> Diagnostic:
    """A schema problem like an error of the language, at its YAML token."""
    if problem.key is not None:
        start, end = document.keys.get((*problem.path, problem.key), (0, 1))
    elif problem.absent:
        start, end = document.keys.get(problem.path, (0, 1))
    else:
        start, end = document.places.get(problem.path, (0, 1))
    line_end = source.text.find("\n", start, end)
    where = dotted(problem.path)
    return refuse(
        "run.golden",
        Span(source, start, max(line_end if line_end > start else end, start + 1)),
        f"golden file, {where}: {problem.message}" if where else f"golden file: {problem.message}",
        replace=problem.meant,
        secondary=(named,),
    )


def _row_faults(
    campaign: Campaign, row: Row, golden: Golden, document: Document, source: Source
) -> Iterator[Diagnostic]:
    rows = document.value["rows"]
    name = row.name.value
    if name not in rows:
        from aisimc_compiler.model.nearest import nearest

        meant = nearest(name, rows)
        yield refuse_value(
            "run.golden",
            golden.file,
            f"the golden file has no row `{name}`",
            label=f"it has {listed(tuple(rows)[:8], last='and')}",
            help=f"did you mean the row `{meant}`?" if meant else "",
        )
        return
    entry = _entry(document.value, name)
    yield from _other_input(campaign, row, golden, entry)
    for counter, value in row.expect.items():
        if counter in entry["expect"]:
            own: Any = [item.value for item in value.value] if isinstance(value.value, tuple) else value.value
            other = entry["expect"][counter]
            if own != other and not (closed.COUNTERS[counter] == "digest" and own.lower() == other):
                place = Span(source, *document.places[("rows", name, "expect", counter)])
                yield refuse_value(
                    "run.golden",
                    value,
                    f"`{counter}` is expected to be {own} here and {other} in the golden file",
                    label="cannot both come out",
                    secondary=(Label(place, "the golden point"),),
                )


def _other_input(campaign: Campaign, row: Row, golden: Golden, entry: Json) -> Iterator[Diagnostic]:
    given = campaign.inputs.get(row.input.value) if row.input else None
    digest = entry["qualified"].get("input_sha256")
    if not digest or given is None or given.sha256 is None:
        return
    known = {given.sha256.value.lower()}
    if given.slice is not None and given.slice.sha256 is not None:
        known.add(given.slice.sha256.value.lower())
    if digest not in known:
        yield refuse_value(
            "run.golden",
            golden.file,
            f"the golden point of `{row.name.value}` was qualified on another input ({digest[:12]}…)",
            label="not this row's input",
            secondary=(Label(given.sha256.span, "the row's input"),),
        )
