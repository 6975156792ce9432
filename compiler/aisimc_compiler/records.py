"""`NamedTuple` as in `typing`, at a tenth of the cost of defining one.

The standard one compiles a constructor for each class when it is defined; this one when the first value is made. A
check defines some forty records and makes values of half of them: the difference is a quarter of its start-up time.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NamedTuple as NamedTuple
else:
    from collections import _tuplegetter  # what collections.namedtuple itself uses

    def NamedTuple() -> None:  # noqa: N802 - stands for a class
        """Base of records: `class Point(NamedTuple): x: int; y: int = 0`. Frozen, slotted, a tuple."""

    class _Meta(type):
        """Turns the class statement into a subclass of tuple; the result is an ordinary class."""

        def __new__(mcs, name, bases, namespace):
            fields = tuple(namespace.get("__annotations__", ()))
            defaults = {field: namespace.pop(field) for field in fields if field in namespace}
            for index, field in enumerate(fields):
                namespace[field] = _tuplegetter(index, None)
            namespace.update(
                __slots__=(),
                __match_args__=fields,
                _fields=fields,
                _field_defaults=defaults,
                __new__=_constructor(fields, defaults),
                __repr__=_repr,
                __getnewargs__=_new_arguments,
                _replace=_replace,
                _asdict=_asdict,
                _make=classmethod(tuple.__new__),
            )
            return type.__new__(type, name, tuple(tuple if base is _Base else base for base in bases), namespace)

    def _constructor(fields, defaults):
        """A `__new__` that on its first call puts one in its place that is compiled for these fields."""

        def __new__(cls, *args, **keywords):  # noqa: N807
            owner = next(base for base in cls.__mro__ if base.__dict__.get("_fields") is fields)
            names = ", ".join(fields)
            new = eval(f"lambda _cls, {names}: _new(_cls, ({names},))", {"_new": tuple.__new__})
            new.__defaults__ = tuple(defaults.values()) or None
            new.__name__ = "__new__"
            new.__qualname__ = f"{owner.__qualname__}.__new__"
            owner.__new__ = staticmethod(new)
            return new(cls, *args, **keywords)

        return __new__

    def _repr(self):
        shown = ", ".join(f"{field}={value!r}" for field, value in zip(self._fields, self, strict=True))
        return f"{type(self).__name__}({shown})"

    def _replace(self, /, **changes):
        """A copy with some fields changed. Raises ValueError for a field that there is not."""
        result = self._make(map(changes.pop, self._fields, self))
        if changes:
            raise ValueError(f"Got unexpected field names: {list(changes)!r}")
        return result

    def _new_arguments(self):
        return tuple(self)

    def _asdict(self):
        return dict(zip(self._fields, self, strict=True))

    _Base = type.__new__(_Meta, "NamedTuple", (), {})
    NamedTuple.__mro_entries__ = lambda bases: (_Base,)
