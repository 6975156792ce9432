"""A git repository in AI Simulate's layout, made by a test: `crates/core` is the reference core."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

from aisimc_runtime.engines import sources


class Repository:
    """A repository whose commits are made one by one from files."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True)
        self.git("init", "--quiet", "--initial-branch=main")

    @property
    def url(self) -> str:
        """Its address for a campaign."""
        return f"file://{self.folder}"

    def git(self, *arguments: str) -> str:
        """Run git in it, with nobody's configuration."""
        names = {
            f"GIT_{role}_{part}": "test@example.org" for role in ("AUTHOR", "COMMITTER") for part in ("NAME", "EMAIL")
        }
        env = os.environ | names | {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
        done = subprocess.run(["git", *arguments], cwd=self.folder, env=env, capture_output=True, text=True, check=True)
        return done.stdout.strip()

    def commit(self, files: Mapping[str, bytes | None], message: str = "A change") -> str:
        """Write (None: delete) files and commit them; the commit's full id."""
        for name, data in files.items():
            path = self.folder / name
            if data is None:
                path.unlink()
            else:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(data)
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", message)
        return self.git("rev-parse", "HEAD")


def core_files(prefix: str = "crates/core/") -> dict[str, bytes]:
    """The reference core's sources, placed as AI Simulate places its core."""
    return {prefix + name: data for name, data in sources.package_files(sources.shipped(sources.CORE)).items()}


def workspace_files() -> dict[str, bytes]:
    """The top of such a repository: a workspace around the core, with the lock file that fits it."""
    return {
        "Cargo.toml": b'[workspace]\nresolver = "3"\nmembers = ["crates/core"]\n',
        "Cargo.lock": sources.runner_files()["Cargo.lock"],
    }
