"""From a branch, tag or short id to the full commit id, by asking git."""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from pathlib import Path

from aisimc_runtime.failures import Blocked

FULL = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_SHORT = re.compile(r"[0-9a-f]{4,63}")
_TIMEOUT_S = 300


def resolve(repository: str, revision: str, folder: Path) -> str:
    """The full id of the commit that a branch, tag, `HEAD` or short id names in a repository now.

    A relative repository path is taken from `folder`. Raises `Blocked` when git is missing, the repository cannot
    be reached, or the name means nothing or more than one commit there.
    """
    where = _location(repository, folder)
    listed = _git("ls-remote", "--", where, cwd=folder)
    refs = {name: commit for commit, _, name in (line.partition("\t") for line in listed.splitlines())}
    for name in (revision, f"refs/tags/{revision}^{{}}", f"refs/tags/{revision}", f"refs/heads/{revision}"):
        if name in refs:
            return refs[name]
    if _SHORT.fullmatch(revision.lower()):
        return _expand(where, revision.lower(), folder)
    raise Blocked(
        f"{repository} has no branch, tag or commit named {revision!r}",
        help="`git ls-remote` lists the names it has",
    )


def _expand(where: str, short: str, folder: Path) -> str:
    """A short id needs the history: commits without trees and files are enough, and cheap."""
    with tempfile.TemporaryDirectory(prefix="aisimc-pin-") as scratch:
        _git("init", "--quiet", "--bare", scratch, cwd=folder)
        _git("fetch", "--quiet", "--filter=tree:0", "--", where, "+refs/*:refs/remote/*", cwd=Path(scratch))
        try:
            return _git("rev-parse", "--verify", "--quiet", f"{short}^{{commit}}", cwd=Path(scratch)).strip()
        except Blocked as reason:
            raise Blocked(
                f"{where} has no single commit whose id starts with {short}",
                help="give more digits, or the branch or tag that holds it",
            ) from reason


def _location(repository: str, folder: Path) -> str:
    local = folder / repository
    if "://" not in repository and local.exists():
        return str(local.resolve())
    return repository


def _git(*arguments: str, cwd: Path) -> str:
    environment = {
        **os.environ,
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "LC_ALL": "C",
    }
    try:
        done = subprocess.run(
            ["git", *arguments],
            cwd=cwd,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_TIMEOUT_S,
            check=False,
        )
    except FileNotFoundError as reason:
        raise Blocked("git is not installed", help="install git, or write the full commit id by hand") from reason
    except subprocess.TimeoutExpired as reason:
        raise Blocked(f"git {arguments[0]} gave no answer within {_TIMEOUT_S} s") from reason
    if done.returncode != 0:
        lines = done.stderr.strip().splitlines()
        raise Blocked(f"git {arguments[0]}: {lines[-1] if lines else 'failed without a message'}")
    return done.stdout
