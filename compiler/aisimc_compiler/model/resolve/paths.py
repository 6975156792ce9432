"""Paths that a campaign names: relative, and for imports and frozen configurations inside its folder."""

from __future__ import annotations

import posixpath

from aisimc_compiler.model.resolve.context import Context


def normalised(base: str, text: str) -> str:
    """The path of `text`, written in a file of the folder `base`, relative to the campaign's folder."""
    return posixpath.normpath(base + text)


def objection(context: Context, base: str, text: str, *, anywhere: bool = False) -> str:
    """Why a path cannot be followed, as the end of a sentence; "" when it can.

    `anywhere` lets it lead out of the campaign's folder: golden points are shared by many campaigns, and what they
    say ends up in the plan with their checksum.
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
    if anywhere:
        return ""
    if path == ".." or path.startswith("../"):
        return "leads out of the campaign's folder"
    if not context.inside(path):
        return "leads out of the campaign's folder by a symbolic link"
    return ""
