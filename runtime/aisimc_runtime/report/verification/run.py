"""The whole of `aisimc verify`: nothing is written, nothing outside the folder is read."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import orjson

from aisimc_runtime.evidence.view import read_json
from aisimc_runtime.failures import Blocked
from aisimc_runtime.ports.named import why
from aisimc_runtime.report import html, junit, markdown, statement
from aisimc_runtime.report.model import build
from aisimc_runtime.report.verification.listed import check_manifest
from aisimc_runtime.report.verification.outcome import Check, Outcome, gone, right, wrong
from aisimc_runtime.report.verification.rows import check_row
from aisimc_runtime.report.verification.telling import first_difference, first_line
from aisimc_runtime.report.writing import encode


def verify(folder: Path) -> list[Check]:
    """Check a run folder. Raises Blocked when it is none."""
    if not (folder / "plan.json").is_file():
        raise Blocked(f"{folder} is not a run folder: it has no plan.json")
    checks = list(check_manifest(folder))
    plan = None
    try:
        plan = read_json(folder / "plan.json")
    except orjson.JSONDecodeError as error:
        checks.append(wrong("plan.json", f"is not JSON: {error}"))
    if plan is None:
        return checks
    if not isinstance(plan.get("rows"), dict):
        return [*checks, wrong("plan.json", "is no plan: it has no rows")]
    checks += _guarded(_plan(folder, plan), "plan.json")
    for name in plan["rows"]:
        checks += _guarded(check_row(plan, name, folder), f"rows/{name}")
    checks += _guarded(_gate(folder, plan), "performance")
    checks += _guarded(_report(folder), "report.json")
    return checks


def _guarded(checks: Iterator[Check], what: str) -> Iterator[Check]:
    """Checks that may meet a file which is torn or cannot be read: that is a finding, not an end."""
    try:
        yield from checks
    except (orjson.JSONDecodeError, ValueError) as error:
        yield wrong(what, f"a file in it cannot be read as JSON: {error}")
    except KeyError as error:
        yield wrong(what, f"a file in it lacks {error}")
    except (LookupError, TypeError, AttributeError) as error:
        yield wrong(what, f"a file in it is not what a run writes: {type(error).__name__}: {error}")
    except OSError as error:
        yield wrong(what, f"{error.filename or 'a file'} cannot be read: {why(error)}")
    except Blocked as error:
        yield wrong(what, error.message)


def _plan(folder: Path, plan: dict[str, Any]) -> Iterator[Check]:
    data = (folder / "plan.json").read_bytes()
    digest = hashlib.sha256(data).hexdigest()
    canonical = json.dumps(plan, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode() + b"\n"
    if canonical != data:
        yield wrong("plan.json", "is not in the one form that a plan has, so its digest means nothing")
    named = re.search(r"-([0-9a-f]{12})(?:-\d+)?\Z", folder.resolve().name)
    if named and not digest.startswith(named.group(1)):
        yield wrong("plan.json", f"has the digest {digest[:12]}, the folder is named after {named.group(1)}")
    else:
        yield right("plan.json", f"has the digest {digest[:12]}")


def _gate(folder: Path, plan: dict[str, Any]) -> Iterator[Check]:
    if plan.get("performance") is None:
        return
    from aisimc_runtime.gate.section import disagreements

    found = disagreements(folder)
    yield from (wrong("performance", text) for text in found)
    if not found:
        yield right("performance", "every gate follows from its samples")


def _report(folder: Path) -> Iterator[Check]:
    kept = read_json(folder / "report.json")
    if kept is None:
        yield gone("report.json", "the run wrote no report yet")
        return
    made = build(folder)
    if made["digest"] != kept.get("digest"):
        yield wrong("report.json", f"its digest is {kept.get('digest')}, the files give {made['digest']}")
    if made["verdict"] != kept.get("verdict"):
        where = first_difference(kept.get("verdict"), made["verdict"], "/verdict")
        yield wrong("report.json", f"has another verdict: {where}")
    elif made["digest"] == kept.get("digest"):
        yield right("report.json", f"the verdict and the report digest {made['digest'][:12]} follow from the files")
    if made["tool"] != kept.get("tool"):
        text = f"was written by version {kept.get('tool', {}).get('version')}; its wording was not compared"
        yield Check(Outcome.NOTED, "report.json", text)
        return
    yield from _wordings(folder, kept, made)


def _wordings(folder: Path, kept: dict[str, Any], made: dict[str, Any]) -> Iterator[Check]:
    renderings: dict[str, Callable[[dict[str, Any]], str]] = {
        "report.json": lambda report: encode(report).decode(),
        "report.md": markdown.render,
        "statement.json": statement.render,
        "report.html": html.render,
        "junit.xml": junit.render,
    }
    for name, render in renderings.items():
        path = folder / name
        if not path.is_file():
            continue
        there, wanted = path.read_bytes(), render(made).encode()
        if there == wanted:
            continue
        where = first_difference(kept, orjson.loads(encode(made))) if name == "report.json" else None
        yield wrong(name, f"is not what the files give: {where or first_line(there, wanted)}")
