"""An input of the plan made ready: found by content, checked whole, its window cut into the store, its rows checked."""

from __future__ import annotations

import io
import shlex
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from aisimc_runtime.failures import Blocked
from aisimc_runtime.inputs.locate import Near, search
from aisimc_runtime.inputs.rows import SHOWN_PROBLEMS, RowFacts, check_rows, fitting_block_size
from aisimc_runtime.inputs.slices import Cut, cut
from aisimc_runtime.ports.processes import Processes
from aisimc_runtime.store.content import Store

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Ready:
    """An input that may be replayed."""

    name: str
    path: Path
    """The whole file, where it was found; hashed again after the last replay (`input.unchanged`)."""
    found: str
    """`store`, `file`, `AISIMC_INPUTS`, `upstream` or `generator`."""
    slice_sha256: str
    facts: RowFacts

    def to_json(self, spec: Json) -> Json:
        """The input's entry in `inputs.json`; no path of the machine in it."""
        return {
            "sha256": spec["sha256"],
            "rows": spec["rows"],
            "slice_sha256": spec["slice"]["sha256"],
            "slice_rows": spec["slice"]["rows"],
            "found": self.found,
            "unchanged": None,
            **{key: value for key, value in asdict(self.facts).items() if key != "rows"},
        }


@dataclass(frozen=True, slots=True)
class Sources:
    """Where inputs may be looked for."""

    store: Store
    base: Path
    """The folder of the campaign or plan file."""
    folders: Sequence[Path]
    processes: Processes
    say: Callable[[str], None]


def acquire(name: str, spec: Json, sources: Sources) -> tuple[Path, str]:
    """The whole file and where it was found. Raises `Blocked` with one line when it is nowhere to be had."""
    store, sha256 = sources.store, spec["sha256"]
    if store.has(sha256):
        return store.path(sha256), "store"
    source = spec["source"]
    wanted = Path(str(source.get("file") or source.get("path") or "")).name
    near: list[Near] = []
    if source["kind"] == "file":
        beside = sources.base / source["file"]
        path, near = _beside(beside, sha256, spec["rows"])
        if path is not None:
            return path, "file"
    path, others = search(sources.folders, sha256, spec["rows"], wanted)
    if path is not None:
        return path, "AISIMC_INPUTS"
    near += others
    if source["kind"] == "generator":
        sources.say(f"generating {spec['rows']} rows of {name}")
        return _generated(name, spec, store), "generator"
    if source["kind"] == "upstream":
        sources.say(f"fetching {source['path']} from {source['repository']}")
        return _fetched(name, spec, near, sources), "upstream"
    raise _nowhere(name, spec, near)


def verify(name: str, spec: Json, path: Path, found: str, store: Store) -> Ready:
    """Check the whole file and its window, put the window into the store, check every row of it. Raises `Blocked`."""
    window = spec["slice"]
    try:
        if store.has(window["sha256"]):
            _hold(name, spec, path, cut(path, window["start"], window["rows"]))
        else:
            with store.incoming() as (sink, temporary):
                result = cut(path, window["start"], window["rows"], sink)
                _hold(name, spec, path, result)
                sink.flush()
                with temporary.open("rb") as cut_file:
                    store.add_stream(cut_file, kind="slice", name=f"{name} rows {window['start']}+{window['rows']}")
    except OSError as error:
        raise Blocked(f"input {name} cannot be read: {error}") from error
    with store.checked(window["sha256"]).open("rb") as lines:
        facts, problems = check_rows(lines, spec["block_size"], window["start"] + 1)
    if problems:
        shown = "\n".join(f"  {problem}" for problem in problems[1:SHOWN_PROBLEMS])
        more = f"\n  and {len(problems) - SHOWN_PROBLEMS} more" if len(problems) > SHOWN_PROBLEMS else ""
        raise Blocked(
            f"input {name}, {problems[0]}" + (f"\n{shown}{more}" if shown else ""),
            help=_mend(store.checked(window["sha256"]), len(problems), window["rows"]),
        )
    return Ready(name, path, found, window["sha256"], facts)


def _mend(path: Path, problems: int, rows: int) -> str:
    """What may be done about rows that no engine is given: where most are wrong, the block size may be."""
    if 2 * problems > rows:
        with path.open("rb") as lines:
            size = fitting_block_size(lines)
        if size is not None:
            return f"the trace's prefix ids fit `block_size = {size}`"
    return "engines accept such rows silently, so no replay was started; pin a trace without them"


