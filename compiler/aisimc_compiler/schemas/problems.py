"""Data at a boundary held against its JSON Schema, with problems said in this project's words."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from functools import cache

from aisimc_compiler.hints import TYPE_CHECKING, Any
from aisimc_compiler.records import NamedTuple
from aisimc_compiler.schemas.quick import accepts

if TYPE_CHECKING:
    from jsonschema.exceptions import ValidationError
    from jsonschema.protocols import Validator

Path = tuple[str | int, ...]

_TYPES = {
    "object": "an object",
    "array": "a list",
    "string": "a string",
    "integer": "an integer",
    "number": "a number",
    "boolean": "`true` or `false`",
    "null": "`null`",
}


class Problem(NamedTuple):
    """What is wrong at one place of a document: `path` leads there, `message` is a sentence about it.

    `key` is set where the trouble is a key of the object at `path`, and `meant` where a known one is near.
    """

    path: Path
    message: str
    key: str | None = None
    meant: str | None = None
    absent: bool = False
    """Something that should be in the object at `path` is not."""
    bound: bool = False
    """A number lies outside of what is possible."""

    @property
    def where(self) -> str:
        """The place as a JSONPath-like text: `spec.engine.rank`, `rows[3]`; "the document" for the whole."""
        return dotted(self.path if self.key is None else (*self.path, self.key)) or "the document"

    def __str__(self) -> str:
        return f"{self.where}: {self.message}"


def dotted(path: Path) -> str:
    """A path as people write it."""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text


@cache
def schema(name: str) -> dict[str, Any]:
    """One of the schemas that ship with the compiler: `plan`, `configuration` or `golden`."""
    path = os.path.join(os.path.dirname(__file__), f"{name}.schema.json")  # noqa: PTH118, PTH120 - start-up time
    with open(path, encoding="utf-8") as file:  # noqa: PTH123
        loaded: dict[str, Any] = json.load(file)
    return loaded


@cache
def _validator(name: str) -> Validator:
    from jsonschema import Draft202012Validator

    return Draft202012Validator(schema(name))


def problems(name: str, value: Any) -> list[Problem]:
    """Every problem of a document, in the order of its places."""
    if accepts(schema(name), value):
        return []
    found = [problem for error in _validator(name).iter_errors(value) for problem in _said(error)]
    return sorted(found, key=lambda problem: ([str(part) for part in problem.path], problem.message))


def _said(error: ValidationError) -> Iterator[Problem]:
    """One schema error in words. Alternatives are followed into the branch that nearly fits."""
    path: Path = tuple(error.absolute_path)
    kind = str(error.validator)
    wanted: Any = error.validator_value
    got: Any = error.instance
    schema_: Any = error.schema
    if kind in ("anyOf", "oneOf") and error.context:
        yield from _branch(error)
    elif kind in ("additionalProperties", "unevaluatedProperties"):
        known = tuple(schema_.get("properties", ()))
        for key in sorted(set(got) - set(known)):
            yield _unknown(path, key, known)
    elif kind == "required":
        for key in wanted:
            if key not in got:
                yield Problem(path, f"`{key}` is missing", absent=True)
    elif kind == "type":
        kinds = [wanted] if isinstance(wanted, str) else wanted
        yield Problem(path, f"takes {' or '.join(_TYPES[each] for each in kinds)}, not {shown(got)}")
    elif kind == "const":
        yield Problem(path, f"takes only {shown(wanted)}, not {shown(got)}")
    elif kind == "enum":
        yield Problem(path, f"takes {' or '.join(shown(each) for each in wanted)}, not {shown(got)}")
    elif kind == "pattern":
        yield Problem(path, f"{shown(got)} is not {schema_.get('description', 'in the form that it takes')}")
    elif kind in ("minimum", "exclusiveMinimum"):
        least = f"{wanted:g} or more" if kind == "minimum" else f"more than {wanted:g}"
        yield Problem(path, f"takes {least}, not {shown(got)}", bound=True)
    elif kind in ("minItems", "minLength", "minProperties"):
        yield Problem(path, "is empty")
    elif kind in ("maxItems", "maxProperties"):
        yield Problem(path, f"holds more than {wanted}" if wanted else "is not empty")
    else:
        yield Problem(path, error.message)


def _branch(error: ValidationError) -> Iterator[Problem]:
    from jsonschema.exceptions import relevance

    branches: dict[int, list[ValidationError]] = {}
    for inner in error.context or ():
        branches.setdefault(int(inner.schema_path[0]), []).append(inner)
    best = min(
        branches.values(),
        key=lambda inner: (any(e.validator in ("type", "const") and not e.path for e in inner), len(inner)),
    )
    for inner in sorted(best, key=relevance, reverse=True):
        yield from _said(inner)


def _unknown(path: Path, key: str, known: tuple[str, ...]) -> Problem:
    from aisimc_compiler.model.nearest import nearest

    meant = nearest(key, known)
    hint = f"; did you mean `{meant}`?" if meant else ""
    return Problem(path, f"there is no key `{key}`{hint}", key, meant)


def shown(value: Any) -> str:
    """A value in a message, short."""
    text = json.dumps(value, ensure_ascii=False)
    return f"`{text}`" if len(text) <= 60 else f"`{text[:57]}…`"
