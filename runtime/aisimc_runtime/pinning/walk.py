"""Which places of a campaign file can be pinned: the edits that pin them, and the pins that do not hold.

What is exact already stays as it is, unless everything is to be computed again (`refresh`), and is held against the
bytes where they are at hand. Digests of what lies beside the campaign and belongs to it (patches, the embedded
engine's sources) always follow the files.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from aisimc_compiler.diagnostics.model import Diagnostic, Label
from aisimc_compiler.rules.addresses import address_fault
from aisimc_compiler.rules.pinning.identity import wheel_pin
from aisimc_compiler.rules.refusal import refuse
from aisimc_compiler.syntax.tree import Attribute, Block, File
from aisimc_runtime.failures import Failure
from aisimc_runtime.pinning.blocks import Attributes, changed, digest, inner, named_at, placed, string, title, write
from aisimc_runtime.pinning.commits import FULL
from aisimc_runtime.pinning.edits import attributes, quoted, replace_value
from aisimc_runtime.pinning.findings import Finding, Findings, Unpinned, Unverified, World, broken
from aisimc_runtime.pinning.input_pins import input_pins


def pins(file: File, world: World, *, refresh: bool = False) -> Findings:
    """All edits that pin this file, and what could not be pinned, verified or does not hold, in source order."""
    doubted = False
    for block in file.body:
        if isinstance(block, Block):
            pin = _PINS.get(block.keyword.text)
            if pin is not None:
                for found in _guarded(block, pin, world, refresh):
                    doubted = doubted or (isinstance(found, Diagnostic) and found.rule == "pin.wheel")
                    yield found
    if not refresh and not doubted:
        yield from _one_hash_for_two(file)


def _guarded(block: Block, pin: _Pin, world: World, refresh: bool) -> Iterator[Finding]:
    try:
        yield from pin(block, world, refresh)
    except Failure as failure:
        yield Unpinned(title(block), failure)


def _revision(block: Block, world: World, refresh: bool) -> Findings:
    given = attributes(block)
    if wheel := string(given, "wheel"):
        yield from _wheel(block, given, wheel, world, refresh)
    elif embedded := string(given, "embedded"):
        yield from write(given, "embedded", "sha256", quoted(world.embedded_sha256(embedded)), "its sources")
        if patch := string(given, "patch"):
            yield from write(given, "patch", "patch_sha256", quoted(world.file_sha256(patch)), patch)
    elif repository := string(given, "repository"):
        if fault := address_fault("pin.commit", placed(given, "repository")):
            yield fault
            return
        named = string(given, "commit") or "HEAD"
        if not FULL.fullmatch(named):
            commit = world.commit(repository, named)
            yield from write(given, "repository", "commit", quoted(commit), f"{named} today")
    else:
        yield refuse(
            "name.missing",
            named_at(block),
            f"{title(block)} names no source, so there is nothing to pin",
            label="what is run?",
            help="one of `repository` + `commit`, `wheel`, or `embedded`",
        )


def _wheel(block: Block, given: Attributes, text: str, world: World, refresh: bool) -> Findings:
    exact, sha256 = wheel_pin(text), digest(given, "sha256")
    if exact is None or sha256 is None or refresh:
        pinned = world.wheel(text)
        if exact is None:
            yield from changed(replace_value(given["wheel"], quoted(pinned.requirement), f"{text} today"))
        yield from write(given, "wheel", "sha256", quoted(pinned.sha256), pinned.requirement)
        return
    found = world.wheel_at_hand(sha256)
    if found is None:
        yield Unverified(title(block))
    elif found != exact:
        yield refuse(
            "pin.wheel",
            given["sha256"].value.span,
            f"the wheel with this SHA-256 is {found[0]} {found[1]}",
            label="of another version" if found[0] == exact[0] else "of another package",
            help=f"`aisimc pin --refresh` asks the index for the hash of {text.strip()}; "
            f'if {found[1]} is meant, write `wheel = "{found[0]}=={found[1]}"`',
            secondary=(Label(given["wheel"].value.span, "the version that is asked for"),),
        )


def _one_hash_for_two(file: File) -> Iterator[Diagnostic]:
    """Two versions with one hash: one of the pins was left behind when its version was changed."""
    seen: dict[str, tuple[tuple[str, str], Attribute]] = {}
    for block in file.body:
        if not isinstance(block, Block) or block.keyword.text != "revision":
            continue
        given = attributes(block)
        exact, sha256 = wheel_pin(string(given, "wheel") or ""), digest(given, "sha256")
        if exact is None or sha256 is None:
            continue
        first, other = seen.setdefault(sha256, (exact, given["sha256"]))
        if first != exact:
            yield refuse(
                "pin.wheel",
                given["sha256"].value.span,
                f"{first[0]} {first[1]} and {exact[0]} {exact[1]} cannot be one wheel, and have one SHA-256",
                label="the same hash",
                help="`aisimc pin --refresh` asks the index for the hash of each",
                secondary=(Label(other.value.span, f"of {first[1]} here"),),
            )


def _determinism(block: Block, world: World, refresh: bool) -> Findings:
    for correction in inner(block, "correction"):
        given = attributes(correction)
        if patch := string(given, "patch"):
            yield from write(given, "patch", "sha256", quoted(world.file_sha256(patch)), patch)


def _row(block: Block, world: World, refresh: bool) -> Findings:
    given = attributes(block)
    frozen = string(given, "frozen")
    if not frozen:
        return
    pinned, found = digest(given, "sha256"), world.file_sha256(frozen)
    if pinned == found:
        return
    if refresh or pinned is None:
        yield from write(given, "frozen", "sha256", quoted(found), frozen)
    else:
        because = Label(given["frozen"].value.span, "this file")
        message = f"the frozen configuration's SHA-256 is {found}"
        yield broken("row.frozen", given["sha256"], message, quoted(found), label="of other bytes", because=because)


class _Pin(Protocol):
    def __call__(self, block: Block, world: World, refresh: bool) -> Findings: ...


_PINS: dict[str, _Pin] = {
    "revision": _revision,
    "determinism": _determinism,
    "input": input_pins,
    "row": _row,
    "fixture": _row,
    "family": _row,
}