def _hold(name: str, spec: Json, path: Path, found: Cut) -> None:
    """What is declared of the whole file (`input.checksum`) and of its window (`input.slice`). Raises `Blocked`."""
    if found.sha256 != spec["sha256"]:
        count = f"it has {found.rows} rows, {spec['rows']} are pinned; " if found.rows != spec["rows"] else ""
        raise Blocked(
            f"input {name} is not what was pinned: {count}{path} hashes to {found.sha256}, pinned is {spec['sha256']}",
            help="`aisimc pin --refresh` writes the checksums of this file, if it is the one that is meant",
        )
    if found.rows != spec["rows"]:
        raise Blocked(
            f"input {name}: {path} has {found.rows} rows, the campaign declares {spec['rows']}",
            help=f"its checksum is the pinned one: write `rows = {found.rows:_}`, or let `aisimc pin --refresh` do it",
        )
    window = spec["slice"]
    if (found.slice_sha256, found.slice_rows) != (window["sha256"], window["rows"]):
        raise Blocked(
            f"input {name}: rows {window['start']}..{window['start'] + window['rows'] - 1} of {path} "
            f"hash to {found.slice_sha256} ({found.slice_rows} rows), not to the pinned {window['sha256']}",
            help=_window_help(found, window),
        )
    if found.blank_line is not None:
        raise Blocked(
            f"input {name}, line {found.blank_line}: the line is blank: "
            "engines skip it and name later requests differently",
            help="take the line out, then `aisimc pin --refresh`",
        )


def _window_help(found: Cut, window: Json) -> str:
    if found.slice_rows != window["rows"]:
        return f"the window leads beyond the file, which has {found.rows} rows: move or shorten it, then `aisimc pin`"
    return "the window was changed after it was pinned, or mistyped: `aisimc pin --refresh` writes its checksum"


def _beside(path: Path, sha256: str, rows: int) -> tuple[Path | None, list[Near]]:
    """The declared file when it holds the pinned bytes."""
    from aisimc_runtime.inputs.locate import count_rows
    from aisimc_runtime.ports.files import sha256_file

    try:
        found = count_rows(path)
        if sha256_file(path) == sha256:
            return path, []
    except OSError:
        return None, []
    why = f"has {found} rows, not {rows}" if found != rows else "has other bytes"
    return None, [Near(path, found, why)]


def _generated(name: str, spec: Json, store: Store) -> Path:
    from aisimc_runtime.inputs.generator import generate

    source = spec["source"]
    data = b"".join(generate(source["seed"], source["rows"], spec["block_size"]))
    stream = io.BytesIO(data)
    label = f"generated, seed {source['seed']}, {source['rows']} rows"
    try:
        sha256 = store.add_stream(stream, kind="input", name=label, expected=spec["sha256"])
    except Blocked as error:
        raise Blocked(
            f"input {name}: {error.message}",
            help="seed, rows or block size were changed after the trace was pinned: `aisimc pin --refresh` writes the "
            "checksums of what they make",
        ) from error
    return store.path(sha256)


def _fetched(name: str, spec: Json, near: Sequence[Near], sources: Sources) -> Path:
    from aisimc_runtime.inputs.upstream import fetch_blob

    source, store = spec["source"], sources.store
    with store.incoming() as (sink, temporary):
        try:
            fetch_blob(source["repository"], source["commit"], source["path"], sink, store, sources.processes)
        except Blocked as error:
            place = Path(source["path"]).name
            raise Blocked(
                f"input {name}: {error.message}{_said(near)}",
                help=error.help
                or f"with the file from elsewhere: `aisimc store add {shlex.quote(place)}`, or name its folder "
                f"in AISIMC_INPUTS (SHA-256 {spec['sha256']})",
            ) from error
        sink.flush()
        with temporary.open("rb") as stream:
            try:
                store.add_stream(stream, kind="input", name=Path(source["path"]).name, expected=spec["sha256"])
            except Blocked as error:
                raise Blocked(
                    f"input {name} is not what was pinned: {error.message}",
                    help=f"`aisimc pin --refresh` writes the checksums of {source['path']} at commit "
                    f"{source['commit'][:12]}…, if that file is meant",
                ) from error
    return store.path(spec["sha256"])


def _nowhere(name: str, spec: Json, near: Sequence[Near]) -> Blocked:
    return Blocked(
        f"input {name} is not here: no file with SHA-256 {spec['sha256']}{_said(near)}",
        help="`aisimc store add FILE`, or name its folder in AISIMC_INPUTS"
        + ("; if the file that is here is meant: `aisimc pin --refresh`" if near else ""),
    )


def _said(near: Sequence[Near]) -> str:
    return "".join(f"; {item.path} {item.why}" for item in near[:2])
