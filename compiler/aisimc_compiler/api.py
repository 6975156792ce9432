"""What the command line, the editor server and the runtime ask of the compiler.

Everything heavy is imported where it is used: `check` must start in the time of a few bare interpreters.
"""

from __future__ import annotations

import gc
import os
from collections.abc import Iterable, Mapping

from aisimc_compiler.diagnostics.model import Diagnostic
from aisimc_compiler.hints import TYPE_CHECKING, Any
from aisimc_compiler.loading import Loader, Unreadable, decode, read_bytes
from aisimc_compiler.records import NamedTuple
from aisimc_compiler.source import Source

if TYPE_CHECKING:
    from pathlib import PurePath

    from aisimc_compiler.model.campaign import Campaign
    from aisimc_compiler.plan.load import LoadedPlan, Problem


class CheckResult(NamedTuple):
    """What `check` found. `campaign` is None only when the file could not be read as text."""

    diagnostics: tuple[Diagnostic, ...]
    campaign: Campaign | None
    fragment: bool
    files: tuple[Source, ...]
    unreadable: Unreadable | None = None

    @property
    def ok(self) -> bool:
        """Whether nothing stands in the way of a plan (a fragment is valid as far as it goes)."""
        return self.unreadable is None and all(d.severity != "error" for d in self.diagnostics)


class CompileResult(NamedTuple):
    """`CheckResult` and the plan: None when there are errors or the file is a fragment."""

    diagnostics: tuple[Diagnostic, ...]
    campaign: Campaign | None
    fragment: bool
    files: tuple[Source, ...]
    unreadable: Unreadable | None
    plan: dict[str, Any] | None
    plan_bytes: bytes
    plan_digest: str

    @property
    def ok(self) -> bool:
        """Whether there is a plan."""
        return self.plan is not None


def check_file(path: str | PurePath) -> CheckResult:
    """Check one campaign file and what it imports. Never raises: an unreadable file is said in `unreadable`."""
    name = os.fspath(path)
    data = read_bytes(name, name)
    if isinstance(data, Unreadable):
        return CheckResult((), None, False, (), data)
    return check_bytes(data, name, os.path.dirname(name))  # noqa: PTH120 - pathlib costs start-up time


def check_bytes(data: bytes, name: str, folder: str = "") -> CheckResult:
    """Check the bytes of a file called `name`; its imports are looked for in `folder`."""
    source = decode(data, name)
    if isinstance(source, Unreadable):
        from aisimc_compiler.syntax.encoding import not_utf8

        fault = not_utf8(data, name)
        return CheckResult((fault,), None, False, (fault.span.source,))
    return check_source(source, folder)


def check_text(text: str, name: str, folder: str = "") -> CheckResult:
    """Check a text that is not (or not yet) in a file; its imports are looked for in `folder`."""
    return check_source(Source(name, text), folder)


def check_source(source: Source, folder: str, overlay: Mapping[str, Source] | None = None) -> CheckResult:
    """Check a source; `overlay` gives texts of other files, by their names below `folder`, in place of the disk's."""
    from aisimc_compiler.model.resolve import resolve
    from aisimc_compiler.rules import check
    from aisimc_compiler.syntax.parser import parse

    loader = Loader(folder)
    loader.sources.update(overlay or {})
    with _uncollected():
        file, syntax = parse(source)
        campaign, resolved = resolve(file, loader, syntax)
        judged = check(campaign)
        if syntax:
            from aisimc_compiler.syntax.faults import outside_of

            judged = outside_of(source, syntax, judged)
        found = [*syntax, *resolved, *judged]
    files = (source, *loader.sources.values())
    return CheckResult(ordered(found, files), campaign, campaign.fragment, files)


class _uncollected:  # noqa: N801 - used like a function; contextlib costs start-up time
    """Pauses the garbage collector: trees and plans have no cycles, and it would walk them again and again."""

    def __enter__(self) -> None:
        self.collecting = gc.isenabled()
        gc.disable()

    def __exit__(self, *exception: object) -> None:
        if self.collecting:
            gc.enable()


def ordered(diagnostics: Iterable[Diagnostic], files: tuple[Source, ...]) -> tuple[Diagnostic, ...]:
    """Diagnostics in source order, file after file, each once."""
    place = {id(source): number for number, source in enumerate(files)}
    unique: dict[tuple[Any, ...], Diagnostic] = {}
    for diagnostic in diagnostics:
        span = diagnostic.span
        key = (place.get(id(span.source), len(place)), span.start, span.end, diagnostic.rule, diagnostic.message)
        unique.setdefault(key, diagnostic)
    return tuple(unique[key] for key in sorted(unique))


def compile_file(path: str | PurePath) -> CompileResult:
    """Check a file and, where it is whole and without errors, make its plan. Never raises."""
    checked = check_file(path)
    if not checked.ok or checked.fragment or checked.campaign is None:
        return CompileResult(*checked, None, b"", "")
    from aisimc_compiler.plan.build import build_plan, canonical_bytes, digest_of

    with _uncollected():
        plan = build_plan(checked.campaign)
        data = canonical_bytes(plan)
    return CompileResult(*checked, plan, data, digest_of(data))


def load_plan(data: bytes) -> LoadedPlan | list[Problem]:
    """A plan from the bytes of a plan file, or what is wrong with them (schema, digest, canonical form)."""
    from aisimc_compiler.plan.load import load

    return load(data)
