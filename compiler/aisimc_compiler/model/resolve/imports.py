"""Imports spliced in where they stand (`import.path`)."""

from __future__ import annotations

import os

from aisimc_compiler.diagnostics.model import Label
from aisimc_compiler.loading import Unreadable
from aisimc_compiler.model.resolve.context import Context
from aisimc_compiler.model.resolve.paths import normalised, objection
from aisimc_compiler.syntax import tree

_DEEPEST = 32


class Placed:
    """A top-level item with the folder of its file, relative to the campaign's ("" or ending in `/`)."""

    __slots__ = ("base", "item")

    def __init__(self, item: tree.Attribute | tree.Block | tree.Value, base: str) -> None:
        self.item = item
        self.base = base


def splice(context: Context, file: tree.File) -> list[Placed]:
    """Every top-level item of a file and its imports, in reading order. A file that is imported twice counts once."""
    placed: list[Placed] = []
    first = os.path.realpath(context.source.name)
    _Splicer(context, placed).walk(file, "", [(first, None)])
    return placed


class _Splicer:
    def __init__(self, context: Context, placed: list[Placed]) -> None:
        self.context = context
        self.placed = placed
        self.done: set[str] = set()

    def walk(self, file: tree.File, base: str, chain: list[tuple[str, tree.Value | None]]) -> None:
        here: dict[str, tree.Value] = {}
        for item in file.body:
            if not isinstance(item, tree.Block) or item.keyword.text != "import":
                self.placed.append(Placed(item, base))
                continue
            self._import(item, base, chain, here)

    def _import(
        self,
        block: tree.Block,
        base: str,
        chain: list[tuple[str, tree.Value | None]],
        here: dict[str, tree.Value],
    ) -> None:
        from aisimc_compiler.model.resolve.reading import label_fits
        from aisimc_compiler.model.vocabulary import BLOCKS

        if not label_fits(self.context, block, BLOCKS["import"]):
            self.context.unread = True
            return
        label = block.labels[0]
        assert isinstance(label, tree.Value)
        text = str(label.value)
        if block.body:
            from aisimc_compiler.rules.refusal import refuse

            self.context.report(
                refuse(
                    "type.mismatch", block.keyword.span, "an `import` has no body", label="a statement without braces"
                )
            )
            return
        why = objection(self.context, base, text, inside=True)
        if why:
            self.context.unread = True
            self._refuse(
                label,
                f"the import {why}",
                help_="copy the file into the campaign's folder" if "leads out" in why else "",
            )
            return
        path = normalised(base, text)
        real = os.path.realpath(self.context.loader.path(path))
        if real in here:
            from aisimc_compiler.rules.refusal import refuse

            self.context.report(
                refuse(
                    "syntax.duplicate",
                    label.span,
                    f"`{text}` is imported twice in one file",
                    label="the second one",
                    help="keep one of the two",
                    secondary=(Label(here[real].span, "the first one"),),
                )
            )
            return
        here[real] = label
        if any(real == other for other, _ in chain):
            self._cycle(label, real, chain)
            return
        if real in self.done:
            return
        if len(chain) > _DEEPEST:
            self._refuse(label, f"imports are nested more than {_DEEPEST} deep")
            return
        self._load(label, base, path, real, chain)

    def _load(
        self, label: tree.Value, base: str, path: str, real: str, chain: list[tuple[str, tree.Value | None]]
    ) -> None:
        from aisimc_compiler.syntax.parser import parse

        source = self.context.loader.source(path)
        if isinstance(source, Unreadable):
            self.context.unread = True
            self._unreadable(label, base, source)
            return
        self.done.add(real)
        file, diagnostics = parse(source)
        self.context.diagnostics.extend(diagnostics)
        self.context.tear(diagnostics)
        folder = os.path.dirname(path)  # noqa: PTH120 - pathlib would cost every check its import
        self.walk(file, f"{folder}/" if folder else "", [*chain, (real, label)])

    def _unreadable(self, label: tree.Value, base: str, found: Unreadable) -> None:
        from aisimc_compiler.model.resolve.paths import meant
        from aisimc_compiler.rules.refusal import did_you_mean, refuse

        near = meant(self.context, base, str(label.value), inside=True) if found.absent else None
        quoted = f'"{near}"' if near else None
        self.context.report(
            refuse(
                "import.path",
                label.span,
                f"the import cannot be read: {found.reason}",
                label="imported here",
                help=did_you_mean(quoted),
                replace=quoted,
            )
        )

    def _cycle(self, label: tree.Value, real: str, chain: list[tuple[str, tree.Value | None]]) -> None:
        self.context.unread = True  # another file may have been meant
        places = [other for other, _ in chain]
        links = [value for _, value in chain[places.index(real) + 1 :] if value is not None]
        secondary = tuple(Label(value.span, "which was imported here") for value in links)
        message = "this file imports itself" if not links else "the import closes a cycle"
        self._refuse(label, message, secondary=secondary)

    def _refuse(self, label: tree.Value, message: str, secondary: tuple[Label, ...] = (), help_: str = "") -> None:
        from aisimc_compiler.rules.refusal import refuse

        self.context.report(
            refuse("import.path", label.span, message, label="imported here", secondary=secondary, help=help_)
        )
