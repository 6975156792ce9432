"""YAML as plain data with the place of every key and value. No aliases, no tags, no duplicate keys."""

from __future__ import annotations

from functools import lru_cache

from aisimc_compiler.hints import Any
from aisimc_compiler.records import NamedTuple
from aisimc_compiler.schemas.problems import Path

_DEEPEST = 32
_LONG_NUMBER = 32
"""A plain scalar of so many digits is a digest that happens to hold no letter, not a number."""


class Fault(NamedTuple):
    """Where a document cannot be read (offsets in code points), and why."""

    start: int
    end: int
    message: str


class Document(NamedTuple):
    """Plain data with the places of its values and keys. With faults, `value` is what could be read."""

    value: Any
    places: dict[Path, tuple[int, int]]
    keys: dict[Path, tuple[int, int]]
    faults: tuple[Fault, ...]


@lru_cache(maxsize=32)
def read_yaml(data: bytes) -> Document:
    """The document in some bytes. Never raises."""
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        return Document(None, {}, {}, (Fault(0, 0, f"it is not UTF-8 text (byte {error.start})"),))
    return _Reader(text).document()


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text
        self.places: dict[Path, tuple[int, int]] = {}
        self.keys: dict[Path, tuple[int, int]] = {}
        self.faults: list[Fault] = []
        self.seen: set[int] = set()

    def document(self) -> Document:
        from ruamel.yaml import YAML
        from ruamel.yaml.error import MarkedYAMLError, YAMLError

        value: Any = None
        try:
            node = YAML(typ="rt", pure=True).compose(self.text)
            if node is not None:
                value = self.value(node, ())
        except MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            at = mark.index if mark else 0
            self.faults.append(Fault(at, at + 1, f"it is no YAML: {error.problem or 'it cannot be read'}"))
        except (YAMLError, RecursionError, ValueError) as error:
            reason = str(error).splitlines()[0] if str(error) else "it is nested too deep"
            self.faults.append(Fault(0, 0, f"it is no YAML: {reason}"))
        return Document(value, self.places, self.keys, tuple(self.faults))

    def value(self, node: Any, path: Path) -> Any:
        place = (node.start_mark.index, node.end_mark.index)
        self.places[path] = place
        if id(node) in self.seen:
            self.faults.append(Fault(*place, "anchors and aliases are not used here"))
            return None
        self.seen.add(id(node))
        if len(path) > _DEEPEST:
            self.faults.append(Fault(*place, f"it is nested more than {_DEEPEST} deep"))
            return None
        kind = type(node).__name__
        if kind == "MappingNode":
            return self.mapping(node, path)
        if kind == "SequenceNode":
            return [self.value(item, (*path, number)) for number, item in enumerate(node.value)]
        return self.scalar(node, place)

    def mapping(self, node: Any, path: Path) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key, value in node.value:
            place = (key.start_mark.index, key.end_mark.index)
            name = str(key.value)
            if type(key).__name__ != "ScalarNode":
                self.faults.append(Fault(*place, "a key is a plain text"))
            elif name in found:
                self.faults.append(Fault(*place, f"the key `{name}` is given twice"))
            else:
                self.keys[(*path, name)] = place
                found[name] = self.value(value, (*path, name))
        return found

    def scalar(self, node: Any, place: tuple[int, int]) -> Any:
        tag = str(node.tag or "").rsplit(":", 1)[-1]
        text = node.value
        if tag in ("int", "float") and len(text) < _LONG_NUMBER:
            plain = text.replace("_", "")
            try:
                return int(plain, 0) if tag == "int" else float(plain.replace(".inf", "inf").replace(".nan", "nan"))
            except ValueError:
                return text
        if tag == "bool":
            return text.lower() == "true"
        if tag == "null":
            return None
        if tag not in ("str", "int", "float", "timestamp"):
            self.faults.append(Fault(*place, f"the tag `{node.tag}` is not used here"))
        return text
