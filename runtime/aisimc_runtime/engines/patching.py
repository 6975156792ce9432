"""Applying a pinned patch to a set of files: a unified diff, taken literally.

Strict like `git apply` without options: every hunk must match at the very line it names, no fuzz, no offsets. Stricter
than it in what a patch may do: only regular files, no binary hunks, no path that leaves the folder. Pure: files in,
files out; nothing is written until the whole patch has been applied.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import NamedTuple

_HUNK = re.compile(rb"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_REGULAR_MODES = (b"100644", b"100755")
_NO_NEWLINE = b"\\ No newline at end of file"


class PatchError(ValueError):
    """The patch is not a plain unified diff, or does not fit the files. The message is one line."""


class Hunk(NamedTuple):
    """One `@@` section: the lines it expects from `start` on (0-based), and what it puts in their place."""

    start: int
    old: tuple[bytes, ...]
    new: tuple[bytes, ...]
    line: int
    """Where the hunk stands in the patch, from 1."""


@dataclass(frozen=True, slots=True)
class FilePatch:
    """What a patch does to one file. `old` is None for a new file, `new` is None for a deleted one."""

    old: str | None
    new: str | None
    hunks: tuple[Hunk, ...]


def parse(patch: bytes) -> tuple[FilePatch, ...]:
    """Read a unified diff with `a/` and `b/` prefixes, git's extended headers included.

    Raises `PatchError` for anything that is not such a diff of regular files.
    """
    lines = _lines(patch)
    files: list[FilePatch] = []
    at = 0
    while at < len(lines):
        line = lines[at]
        _refuse_special(line, at)
        if line.startswith(b"--- ") and at + 1 < len(lines) and lines[at + 1].startswith(b"+++ "):
            old, new = _name(line, at), _name(lines[at + 1], at + 1)
            hunks, at = _hunks(lines, at + 2)
            files.append(_checked(FilePatch(old, new, tuple(hunks)), at))
        elif line.startswith(b"@@ "):
            raise PatchError(f"line {at + 1}: a hunk stands before any file name")
        else:
            at += 1
    if not files:
        raise PatchError("it changes no file")
    return tuple(files)


def apply(patch: bytes, read: Callable[[str], bytes | None]) -> dict[str, bytes | None]:
    """Apply a patch to the files that `read` gives by relative path (None: no such file).

    Returns the new bytes of each file it touches, None for one it deletes. Raises `PatchError`.
    """
    changed: dict[str, bytes | None] = {}
    for file in parse(patch):
        path = file.new or file.old
        assert path is not None, "a file patch names at least one file"
        before = changed[path] if path in changed else read(path)
        if file.old is None and before is not None:
            raise PatchError(f"{path}: the patch creates it, but it is there already")
        if file.old is not None and before is None:
            raise PatchError(f"{path}: the patch changes it, but there is no such file")
        after = _apply_hunks(path, before or b"", file.hunks)
        if file.new is None and after:
            raise PatchError(f"{path}: the patch deletes it, but lines would be left over")
        changed[path] = None if file.new is None else after
    return changed


def _apply_hunks(path: str, before: bytes, hunks: tuple[Hunk, ...]) -> bytes:
    lines = _lines(before)
    result: list[bytes] = []
    done = 0
    for hunk in hunks:
        end = hunk.start + len(hunk.old)
        if hunk.start < done or tuple(lines[hunk.start : end]) != hunk.old:
            raise PatchError(f"{path}: the hunk at line {hunk.line} of the patch does not match line {hunk.start + 1}")
        result += lines[done : hunk.start]
        result += hunk.new
        done = end
    return b"".join(result + lines[done:])


def _lines(data: bytes) -> list[bytes]:
    """Lines as a patch counts them: only `\\n` ends one."""
    return [line for line in re.split(rb"(?<=\n)", data) if line]


def _hunks(lines: list[bytes], at: int) -> tuple[list[Hunk], int]:
    hunks = []
    while at < len(lines) and (match := _HUNK.match(lines[at])):
        first, old_count, new_count = int(match[1]), int(match[2] or b"1"), int(match[4] or b"1")
        old, new, end = _body(lines, at + 1, old_count, new_count)
        # A hunk without old lines is inserted after the line it names; any other one starts at it.
        start = first if old_count == 0 else first - 1
        hunks.append(Hunk(start, tuple(old), tuple(new), at + 1))
        at = end
    return hunks, at


def _body(lines: list[bytes], at: int, old_count: int, new_count: int) -> tuple[list[bytes], list[bytes], int]:
    """The old and new lines of one hunk, and where the next line of the patch stands."""
    old: list[bytes] = []
    new: list[bytes] = []
    while len(old) < old_count or len(new) < new_count:
        side, text = _side(lines, at)
        at += 1
        if at < len(lines) and lines[at].startswith(_NO_NEWLINE):
            text = text.removesuffix(b"\n")
            at += 1
        if side != b"+":
            old.append(text)
        if side != b"-":
            new.append(text)
    if len(old) > old_count or len(new) > new_count:
        raise PatchError(f"line {at}: a hunk holds more lines than its header promises")
    return old, new, at


def _side(lines: list[bytes], at: int) -> tuple[bytes, bytes]:
    """A line of a hunk: ` `, `-` or `+`, and its text. An empty line stands for an empty context line."""
    line = lines[at] if at < len(lines) else b""
    side, text = (line[:1], line[1:]) if line != b"\n" else (b" ", line)
    if side not in (b" ", b"-", b"+"):
        raise PatchError(f"line {at + 1}: a hunk ends before the lines that its header promises")
    return side, text


def _refuse_special(line: bytes, at: int) -> None:
    for header in (b"new file mode ", b"deleted file mode ", b"old mode ", b"new mode "):
        if line.startswith(header) and line[len(header) :].strip() not in _REGULAR_MODES:
            raise PatchError(f"line {at + 1}: only regular files may be patched, no links and no submodules")
    if line.startswith((b"GIT binary patch", b"Binary files ")):
        raise PatchError(f"line {at + 1}: a binary change cannot be reviewed as text and is refused")
    if line.startswith((b"rename from ", b"rename to ", b"copy from ", b"copy to ")):
        raise PatchError(f"line {at + 1}: write a rename or copy as a deletion and a new file")


def _name(header: bytes, at: int) -> str | None:
    """The path of a `---` or `+++` line without its prefix; None for `/dev/null`."""
    name = header[4:].split(b"\t")[0].rstrip(b"\r\n")
    if name == b"/dev/null":
        return None
    try:
        text = name.decode("utf-8")
    except UnicodeDecodeError as error:
        raise PatchError(f"line {at + 1}: a file name is not UTF-8") from error
    prefix, slash, rest = text.partition("/")
    path = PurePosixPath(rest)
    unsafe = path.is_absolute() or ".." in path.parts or ".git" in path.parts or '"' in text or "\\" in text
    if not slash or prefix not in ("a", "b") or not path.parts or unsafe:
        raise PatchError(f"line {at + 1}: {text!r} is not a path inside the patched folder with an a/ or b/ prefix")
    return str(path)


def _checked(file: FilePatch, at: int) -> FilePatch:
    if file.old is None and file.new is None:
        raise PatchError(f"line {at}: a change from nothing to nothing")
    if file.old is not None and file.new is not None and file.old != file.new:
        raise PatchError(f"line {at}: a change may not move {file.old} to {file.new}")
    if not file.hunks:
        raise PatchError(f"line {at}: {file.new or file.old} is named without a change")
    return file
