"""`aisimc lsp`: serve editors over standard input and output."""

from __future__ import annotations

import click

from aisimc_runtime.failures import Refused

INSTALL = "`make setup` in a checkout of aisimc has it; elsewhere `pip install 'PATH[lsp]'`, PATH being the checkout"


@click.command()
def command() -> None:
    """Serve editors over the language server protocol, on standard input and output.

    Editors start it themselves; docs/editors.md has the lines for VS Code, Neovim and Helix. It needs pygls: `make
    setup` in a checkout of aisimc has it; elsewhere `pip install 'PATH[lsp]'`, PATH being the checkout.
    """
    try:
        from aisimc_runtime.lsp.server import create
    except ModuleNotFoundError as error:
        if error.name not in ("pygls", "lsprotocol"):
            raise
        raise Refused("the language server needs pygls", help=INSTALL) from error
    create().start_io()
