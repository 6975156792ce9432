"""What is kept of a finished row, made on the row's own node: `python -m aisimc_runtime.run.collect ROWDIR`

- a compact extract of each arm's evidence (one for both where their digests are equal);
- a focused difference where an arm's repetitions differ (`instability-ARM.json`), or the arms do (`difference.json`);
- full records only of what differs: matching ones are deleted and their digests stay (`run.retain`).

Everything is decided from the files in the folder, so it can be done again after any interruption.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

from aisimc_runtime.failures import Failure
from aisimc_runtime.ports.files import link_or_copy, write_atomic
from aisimc_runtime.run.collected import NAME
from aisimc_runtime.run.job import RowJob

Json = dict[str, Any]


def collect(folder: Path) -> Json:
    """Collect one row; what its mark holds. Raises `OSError`, `ValueError` or `Blocked`."""
    job = RowJob.read(folder)
    records = _records(job)
    stable = {arm: paths[0] for arm, paths in records.items() if len({_digest(path) for path in paths}) == 1}
    kept: set[Path] = set()
    for arm, paths in records.items():
        if arm not in stable:
            kept |= set(paths)
            _write_difference(folder / f"instability-{arm}.json", paths[0], paths[1])
    _extract_all(folder, {arm: paths[0] for arm, paths in records.items()})
    if len(stable) == 2 and _digest(stable["baseline"]) != _digest(stable["candidate"]):
        kept |= set(stable.values())
        _write_difference(folder / "difference.json", stable["baseline"], stable["candidate"])
    for paths in records.values():
        for path in set(paths) - kept:
            path.unlink(missing_ok=True)
    mark = {
        "row": job.row,
        "node": os.uname().nodename,
        "digests": {arm: [_digest(path) for path in paths] for arm, paths in records.items()},
    }
    write_atomic(folder / NAME, json.dumps(mark, sort_keys=True).encode() + b"\n")
    return mark


def _records(job: RowJob) -> dict[str, list[Path]]:
    """The canonical records of replays that gave one, per arm, by repetition."""
    found: dict[str, list[Path]] = {}
    for order in sorted(job.orders):
        replay = job.folder / "replays" / order.name
        if (replay / "digests.json").is_file():
            found.setdefault(order.arm, []).append(replay / "canonical.jsonl")
    return found


def _digest(canonical: Path) -> str:
    return str(json.loads((canonical.parent / "digests.json").read_bytes())["canonical_sha256"])


def _extract_all(folder: Path, records: dict[str, Path]) -> None:
    """One extract per arm; equal records share one file's bytes."""
    place = folder / "evidence"
    place.mkdir(exist_ok=True)
    made: dict[str, Path] = {}
    for arm, canonical in sorted(records.items()):
        target = place / f"{arm}.json"
        digest = _digest(canonical)
        if digest in made:
            link_or_copy(made[digest], target)
        elif canonical.is_file():
            from aisimc_runtime.evidence.extract import extract

            write_atomic(target, json.dumps(extract(canonical), sort_keys=True, separators=(",", ":")).encode() + b"\n")
            made[digest] = target
        elif not target.is_file():
            raise ValueError(f"the record of {arm} is gone before its evidence was extracted")


def _write_difference(target: Path, a: Path, b: Path) -> None:
    if a.is_file() and b.is_file():
        from aisimc_runtime.compare.difference import difference

        found = difference(a, b)
        write_atomic(target, json.dumps(found, sort_keys=True, separators=(",", ":")).encode() + b"\n")


def main(argv: list[str]) -> int:
    """Collect the row folder named on the command line; failures are one line on standard error."""
    try:
        collect(Path(argv[0]))
    except Failure as failure:
        sys.stderr.write(failure.message + "\n")
        return int(failure.exit)
    except Exception as error:  # an engine may leave anything under the name of a record
        sys.stderr.write(f"{type(error).__name__}: {error}".splitlines()[0] + "\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
