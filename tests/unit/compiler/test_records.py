"""Our NamedTuple behaves as the standard one."""

from __future__ import annotations

import copy
import pickle
import typing
from typing import Generic, TypeVar

import pytest

from aisimc_compiler import records

T = TypeVar("T")


class Ours(records.NamedTuple):
    """A record."""

    first: int
    second: str = "b"

    @property
    def both(self) -> str:
        return f"{self.first}{self.second}"


class Standard(typing.NamedTuple):
    """A record."""

    first: int
    second: str = "b"


class Box(records.NamedTuple, Generic[T]):
    """A generic record."""

    inside: T


def test_construction_and_access() -> None:
    one = Ours(1)
    assert (one.first, one.second, one.both) == (1, "b", "1b")
    assert Ours(first=2, second="c") == (2, "c") == Standard(2, "c")
    assert isinstance(one, tuple)
    assert hash(one) == hash((1, "b"))
    first, second = one
    assert (first, second) == (1, "b")


def test_standard_helpers() -> None:
    one = Ours(1)
    assert repr(one) == repr(Standard(1)).replace("Standard", "Ours")
    assert one._replace(first=5) == (5, "b")
    assert one._asdict() == Standard(1)._asdict()
    assert Ours._make([7, "x"]) == (7, "x")
    assert Ours._fields == Standard._fields
    assert Ours._field_defaults == {"second": "b"}
    assert Ours.__doc__ == "A record."
    with pytest.raises(ValueError, match="unexpected"):
        one._replace(third=3)  # type: ignore[call-arg]


@pytest.mark.parametrize("arguments", [(), (1, "b", 3)])
def test_wrong_arguments_are_named_as_by_the_standard_one(arguments: tuple[object, ...]) -> None:
    with pytest.raises(TypeError) as ours:
        Ours(*arguments)  # type: ignore[arg-type]
    with pytest.raises(TypeError) as standard:
        Standard(*arguments)  # type: ignore[arg-type]
    assert str(ours.value).replace("Ours", "") == str(standard.value).replace("Standard", "")


def test_frozen_and_slotted() -> None:
    one = Ours(1)
    with pytest.raises(AttributeError):
        one.first = 2  # type: ignore[misc]
    with pytest.raises(AttributeError):
        one.third = 3  # type: ignore[attr-defined]


def test_copies_and_pickles() -> None:
    one = Ours(1)
    assert copy.copy(one) == copy.deepcopy(one) == one
    assert pickle.loads(pickle.dumps(one)) == one
    assert type(pickle.loads(pickle.dumps(one))) is Ours


def test_generic_and_subclassed() -> None:
    assert Box[int](3).inside == 3

    class Sub(Ours):
        __slots__ = ()

    assert type(Sub(1)) is Sub
    assert Sub(1).both == "1b"


def test_matching() -> None:
    match Ours(1, "z"):
        case Ours(first, second="z"):
            assert first == 1
        case _:
            raise AssertionError


def test_hints_stand_in_for_typing_at_run_time() -> None:
    from aisimc_compiler import hints

    variable = hints.TypeVar("variable")

    class Held(records.NamedTuple, hints.Generic[variable]):  # type: ignore[valid-type,misc]
        inside: variable  # type: ignore[valid-type]

    alias = dict[str, Held[hints.Any] | None]
    assert alias is not None
    assert Held[int](3).inside == 3
    assert isinstance(Held(3), Held)
    assert hints.Literal["a", "b"] is not None
