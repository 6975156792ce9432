"""A trace out of a git repository at a pinned commit, through a bare mirror in the store.

The commit alone is fetched, without its history; hooks, configuration files, credentials and prompts are off.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import IO

from aisimc_runtime.failures import Blocked
from aisimc_runtime.ports.files import explain
from aisimc_runtime.ports.processes import Finished, Processes
from aisimc_runtime.store.content import Store
from aisimc_runtime.store.mirrors import mirror_path

FETCH_TIMEOUT_S = 1800.0
GIT = (
    "git",
    "-c", "core.hooksPath=/dev/null",
    "-c", "credential.helper=",
    "-c", "protocol.ext.allow=never",
    "-c", "gc.auto=0",
    "-c", "advice.detachedHead=false",
)  # fmt: skip


def git_environment() -> dict[str, str]:
    """The environment of every git that the runtime starts: no configuration files, no prompts, English words."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_") or "SSL" in name}
    return kept | {
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_ASKPASS": "true",
        "SSH_ASKPASS": "true",
        "GIT_SSH_COMMAND": "ssh -o BatchMode=yes",
        "LC_ALL": "C",
    }


def fetch_blob(repository: str, commit: str, path: str, sink: IO[bytes], store: Store, processes: Processes) -> None:
    """Write the file at `path` in `commit` of `repository` into `sink`. Raises `Blocked`."""
    from filelock import FileLock, Timeout  # costs more than a small campaign's whole start

    mirror = mirror_path(store, repository, history=False)
    try:
        mirror.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(mirror.with_suffix(".lock"), timeout=FETCH_TIMEOUT_S):
            _ensure(mirror, repository, commit, processes)
        done = _git(processes, mirror, "cat-file", "blob", f"{commit}:{path}", stdout=sink)
    except Timeout as error:
        raise Blocked(f"another run has been fetching {repository} for too long", help="run again") from error
    except OSError as error:
        raise explain(error, f"cannot fetch {repository}") from error
    if done.status != 0:
        if "does not exist" in done.stderr or "Not a valid object" in done.stderr or "bad file" in done.stderr:
            raise Blocked(f"{repository} has no file {path} at commit {commit[:12]}…")
        raise _trouble(repository, done)


def _ensure(mirror: Path, repository: str, commit: str, processes: Processes) -> None:
    """Have the commit's objects in the mirror."""
    if not (mirror / "HEAD").is_file():
        done = _run(processes, [*GIT, "init", "--quiet", "--bare", str(mirror)])
        if done.status != 0:
            raise _trouble(repository, done)
    if _has(mirror, commit, processes):
        return
    done = _git(processes, mirror, "fetch", "--quiet", "--depth", "1", "--no-tags", repository, commit)
    if done.status != 0 and ("not our ref" in done.stderr or "unadvertised object" in done.stderr):
        # a server that gives out no single commits: take its branches instead
        heads = "+refs/heads/*:refs/heads/*"
        done = _git(processes, mirror, "fetch", "--quiet", "--no-tags", repository, heads)
        if done.status == 0 and not _has(mirror, commit, processes):
            raise Blocked(f"{repository} has no commit {commit}")
    if done.status != 0:
        raise _trouble(repository, done)
    if not _has(mirror, commit, processes):
        raise Blocked(f"{repository} has no commit {commit}")


def _has(mirror: Path, commit: str, processes: Processes) -> bool:
    return _git(processes, mirror, "cat-file", "-e", f"{commit}^{{tree}}").status == 0


def _git(processes: Processes, mirror: Path, *words: str, stdout: IO[bytes] | None = None) -> Finished:
    return _run(processes, [*GIT, "--git-dir", str(mirror), *words], stdout)


def _run(processes: Processes, argv: list[str], stdout: IO[bytes] | None = None) -> Finished:
    try:
        return processes.run(argv, env=git_environment(), timeout_s=FETCH_TIMEOUT_S, stdout=stdout)
    except FileNotFoundError as error:
        raise Blocked("git is not installed, and the trace is pinned in a git repository") from error


def _trouble(repository: str, done: Finished) -> Blocked:
    """git's failure as one line."""
    lines = [line for line in done.stderr.strip().splitlines() if line.strip()]
    reason = next((line for line in lines if line.startswith("fatal:")), lines[-1] if lines else "git failed")
    if done.timed_out:
        reason = "it took too long"
    offline = ("Could not resolve host", "Failed to connect", "Connection", "unable to access", "timed out")
    if any(word in done.stderr for word in offline):
        return Blocked(f"cannot fetch {repository}: {reason.removeprefix('fatal: ')}")
    return Blocked(f"cannot fetch from {repository}: {reason.removeprefix('fatal: ')}")
