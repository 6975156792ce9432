"""Applying pinned patches: exactly where they say, to plain files, or not at all."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aisimc_runtime.engines.patching import PatchError, apply, parse

BEFORE = b"one\ntwo\nthree\nfour\nfive\n"
PATCH = b"""\
A sentence for the reviewer.
---
diff --git a/src/list.txt b/src/list.txt
index 111..222 100644
--- a/src/list.txt
+++ b/src/list.txt
@@ -1,3 +1,3 @@
 one
-two
+2
 three
@@ -5 +5,2 @@ three
 five
+six
--
2.47.3
"""


def test_hunks_replace_exactly_the_lines_they_name() -> None:
    assert apply(PATCH, {"src/list.txt": BEFORE}.get) == {"src/list.txt": b"one\n2\nthree\nfour\nfive\nsix\n"}


def test_files_are_created_and_deleted() -> None:
    patch = b"--- /dev/null\n+++ b/new.txt\n@@ -0,0 +1,2 @@\n+a\n+b\n\\ No newline at end of file\n"
    assert apply(patch, {}.get) == {"new.txt": b"a\nb"}
    patch = b"--- a/old.txt\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-a\n-b\n"
    assert apply(patch, {"old.txt": b"a\nb\n"}.get) == {"old.txt": None}


def test_two_sections_for_one_file_apply_one_after_the_other() -> None:
    one = b"--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n"
    two = b"--- a/f\n+++ b/f\n@@ -1 +1 @@\n-b\n+c\n"
    assert apply(one + two, {"f": b"a\n"}.get) == {"f": b"c\n"}


def test_a_carriage_return_is_part_of_its_line() -> None:
    patch = b"--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n a\r\n-b\r\n+c\n"
    assert apply(patch, {"f": b"a\r\nb\r\n"}.get) == {"f": b"a\r\nc\n"}


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({}, "there is no such file"),
        ({"src/list.txt": b"zero\n" + BEFORE}, "does not match line 1"),  # an offset is not looked for
        ({"src/list.txt": BEFORE.replace(b"three", b"3")}, "does not match line 1"),  # nor is context fuzzy
        ({"src/list.txt": BEFORE.removesuffix(b"\n")}, "does not match line 5"),
    ],
)
def test_a_patch_that_does_not_fit_is_refused(files: dict[str, bytes], message: str) -> None:
    with pytest.raises(PatchError, match=message):
        apply(PATCH, files.get)


@pytest.mark.parametrize(
    ("patch", "message"),
    [
        (b"", "changes no file"),
        (b"just words\n", "changes no file"),
        (b"--- a/../x\n+++ b/../x\n@@ -1 +1 @@\n-a\n+b\n", "not a path inside"),
        (b"--- /etc/x\n+++ /etc/x\n@@ -1 +1 @@\n-a\n+b\n", "not a path inside"),
        (b"--- a//etc/x\n+++ b//etc/x\n@@ -1 +1 @@\n-a\n+b\n", "not a path inside"),
        (b"--- a/.git/config\n+++ b/.git/config\n@@ -1 +1 @@\n-a\n+b\n", "not a path inside"),
        (b'--- "a/x"\n+++ "b/x"\n@@ -1 +1 @@\n-a\n+b\n', "not a path inside"),
        (b"new file mode 120000\n--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+/etc/passwd\n", "only regular files"),
        (b"new file mode 160000\n--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+abc\n", "only regular files"),
        (b"GIT binary patch\n", "binary"),
        (b"rename from a\nrename to b\n", "rename"),
        (b"--- a/x\n+++ b/y\n@@ -1 +1 @@\n-a\n+b\n", "may not move"),
        (b"--- /dev/null\n+++ /dev/null\n@@ -1 +1 @@\n-a\n+b\n", "nothing to nothing"),
        (b"--- a/x\n+++ b/x\n", "without a change"),
        (b"@@ -1 +1 @@\n-a\n+b\n", "before any file name"),
        (b"--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n-a\n+b\n", "ends before"),
        (b"--- a/x\n+++ b/x\n@@ -1,1 +1,2 @@\n-a\n-b\n+c\n+d\n", "more lines"),
    ],
)
def test_what_is_no_plain_diff_of_regular_files_is_refused(patch: bytes, message: str) -> None:
    with pytest.raises(PatchError, match=message):
        parse(patch)


def test_a_new_file_may_not_be_there_and_a_deleted_one_must_be_whole() -> None:
    with pytest.raises(PatchError, match="there already"):
        apply(b"--- /dev/null\n+++ b/f\n@@ -0,0 +1 @@\n+a\n", {"f": b""}.get)
    with pytest.raises(PatchError, match="left over"):
        apply(b"--- a/f\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n", {"f": b"a\nb\n"}.get)


LINE = st.sampled_from([b"a\n", b"b\n", b"\n", b"-- x\n", b"++ y\n", b"@@ -1 +1 @@\n", b"c\r\n", b"\\ z\n"])
TEXT = st.builds(
    lambda lines, tail: b"".join(lines) + tail, st.lists(LINE, max_size=30), st.sampled_from([b"", b"end"])
)


@pytest.mark.skipif(shutil.which("git") is None, reason="git writes the patches that this compares with")
@settings(max_examples=60, deadline=None)
@given(TEXT, TEXT, st.integers(0, 4))
def test_every_diff_that_git_writes_gives_the_file_it_was_made_from(old: bytes, new: bytes, context: int) -> None:
    if old == new:
        return
    with tempfile.TemporaryDirectory() as folder:
        for side, data in (("a", old), ("b", new)):
            (Path(folder) / side).mkdir()
            (Path(folder) / side / "f").write_bytes(data)
        argv = ["git", "diff", "--no-index", "--no-prefix", f"-U{context}", "a/f", "b/f"]
        patch = subprocess.run(argv, cwd=folder, capture_output=True, check=False).stdout
    assert apply(patch, {"f": old}.get) == {"f": new}
