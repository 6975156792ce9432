"""The names of `typing` that annotations need, without importing it: that takes as long as parsing a campaign.

Type checkers see the real ones. At run time annotations are never evaluated here (`from __future__ import
annotations`), and what stands in aliases and class statements only has to be there.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import IO as IO
    from typing import Any as Any
    from typing import Generic as Generic
    from typing import Literal as Literal
    from typing import NoReturn as NoReturn
    from typing import TypeVar as TypeVar
else:

    class _Hint:
        """Stands for a type that nobody looks at."""

        __slots__ = ()

        def __getitem__(self, item):
            return self

        def __or__(self, other):
            return self

        __ror__ = __or__

    class Generic:
        """A base that may be subscribed, and so may what derives from it."""

        __slots__ = ()

        def __class_getitem__(cls, item):
            return cls

    def TypeVar(name):  # noqa: N802 - stands for a class
        """A type variable, which is only looked at by type checkers."""
        return IO

    IO = Any = Literal = NoReturn = _Hint()
