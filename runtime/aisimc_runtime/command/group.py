"""The click group of all verbs; a verb pays only for what it imports itself."""

from __future__ import annotations

import importlib
from typing import Any

import click

from aisimc_compiler.model.nearest import nearest
from aisimc_runtime.command.main import VERBS, interrupted, usage


class _Ended(Exception):
    """The user's Ctrl-C under a name that click does not know: it would print an empty line of its own."""


class LazyGroup(click.Group):
    """Imports the module of a verb when the verb is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in VERBS:
            return None
        module: Any = importlib.import_module(f"aisimc_runtime.command.{VERBS[cmd_name][0]}")
        command: click.Command = module.command
        command.name = cmd_name
        command.context_settings.setdefault("help_option_names", ["-h", "--help"])
        return command

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[Any, Any, list[str]]:
        verb = args[0] if args else ""
        if verb not in VERBS and not verb.startswith("-"):
            meant = nearest(verb, VERBS)
            hint = f" Did you mean `{meant}`?" if meant else ""
            raise click.UsageError(f"No such command `{verb}`.{hint}", ctx)
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except (KeyboardInterrupt, click.Abort) as error:
            raise _Ended from error

    def get_help(self, ctx: click.Context) -> str:
        return usage().rstrip("\n")


def run_group(arguments: list[str]) -> int:
    """Run a command line through click; the exit status (2 where the command line is refused)."""
    group = LazyGroup("aisimc", context_settings={"help_option_names": ["-h", "--help"]})
    try:
        result = group.main(arguments, prog_name="aisimc", standalone_mode=False)
    except click.exceptions.Exit as end:
        return end.exit_code
    except _Ended:
        return interrupted()
    except click.UsageError as error:
        if isinstance(error, click.exceptions.NoArgsIsHelpError):
            click.echo(error.ctx.get_help())
            return 2
        click.echo(f"aisimc: error: {error.format_message()}", err=True)
        path = "aisimc" if error.ctx is None else error.ctx.command_path
        click.echo(f"  help: `{path} --help` shows what there is", err=True)
        return 2
    except click.ClickException as error:
        click.echo(f"aisimc: error: {error.format_message()}", err=True)
        return 2
    return result if isinstance(result, int) else 0
