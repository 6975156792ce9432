"""`python -m tests.specs.refresh`: after an engine change, make the demonstration patches again and pin everything.

A pinned patch applies to the very lines it names or not at all. Here git may look for its hunks a few lines away; what
it finds becomes the new patch. A hunk that it cannot find needs a person.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from aisimc_runtime.engines import sources

ROOT = Path(__file__).resolve().parents[2]
GIT = ("git", "-c", "user.name=refresh", "-c", "user.email=refresh@example.org", "-c", "core.hooksPath=/dev/null")


def remade(patch: Path, core: dict[str, bytes]) -> bytes:
    """The patch for the present sources, its introduction kept. Raises `SystemExit` when a hunk has no place."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        sources.write_tree(core, folder)

        def git(*arguments: str) -> bytes:
            return subprocess.run([*GIT, *arguments], cwd=folder, capture_output=True, check=True).stdout

        git("init", "--quiet")
        git("add", "--all")
        git("commit", "--quiet", "--message", "present sources")
        try:
            git("apply", "-C1", "--recount", str(patch))
        except subprocess.CalledProcessError as error:
            raise SystemExit(f"{patch.name} has no place in the present sources: {error.stderr.decode()}") from error
        lines = git("diff", "--no-color", "--no-ext-diff").splitlines(keepends=True)
    before = patch.read_bytes()
    introduction = before[: before.index(b"diff --git ")] if b"diff --git " in before else b""
    # Blob ids change with every line of a file, and say nothing that the hunks do not.
    return introduction + b"".join(line for line in lines if not line.startswith(b"index "))


def main() -> int:
    """Write what changed, then let `aisimc pin` put the new digests into the campaigns."""
    core = sources.package_files(sources.shipped(sources.CORE))
    for patch in sorted((ROOT / "specs" / "patches").glob("*.patch")):
        after = remade(patch, core)
        if after != patch.read_bytes():
            patch.write_bytes(after)
            sys.stdout.write(f"made again: {patch.relative_to(ROOT)}\n")
    campaigns = [*(ROOT / "specs").glob("*.campaign"), *(ROOT / "specs" / "fixtures").glob("*.campaign")]
    local = [str(path) for path in sorted(campaigns) if "upstream" not in path.read_text("utf-8")]
    pin = [sys.executable, "-m", "aisimc_runtime", "pin", "--refresh", *local]
    return subprocess.run(pin, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
