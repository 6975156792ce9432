"""Questions for what a command line did not say."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

import click

from aisimc_runtime.failures import Interrupted, Refused

T = TypeVar("T")


@dataclass(slots=True)
class Asker:
    """Asks on a terminal; `asked` says whether it had to. A wrong answer is said, and asked again."""

    asked: bool = field(default=False)

    def ask(
        self, flag: str, question: str, read: Callable[[str], T], default: str | None = None, before: str = ""
    ) -> T:
        """What `read` makes of the answer; `before` is shown ahead of the question.

        Raises `Refused`, naming the flag, without a terminal, and `Interrupted` when the answer is Ctrl-C or Ctrl-D.
        """
        if not sys.stdin.isatty():
            raise Refused(f"{flag} is not given, and there is no terminal to ask on", help=f"{flag}: {question}")
        self.asked = True
        click.echo(before, nl=False)

        def value(answer: str) -> T:
            try:
                return read(answer.strip())
            except Refused as refused:
                raise click.UsageError("; ".join(filter(None, (refused.message, refused.help)))) from refused

        try:
            answer: T = click.prompt(question, default=default, value_proc=value)
        except click.Abort:
            raise Interrupted("ended before the last answer; nothing was written") from None
        return answer
