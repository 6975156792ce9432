"""From what the user named to a plan: a campaign is compiled, a saved plan is checked and taken as it is."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

from aisimc_runtime.failures import Refused
from aisimc_runtime.ports.named import PLAN, regular, unreadable
from aisimc_runtime.run.plan import Plan, plan_of


def load(spec: Path) -> Plan | None:
    """The plan of a campaign file or a saved plan; None when the compiler refused it and has said why.

    Raises `Refused` for a file that cannot be read or a plan that is none.
    """
    try:
        if (spec / PLAN).is_file():
            shown = f"`aisimc report {shlex.quote(str(spec))}` shows its verdict"
            raise Refused(f"{spec} is the folder of a run", help=f"{shown}; name the campaign to continue it")
        with regular(spec, str(spec)).open("rb") as stream:
            head = stream.read(64).lstrip()
    except OSError as error:
        raise unreadable(spec, error) from error
    return _saved(spec) if head.startswith(b"{") else _compiled(spec)


def _saved(path: Path) -> Plan:
    from aisimc_compiler.api import load_plan

    raw = path.read_bytes()
    loaded = load_plan(raw)
    if isinstance(loaded, list):
        shown = "\n".join(f"{path}: {problem}" for problem in loaded[:10])
        raise Refused(shown or f"{path} is not a plan", help="`aisimc plan SPEC -o FILE` saves one")
    return plan_of(raw, path.absolute().parent)


def _compiled(path: Path) -> Plan | None:
    from aisimc_compiler.api import compile_file

    result = compile_file(path)
    if result.unreadable is not None:
        raise Refused(f"{path} cannot be read: {result.unreadable.reason}")
    if result.diagnostics:
        from aisimc_runtime.command.checking import distinct, show
        from aisimc_runtime.command.terminal import wants_colour

        show(distinct(result.diagnostics), "text", wants_colour("auto", sys.stderr), sys.stderr.write)
    if result.fragment and result.plan is None:
        raise Refused(f"{path} has no `campaign` block: it is a fragment for imports, and cannot be run")
    return None if result.plan is None else plan_of(result.plan_bytes, path.absolute().parent)
