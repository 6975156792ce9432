"""Diagnostics as data: built by the parser, the resolver and the rules; turned into text elsewhere."""

from __future__ import annotations

from aisimc_compiler.hints import Literal
from aisimc_compiler.records import NamedTuple
from aisimc_compiler.source import Span

Severity = Literal["error", "warning"]


class Label(NamedTuple):
    """A secondary place that explains the first: a first definition, the family a value came from."""

    span: Span
    message: str


class Replacement(NamedTuple):
    """Text that mends the mistake when put in the place of the span.

    `applicable` says that `check --fix` may put it there unasked: it cannot change what the campaign means.
    """

    span: Span
    text: str
    applicable: bool = False


class Diagnostic(NamedTuple):
    """One finding.

    `message` is one sentence that makes sense alone; `label` (short, optional) stands under the underlined
    token and does not repeat it; `notes` give the reason, `help` the mend.
    """

    rule: str
    span: Span
    message: str
    label: str = ""
    notes: tuple[str, ...] = ()
    help: str = ""
    replacement: Replacement | None = None
    secondary: tuple[Label, ...] = ()
    severity: Severity = "error"
