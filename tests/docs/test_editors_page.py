"""docs/editors.md: what it tells people to install is what the project offers, and harms no checkout."""

from __future__ import annotations

import tomllib
from pathlib import Path

from aisimc_runtime.command.lsp import INSTALL, command


def test_a_checkout_has_the_server_and_is_not_told_to_install_over_itself(root: Path) -> None:
    page = (root / "docs" / "editors.md").read_text("utf-8")
    extras = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    assert "aisimc[lsp]" in extras["dev"], "`make setup` installs the extra dev"
    assert any(one.startswith("pygls") for one in extras["lsp"])
    for told in (page, INSTALL, command.help or ""):
        assert "make" in told and "setup" in told and "pip install 'PATH[lsp]'" in told
        assert "'.[lsp]'" not in told, "that would put a frozen copy in the place of the editable install"
