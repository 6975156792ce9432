"""Which places of a campaign file can be pinned, and the edits that pin them.

What is already exact stays as it is, unless everything is to be computed again (`refresh`). Digests of what lies
beside the campaign and belongs to it (patches, the embedded engine's sources) always follow the files.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Protocol

from aisimc_compiler.syntax.tree import Attribute, Block, File, Name
from aisimc_runtime.failures import Failure
from aisimc_runtime.pinning.commits import FULL
from aisimc_runtime.pinning.edits import (
    Edit,
    attributes,
    grouped,
    insert_attribute,
    quoted,
    replace_value,
)
from aisimc_runtime.pinning.files import FileFacts
from aisimc_runtime.pinning.wheels import PinnedWheel

_EXACT = re.compile(r"\s*[A-Za-z0-9][A-Za-z0-9._-]*\s*==\s*[A-Za-z0-9][A-Za-z0-9.!+_-]*\s*")


class World(Protocol):
    """What pinning asks of the outside; every answer may raise `Failure` with one clear line."""

    def commit(self, repository: str, revision: str) -> str: ...
    def wheel(self, requirement: str) -> PinnedWheel: ...
    def file_sha256(self, file: str) -> str: ...
    def trace(self, source: dict[str, object], sha256: str | None, window: tuple[int, int] | None) -> FileFacts: ...
    def embedded_sha256(self, core: str) -> str: ...


class Unpinned(Exception):
    """A place that could not be pinned: the block's name and the failure's line."""

    def __init__(self, place: str, failure: Failure) -> None:
        super().__init__(failure.message)
        self.place = place
        self.failure = failure


def pins(file: File, world: World, *, refresh: bool = False) -> Iterator[Edit | Unpinned]:
    """All edits that pin this file, and the places that could not be pinned, in source order."""
    for block in file.body:
        if isinstance(block, Block):
            pin = _PINS.get(block.keyword.text)
            if pin is not None:
                yield from _guarded(block, pin, world, refresh)


def _guarded(block: Block, pin: _Pin, world: World, refresh: bool) -> Iterator[Edit | Unpinned]:
    try:
        yield from pin(block, world, refresh)
    except Failure as failure:
        yield Unpinned(_title(block), failure)


def _revision(block: Block, world: World, refresh: bool) -> Iterator[Edit]:
    given = attributes(block)
    if wheel := _string(given, "wheel"):
        yield from _wheel(given, wheel, world, refresh)
    elif embedded := _string(given, "embedded"):
        yield from _write(given, "embedded", "sha256", quoted(world.embedded_sha256(embedded)), "its sources")
        if patch := _string(given, "patch"):
            yield from _write(given, "patch", "patch_sha256", quoted(world.file_sha256(patch)), patch)
    elif repository := _string(given, "repository"):
        yield from _commit(given, "repository", repository, world)


def _wheel(given: dict[str, Attribute], text: str, world: World, refresh: bool) -> Iterator[Edit]:
    exact = _EXACT.fullmatch(text) is not None and not text.rstrip().endswith("*")
    if exact and "sha256" in given and not refresh:
        return
    pinned = world.wheel(text)
    if not exact:
        yield from _changed(replace_value(given["wheel"], quoted(pinned.requirement), f"{text} today"))
    yield from _write(given, "wheel", "sha256", quoted(pinned.sha256), pinned.requirement)


def _commit(given: dict[str, Attribute], after: str, repository: str, world: World) -> Iterator[Edit]:
    named = _string(given, "commit") or "HEAD"
    if not FULL.fullmatch(named):
        yield from _write(given, after, "commit", quoted(world.commit(repository, named)), f"{named} today")


def _determinism(block: Block, world: World, refresh: bool) -> Iterator[Edit]:
    for correction in _blocks(block, "correction"):
        given = attributes(correction)
        if patch := _string(given, "patch"):
            yield from _write(given, "patch", "sha256", quoted(world.file_sha256(patch)), patch)


def _input(block: Block, world: World, refresh: bool) -> Iterator[Edit]:
    given = attributes(block)
    source: dict[str, object] | None = None
    anchor = ""
    if upstream := _string(given, "upstream"):
        named = _string(given, "commit") or "HEAD"
        commit = named if FULL.fullmatch(named) else world.commit(upstream, named)
        yield from _write(given, "upstream", "commit", quoted(commit), f"{named} today")
        anchor = "path" if "path" in given else "upstream"
        source = {
            "kind": "upstream",
            "repository": upstream,
            "commit": commit,
            "path": _string(given, "path"),
        }
    elif file := _string(given, "file"):
        anchor, source = "file", {"kind": "file", "file": file}
    elif generators := list(_blocks(block, "generator")):
        values = attributes(generators[0])
        anchor = "block_size" if "block_size" in given else next(iter(given), "")
        source = {
            "kind": "generator",
            "seed": _integer(values, "seed"),
            "rows": _integer(values, "rows"),
            "block_size": _integer(given, "block_size"),
        }
    if source is not None and anchor:
        yield from _trace(block, given, source, anchor, world, refresh)


def _trace(
    block: Block,
    given: dict[str, Attribute],
    source: dict[str, object],
    anchor: str,
    world: World,
    refresh: bool,
) -> Iterator[Edit]:
    windows = list(_blocks(block, "slice"))
    window = _window(windows[0]) if windows else None
    sliced = attributes(windows[0]) if windows else {}
    complete = {"sha256", "rows"} <= set(given) and (window is None or "sha256" in sliced)
    if complete and not refresh:
        return
    known = None if refresh else _string(given, "sha256")
    facts = world.trace(source, known, window)
    if refresh or "sha256" not in given:
        yield from _write(given, anchor, "sha256", quoted(facts.sha256), "the file's bytes")
    if refresh or "rows" not in given:
        yield from _write(given, "sha256" if "sha256" in given else anchor, "rows", grouped(facts.rows), "its rows")
    if facts.slice_sha256 is not None and (refresh or "sha256" not in sliced):
        yield from _write(sliced, "rows", "sha256", quoted(facts.slice_sha256), "the window's bytes")


def _row(block: Block, world: World, refresh: bool) -> Iterator[Edit]:
    given = attributes(block)
    if (frozen := _string(given, "frozen")) and (refresh or "sha256" not in given):
        yield from _write(given, "frozen", "sha256", quoted(world.file_sha256(frozen)), frozen)


def _window(block: Block) -> tuple[int, int] | None:
    given = attributes(block)
    start, rows = _integer(given, "start"), _integer(given, "rows")
    return (start, rows) if start is not None and rows is not None and start >= 0 and rows > 0 else None


def _write(given: dict[str, Attribute], after: str, name: str, text: str, why: str) -> Iterator[Edit]:
    if name in given:
        yield from _changed(replace_value(given[name], text, why))
    elif after in given:
        yield insert_attribute(given[after], name, text, why)


def _changed(edit: Edit | None) -> Iterator[Edit]:
    if edit is not None:
        yield edit


def _blocks(block: Block, keyword: str) -> Iterator[Block]:
    for item in block.body:
        if isinstance(item, Block) and item.keyword.text == keyword:
            yield item


def _string(given: dict[str, Attribute], name: str) -> str | None:
    attribute = given.get(name)
    if attribute is None or attribute.value.kind not in {"string", "word"}:
        return None
    return str(attribute.value.value)


def _integer(given: dict[str, Attribute], name: str) -> int | None:
    attribute = given.get(name)
    value = attribute.value.value if attribute is not None and attribute.value.kind == "integer" else None
    return value if isinstance(value, int) else None


def _title(block: Block) -> str:
    labels = [label.text if isinstance(label, Name) else label.raw for label in block.labels]
    return " ".join([block.keyword.text, *labels])


class _Pin(Protocol):
    def __call__(self, block: Block, world: World, refresh: bool) -> Iterator[Edit]: ...


_PINS: dict[str, _Pin] = {
    "revision": _revision,
    "determinism": _determinism,
    "input": _input,
    "row": _row,
    "fixture": _row,
    "family": _row,
}
