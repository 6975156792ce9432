"""Git used as a content store: exact commits in, plain files out, nothing of anybody's configuration run.

The mirror is ours alone and bare. Hooks, submodules, LFS, file-system monitors and attribute filters are switched
off: what stands in a worktree is byte for byte what the commit's tree holds.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from aisimc_runtime.failures import Blocked
from aisimc_runtime.ports.files import explain, write_atomic
from aisimc_runtime.ports.processes import Finished, Processes
from aisimc_runtime.store.content import Store
from aisimc_runtime.store.mirrors import mirror_path

_FETCH_TIMEOUT_S = 3600.0
_TIMEOUT_S = 600.0
_OFF = (
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.attributesFile=/dev/null",
    "core.autocrlf=false",
    "core.symlinks=true",
    "submodule.recurse=false",
    "fetch.recurseSubmodules=false",
    "protocol.ext.allow=never",
    "gc.auto=0",
    "maintenance.auto=false",
    "advice.detachedHead=false",
)
_ATTRIBUTES = "* !text !eol !crlf !ident !filter !working-tree-encoding !export-subst !export-ignore\n"
"""Stands in the mirror's `info/attributes`, which wins over any `.gitattributes` of a commit."""


@dataclass(frozen=True, slots=True)
class Mirror:
    """A bare repository in the store that holds the commits fetched from one remote."""

    folder: Path
    repository: str
    processes: Processes

    @classmethod
    def of(cls, store: Store, repository: str, processes: Processes) -> Mirror:
        """The mirror of a repository, made when it is not there. Raises `Blocked`."""
        # Apart from the shallow mirrors of trace repositories: ancestry needs whole histories.
        mirror = cls(mirror_path(store, repository, history=True), repository, processes)
        if not mirror._attributes.is_file():
            mirror._make()
        return mirror

    @property
    def _attributes(self) -> Path:
        return self.folder / "info" / "attributes"

    def _make(self) -> None:
        from filelock import FileLock

        try:
            self.folder.parent.mkdir(parents=True, exist_ok=True)
            with FileLock(f"{self.folder}.lock"):
                self._must("init", "--quiet", "--bare", "--template=", str(self.folder))
                self._attributes.parent.mkdir(exist_ok=True)
                # Last, because it is how the mirror is known to be whole.
                write_atomic(self._attributes, _ATTRIBUTES.encode())
        except OSError as error:
            raise explain(error, f"cannot make {self.folder}") from error

    def fetch(self, commit: str) -> None:
        """Bring a commit with its history into the mirror. Raises `Blocked` when it cannot be had."""
        from filelock import FileLock

        with FileLock(f"{self.folder}.lock"):
            if self.has(commit):
                return
            keep = f"refs/aisimc/{commit}"
            reason = self._fetch(f"{commit}:{keep}")
            if reason is not None and not self.has(commit):
                # Some servers hand out only what a branch or tag names; then take those and look again.
                reason = self._fetch("+refs/heads/*:refs/remote/heads/*", "+refs/tags/*:refs/remote/tags/*") or reason
            if not self.has(commit):
                raise Blocked(
                    f"{self.repository} does not give commit {commit[:12]}…: {reason or 'it has no such commit'}",
                    help="check the address, the network and the commit id; a mirror's file:// address works too",
                )
            self._must("update-ref", keep, commit)

    def has(self, commit: str) -> bool:
        """Whether the mirror holds the commit and everything that it reaches."""
        if self._git("cat-file", "-e", f"{commit}^{{commit}}").status != 0:
            return False
        return self._git("rev-list", "--objects", "--quiet", "--max-count=1", commit).status == 0

    def tree(self, commit: str) -> str:
        """The id of a commit's tree. Raises `Blocked`."""
        return self._must("rev-parse", f"{commit}^{{tree}}").strip()

    def is_ancestor(self, earlier: str, later: str) -> bool:
        """Whether `earlier` is in the history of `later`. Raises `Blocked` when git cannot say."""
        done = self._git("merge-base", "--is-ancestor", earlier, later)
        if done.status not in (0, 1):
            raise Blocked(f"git cannot compare {earlier[:12]} with {later[:12]}: {_last_line(done.stderr)}")
        return done.status == 0

    def worktree(self, commit: str, folder: Path) -> None:
        """Check a commit out, detached, into a folder of ours; exact and clean, or `Blocked`."""
        from filelock import FileLock

        with FileLock(f"{self.folder}.lock"):
            if folder.exists():
                shutil.rmtree(folder)
            self._must("worktree", "prune")
            self._must("worktree", "add", "--quiet", "--force", "--detach", str(folder), commit)
        at = self._must("rev-parse", "HEAD", cwd=folder).strip()
        if at != commit:
            raise Blocked(f"the worktree of {commit[:12]} stands at {at[:12]}")
        changed = self._must("status", "--porcelain", "--untracked-files=all", "--ignored", cwd=folder)
        if changed.strip():
            first = changed.splitlines()[0].strip()
            raise Blocked(f"the worktree of {commit[:12]} is not clean after its checkout: {first}")

    def _fetch(self, *refspecs: str) -> str | None:
        """Fetch; None when git says it worked, else its reason in one line."""
        done = self._git(
            "fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules",
            "--", self.repository, *refspecs, personal=True, timeout_s=_FETCH_TIMEOUT_S,
        )  # fmt: skip
        if done.timed_out:
            return f"no end within {_FETCH_TIMEOUT_S:.0f} s"
        return None if done.status == 0 else _last_line(done.stderr)

    def _must(self, *arguments: str, cwd: Path | None = None) -> str:
        done = self._git(*arguments, cwd=cwd)
        if done.status != 0:
            raise Blocked(f"git {arguments[0]} failed for {self.repository}: {_last_line(done.stderr)}")
        return done.stdout

    def _git(
        self, *arguments: str, cwd: Path | None = None, personal: bool = False, timeout_s: float = _TIMEOUT_S
    ) -> Finished:
        settings = [part for setting in _OFF for part in ("-c", setting)]
        place = [] if cwd is not None or arguments[0] == "init" else ["--git-dir", str(self.folder)]
        argv = ["git", *settings, *place, *arguments]
        try:
            return self.processes.run(
                argv, cwd=cwd, env=_environment(personal), timeout_s=timeout_s, keep_bytes=16 << 20
            )
        except FileNotFoundError as error:
            raise Blocked(
                "git is not installed, and this campaign takes its revisions from a git repository",
                help="install git, or use wheels or the embedded engine",
            ) from error


def _environment(personal: bool) -> Mapping[str, str]:
    """Git's variables. Only a fetch (`personal`) sees the user's configuration: credentials and proxies live there."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    if personal:
        kept |= {name: value for name, value in os.environ.items() if name in ("GIT_SSH", "GIT_SSH_COMMAND")}
    else:
        kept |= {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull}
    return kept | {
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_LFS_SKIP_SMUDGE": "1",
        "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_TERMINAL_PROMPT": "0",
        "LC_ALL": "C",
    }


def _last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    for line in lines:
        if line.startswith(("fatal:", "error:")):
            return line.split(": ", 1)[1]
    return lines[-1] if lines else "no message"


def outside_links(folder: Path) -> list[str]:
    """Symbolic links in a worktree that lead out of it, by relative path."""
    found = []
    root = folder.resolve()
    for parent, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name != ".git"]
        for name in (*folders, *names):
            path = Path(parent) / name
            if path.is_symlink() and not path.resolve().is_relative_to(root):
                found.append(path.relative_to(folder).as_posix())
    return sorted(found)
