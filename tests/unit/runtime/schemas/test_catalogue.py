"""The schemas themselves: whole, described, closed where the writer is; and the command that prints them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from aisimc_runtime.command.schema import _complete
from aisimc_runtime.schemas.catalogue import CATALOGUE, bundled, load
from tests.unit.runtime.command.aisimc import Done, aisimc

OUTPUTS = ("report", "run-result", "difference", "verification", "diagnostics", "gate", "gate-samples")
"""Schemas of what aisimc writes for programs."""

OPEN = {"describe", "counters", "summary", "class", "session_facts", "gate", "plan.row.configuration"}
"""Definitions that leave room: what a revision says of itself, and parts that others close around more members."""


def inside(value: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], dict[str, Any]]]:
    """Every object of a schema with its place."""
    if isinstance(value, dict):
        yield path, value
        for key, item in value.items():
            yield from inside(item, (*path, key))
    elif isinstance(value, list):
        for at, item in enumerate(value):
            yield from inside(item, (*path, str(at)))


def test_every_schema_file_is_in_the_catalogue(root: Path) -> None:
    found = {path.name.removesuffix(".schema.json") for path in root.glob("*/aisimc_*/schemas/*.schema.json")}
    assert found == set(CATALOGUE)


@pytest.mark.parametrize("name", CATALOGUE)
def test_a_schema_is_one_whole_document(name: str) -> None:
    schema = bundled(name)
    Draft202012Validator.check_schema(schema)
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert schema["$id"] == load(name)["$id"] == f"aisimc:{name}"
    assert "\n" not in schema["title"]
    references = {item["$ref"] for _, item in inside(schema) if isinstance(item.get("$ref"), str)}
    for reference in references:
        assert reference.startswith("#/")
        found: Any = schema
        for part in reference[2:].split("/"):
            found = found[part]
        assert isinstance(found, dict)
    used = {reference.split("/")[2] for reference in references if reference.startswith("#/$defs/")}
    assert used == set(schema.get("$defs", {})), "a definition that nothing refers to"


@pytest.mark.parametrize("name", OUTPUTS)
def test_every_property_says_what_it_means_in_one_line(name: str) -> None:
    schema = load(name)
    definitions = schema.get("$defs", {})
    for path, value in inside(schema):
        if "properties" not in value or not ("type" in value or "$ref" in value):
            continue  # conditions say when, not what
        for key, property_ in value["properties"].items():
            if not isinstance(property_, dict):
                continue
            reference = property_.get("$ref", "")
            target = definitions.get(reference.rpartition("/")[2], {}) if reference.startswith("#/") else {}
            said = property_.get("description") or target.get("description") or described_elsewhere(reference)
            assert said, f"{'/'.join((*path, key))} has no description"
            assert "\n" not in said
            assert said.endswith("."), said


def described_elsewhere(reference: str) -> str | None:
    """The description at the end of a reference into another schema."""
    target, _, pointer = reference.partition("#")
    if not target:
        return None
    found: Any = load(target.removeprefix("aisimc:"))
    for part in pointer.strip("/").split("/"):
        found = found[part]
    said: str | None = found.get("description")
    return said


@pytest.mark.parametrize("name", OUTPUTS)
def test_objects_are_closed(name: str) -> None:
    for path, value in inside(bundled(name)):
        if value.get("type") != "object" or "properties" not in value:
            continue
        if path[:1] == ("$defs",) and len(path) == 2 and path[1].rpartition(".")[2] in OPEN:
            continue
        assert value.get("additionalProperties") is False, "/".join(path)


def test_the_command_lists_every_schema_in_a_line() -> None:
    done = aisimc("schema")
    assert (done.status, done.err) == (0, "")
    assert [line.split()[0] for line in done.out.splitlines()] == list(CATALOGUE)
    assert max(map(len, done.out.splitlines())) <= 100


@pytest.mark.parametrize("asked", ["difference", "difference.schema.json", "Difference"])
def test_the_command_prints_one(asked: str) -> None:
    done = aisimc("schema", asked)
    assert (done.status, done.err) == (0, "")
    assert json.loads(done.out) == bundled("difference")


@pytest.mark.parametrize(
    ("asked", "help"), [("reprot", "did you mean `report`?"), ("nothing-like-it", "`aisimc schema` lists them all")]
)
def test_a_name_that_there_is_not(asked: str, help: str) -> None:
    assert aisimc("schema", asked) == Done(2, "", f"aisimc: error: there is no schema `{asked}`\n  help: {help}\n")


def test_help_and_completion() -> None:
    assert "aisimc schema report > report.schema.json" in aisimc("schema", "--help").out
    offered = _complete(None, None, "gate")  # type: ignore[arg-type]
    assert [item.value for item in offered] == ["gate", "gate-samples"]
    words = {"_AISIMC_COMPLETE": "bash_complete", "COMP_WORDS": "aisimc schema run", "COMP_CWORD": "2"}
    assert "run-result" in aisimc(**words).out
