"""Every JSON Schema that ships with aisimc, by name, each as one document that stands on its own.

The files refer to each other (`aisimc:plan#/$defs/revision`), so that a form is described once; a validator at a user's
end should not need a registry for that. `bundled` gives a schema with everything it refers to under its own `$defs`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib.resources import files
from typing import Any, NamedTuple

Json = dict[str, Any]

SCHEME = "aisimc:"
_COMPILER, _RUNTIME = "aisimc_compiler.schemas", "aisimc_runtime.schemas"


class Entry(NamedTuple):
    """Where a schema's file is, and which documents it describes."""

    package: str
    describes: str


CATALOGUE: dict[str, Entry] = {
    "report": Entry(_RUNTIME, "`report.json` of a run, `aisimc report RUN --format json`"),
    "run-result": Entry(_RUNTIME, "what `aisimc run --json` prints"),
    "difference": Entry(_RUNTIME, "`rows/ROW/difference.json` and `instability-ARM.json`, `aisimc diff --json`"),
    "verification": Entry(_RUNTIME, "what `aisimc verify RUN --json` prints"),
    "diagnostics": Entry(_COMPILER, "what `aisimc check --format json` prints"),
    "gate": Entry(_RUNTIME, "`performance/ROW/gate.json`"),
    "gate-samples": Entry(_RUNTIME, "each line of `performance/ROW/samples.jsonl`"),
    "plan": Entry(_COMPILER, "`plan.json` of a run, a saved plan"),
    "configuration": Entry(_COMPILER, "`rows/ROW/configuration.json`, a frozen configuration"),
    "golden": Entry(_COMPILER, "files of golden points (YAML)"),
    "profile": Entry(_RUNTIME, "files for `--profile` (YAML)"),
}


def load(name: str) -> Json:
    """A schema as its file has it. KeyError for a name that is not in the catalogue."""
    text = files(CATALOGUE[name].package).joinpath(f"{name}.schema.json").read_text(encoding="utf-8")
    schema: Json = json.loads(text)
    return schema


def bundled(name: str) -> Json:
    """A schema in which every reference stays inside the document. KeyError as for `load`."""
    return _Bundle(name).whole()


class _Bundle:
    """One schema while the definitions that it needs from others are gathered."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._files: dict[str, Json] = {}
        self._taken: Json = {}

    def whole(self) -> Json:
        schema: Json = self._local(self._file(self._name), self._name)
        if not self._taken:
            return schema
        own: Json = schema.pop("$defs", {})
        return schema | {"$defs": own | {key: self._taken[key] for key in sorted(self._taken)}}

    def _file(self, name: str) -> Json:
        if name not in self._files:
            self._files[name] = load(name)
        return self._files[name]

    def _local(self, value: Any, home: str) -> Any:
        """A part of the schema `home` with its references turned to this document."""
        if isinstance(value, list):
            return [self._local(item, home) for item in value]
        if not isinstance(value, dict):
            return value
        return {
            key: self._reference(item, home) if key == "$ref" and isinstance(item, str) else self._local(item, home)
            for key, item in value.items()
        }

    def _reference(self, reference: str, home: str) -> str:
        target, _, pointer = reference.partition("#")
        name = target.removeprefix(SCHEME) if target else home
        if name == self._name:
            return f"#{pointer}"
        key = ".".join([name, *(part for part in _parts(pointer) if part not in ("$defs", "properties"))])
        if key not in self._taken:
            self._taken[key] = True  # a definition may come back to itself
            self._taken[key] = self._local(_at(self._file(name), pointer), name)
        return f"#/$defs/{key}"


def _parts(pointer: str) -> Iterator[str]:
    return (part for part in pointer.split("/") if part)


def _at(schema: Json, pointer: str) -> Any:
    """What a JSON pointer leads to. KeyError where there is nothing."""
    found: Any = schema
    for part in _parts(pointer):
        found = found[part]
    return found
