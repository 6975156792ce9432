"""Rows again: configurations, digests, evidence and differences, each made anew from what is kept."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson

from aisimc_runtime.compare import NotJson, difference
from aisimc_runtime.evidence.counters import same
from aisimc_runtime.evidence.extract import extract
from aisimc_runtime.evidence.view import ARMS, read_json
from aisimc_runtime.ports.files import sha256_file
from aisimc_runtime.report.verification.outcome import Check, gone, right, wrong

CANONICAL = "canonical.jsonl"


def check_row(plan: dict[str, Any], name: str, run_folder: Path) -> Iterator[Check]:
    """All checks of one row. Raises OSError for files that cannot be read, orjson.JSONDecodeError for torn ones."""
    folder = run_folder / "rows" / name
    yield from _configuration(plan["rows"][name], folder, f"rows/{name}")
    for arm in ARMS:
        for repetition in range(1, int(plan["rows"][name]["arms"][arm]["repetitions"]) + 1):
            replay = folder / "replays" / f"{arm}-{repetition}"
            yield from _digests(replay, replay.relative_to(run_folder).as_posix())
        yield from _evidence(folder, arm, f"rows/{name}/evidence/{arm}.json")
        pair = [folder / "replays" / f"{arm}-{number}" / CANONICAL for number in (1, 2)]
        yield from _difference(folder / f"instability-{arm}.json", pair, f"rows/{name}/instability-{arm}.json")
    pair = [folder / "replays" / f"{arm}-1" / CANONICAL for arm in ARMS]
    yield from _difference(folder / "difference.json", pair, f"rows/{name}/difference.json")


def _configuration(row: dict[str, Any], folder: Path, what: str) -> Iterator[Check]:
    path = folder / "configuration.json"
    if not path.exists():
        return
    if sha256_file(path) == row["configuration_sha256"]:
        yield right(f"{what}/configuration.json", "is the configuration that the plan froze")
    else:
        yield wrong(f"{what}/configuration.json", "is not the configuration that the plan froze")


def _digests(replay: Path, what: str) -> Iterator[Check]:
    digests = read_json(replay / "digests.json")
    if digests is None:
        return
    canonical = replay / CANONICAL
    if canonical.exists():
        if sha256_file(canonical) == digests["canonical_sha256"]:
            yield right(f"{what}/{CANONICAL}", "has its digest")
        else:
            yield wrong(f"{what}/{CANONICAL}", "does not have the digest that was recorded for it")
    else:
        text = f"only its digest {str(digests['canonical_sha256'])[:12]} was kept: matching records are deleted"
        yield gone(f"{what}/{CANONICAL}", text)
    qualification = replay / "qualification.jsonl"
    wanted = digests.get("qualification_sha256")
    if wanted and qualification.exists():
        holds = hashlib.sha256(qualification.read_bytes()).hexdigest() == wanted
        yield (
            right(f"{what}/qualification.jsonl", "has its digest")
            if holds
            else wrong(f"{what}/qualification.jsonl", "does not have the digest that was recorded for it")
        )
    counters = read_json(qualification) or {}
    told = counters.get("canonical_sha256")
    if told is not None and told != digests["canonical_sha256"]:
        yield wrong(f"{what}/qualification.jsonl", "names another canonical digest than the one recorded")


def _evidence(folder: Path, arm: str, what: str) -> Iterator[Check]:
    kept = read_json(folder / "evidence" / f"{arm}.json")
    if kept is None:
        return
    digests = read_json(folder / "replays" / f"{arm}-1" / "digests.json") or {}
    if kept["canonical_sha256"] != digests.get("canonical_sha256"):
        yield wrong(what, f"is the evidence of another record than the {arm}'s")
        return
    canonical = folder / "replays" / f"{arm}-1" / CANONICAL
    if not canonical.exists():
        yield right(what, f"belongs to the {arm}'s digest (the record itself was not kept)")
        return
    try:
        made = orjson.loads(orjson.dumps(extract(canonical)))
    except (NotJson, orjson.JSONDecodeError) as error:
        yield wrong(what, f"cannot be made again, the record is damaged: {error}")
        return
    if same(made, kept):
        yield right(what, "follows from the record")
    else:
        keys = sorted(key for key in made.keys() | kept.keys() if not same(made.get(key), kept.get(key)))
        yield wrong(what, f"does not follow from the record: {', '.join(keys)}")


def _difference(path: Path, pair: list[Path], what: str) -> Iterator[Check]:
    kept = read_json(path)
    if kept is None:
        return
    if not all(canonical.exists() for canonical in pair):
        yield gone(what, "the records that it was made from were not kept")
        return
    try:
        made = difference(*pair)
    except NotJson as error:
        yield wrong(what, f"cannot be made again, a record is damaged: {error}")
        return
    if made is not None and same(orjson.loads(orjson.dumps(made)), kept):
        yield right(what, "follows from the two records")
    else:
        yield wrong(what, "does not follow from the two records")
