"""The `aisimc` command: a lazy group, so that a verb pays only for what it imports itself."""

from __future__ import annotations

import importlib
import sys
from typing import Any

VERBS: dict[str, tuple[str, str]] = {
    # verb: (module under aisimc_runtime.command, one line for --help)
    "check": ("check", "Say everything that is wrong with a campaign, before anything runs"),
    "plan": ("plan", "Show what a campaign would do (dry run)"),
    "run": ("run", "Run a campaign, or continue one, and give its verdict"),
    "report": ("report", "Write the report of a run again, from its folder alone"),
    "verify": ("verify", "Check every digest and the verdict of a run again"),
    "diff": ("diff", "Show where two records first part, and how they differ"),
    "cancel": ("cancel", "End the cluster jobs that a run submitted"),
    "explain": ("explain", "Explain a rule: its reason, a mistake and its mend"),
    "fmt": ("fmt", "Format campaign files"),
    "pin": ("pin", "Fill in commits, hashes and checksums that are missing or moving"),
    "new": ("new", "Write a campaign to start from"),
    "import": ("import_", "Turn a folder of AI Simulate configurations into a campaign"),
    "store": ("store", "Look after the content store: add, ls, verify, gc"),
    "golden": ("golden", "Record golden points from qualified runs"),
    "requalify": ("requalify", "Find the nearest stable capacity of a row on the baseline"),
    "lsp": ("lsp", "Serve editors over the language server protocol"),
}


def main() -> None:
    """Entry point of the console script."""
    if sys.argv[1:] in (["--version"], ["-V"]):
        from importlib.metadata import version

        sys.stdout.write(f"aisimc {version('aisimc')}\n")
        return
    run_group()


def run_group() -> None:
    """Build the click group and hand it the command line."""
    import click

    class LazyGroup(click.Group):
        def list_commands(self, ctx: click.Context) -> list[str]:
            return list(VERBS)

        def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
            if cmd_name not in VERBS:
                return None
            module: Any = importlib.import_module(f"aisimc_runtime.command.{VERBS[cmd_name][0]}")
            command: click.Command = module.command
            return command

        def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
            with formatter.section("Commands"):
                formatter.write_dl([(verb, line) for verb, (_, line) in VERBS.items()])

    group = LazyGroup("aisimc", help="Qualify a candidate revision of AI Simulate against a pinned baseline.")
    group(prog_name="aisimc")
