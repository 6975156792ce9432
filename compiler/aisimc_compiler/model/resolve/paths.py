"""Paths that a campaign names: relative, and for imports inside its folder."""

from __future__ import annotations

import os
import posixpath

from aisimc_compiler.model.resolve.context import Context


def normalised(base: str, text: str) -> str:
    """The path of `text`, written in a file of the folder `base`, relative to the campaign's folder."""
    return posixpath.normpath(base + text)


def meant(context: Context, base: str, text: str, *, inside: bool = False) -> str | None:
    """The existing file that a path which leads nowhere most likely means, written as the path is.

    Only for when there is no such file.
    """
    from aisimc_compiler.model.nearest import nearest

    found: list[str] = []
    for part in text.split("/"):
        here = context.loader.path(normalised(base, "/".join((*found, "."))))
        if part in ("", ".", "..") or os.path.exists(f"{here}/{part}"):  # noqa: PTH110 - pathlib costs start-up time
            found.append(part)
            continue
        try:
            names = sorted(name for name in os.listdir(here) if not name.startswith("."))  # noqa: PTH208
        except OSError:
            return None
        near = nearest(part, names)
        if near is None or (len(found) + 1 < len(text.split("/"))) != os.path.isdir(f"{here}/{near}"):  # noqa: PTH112
            return None
        found.append(near)
    path = "/".join(found)
    return path if path != text and not objection(context, base, path, inside=inside) else None


def objection(context: Context, base: str, text: str, *, inside: bool = False) -> str:
    """Why a path cannot be followed, as the end of a sentence; "" when it can.

    With `inside` it must not lead out of the campaign's folder. Golden points and frozen configurations may: many
    campaigns share them, and what they say ends up in the plan with their checksum.
    """
    if not text.strip():
        return "is empty"
    if text != text.strip():
        return "begins or ends with white space"
    if text.startswith(("/", "~")) or "\\" in text or (len(text) > 1 and text[1] == ":"):
        return "is not a relative path with `/` between its parts"
    if "\0" in text or "://" in text or any("\ud800" <= character <= "\udfff" for character in text):
        return "is no path"
    path = normalised(base, text)
    if not inside:
        return ""
    if path == ".." or path.startswith("../"):
        return "leads out of the campaign's folder"
    if not context.inside(path):
        return "leads out of the campaign's folder by a symbolic link"
    return ""
