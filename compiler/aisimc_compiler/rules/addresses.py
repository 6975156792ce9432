"""Addresses of repositories as written: no secrets, for the plan and every report repeat them, and no commands."""

from __future__ import annotations

from aisimc_compiler.diagnostics.model import Diagnostic
from aisimc_compiler.model.campaign import Given

_WEB = ("http", "https")


def address_fault(rule: str, given: Given[str]) -> Diagnostic | None:
    """A refusal of an address that carries a password or token, that names a command, or that is an option."""
    from aisimc_compiler.rules.refusal import refuse_value

    text = given.value.strip()
    scheme, mark, rest = text.partition("://")
    user, at, _ = rest.partition("/")[0].rpartition("@")
    if mark and at and (":" in user or scheme.lower() in _WEB):
        return refuse_value(
            rule,
            given,
            "the repository's address carries a user or a secret of its own",
            label="the plan and every report would repeat it",
            help=f"write `{scheme}://{rest.rpartition('@')[2]}`; git finds credentials through its own helpers",
        )
    if text.startswith("-"):
        return refuse_value(
            rule, given, f"`{text}` is an option of git, not a repository", label="starts with `-`",
            help="name the repository by its address or path",
        )  # fmt: skip
    transport = text.partition("::")[0]
    if not mark and "::" in text and transport.isalnum():
        return refuse_value(
            rule, given, f"`{transport}::` runs a helper program instead of naming a repository",
            label="not an address", help="name the repository by its address or path",
        )  # fmt: skip
    return None
