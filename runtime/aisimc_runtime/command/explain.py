"""`aisimc explain`: what a rule is for, a mistake and its mend."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Iterable

import click
from click.shell_completion import CompletionItem

from aisimc_compiler.model.nearest import nearest
from aisimc_compiler.rules.refusal import did_you_mean
from aisimc_compiler.rules.registry import RULES, RuleInfo
from aisimc_runtime.command.choices import COLOURS
from aisimc_runtime.command.terminal import wants_colour
from aisimc_runtime.failures import Refused

EPILOG = """\b
Examples:
  aisimc explain                 # every rule in a line
  aisimc explain pin.commit
  aisimc explain AC0101
  aisimc explain row             # the rules of one section
"""

_WIDTH = 100


def complete(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Rules, sections and, once an `A` is typed, codes that begin with what is typed; for the shell."""
    wanted = incomplete.lower()
    items = [CompletionItem(info.name, help=info.title) for info in RULES.values()]
    items += [CompletionItem(section, help="all its rules") for section in sorted(_sections())]
    if wanted:
        items += [CompletionItem(info.code, help=info.name) for info in RULES.values()]
    return [item for item in items if item.value.lower().startswith(wanted)]


@click.command(epilog=EPILOG)
@click.argument("names", nargs=-1, metavar="[RULE|CODE|SECTION]...", shell_complete=complete)
@click.option(
    "--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True, help="Format."
)
@click.option("--color", "colour", type=click.Choice(COLOURS), default="auto", show_default=True, help="Colours.")
def command(names: tuple[str, ...], form: str, colour: str) -> None:
    """Explain rules by name, code or section; without one, list them all."""
    found = [info for name in names for info in _find(name)] if names else list(RULES.values())
    if form == "json":
        from json import dumps

        click.echo(dumps({"rules": [info._asdict() for info in found]}, indent=2))
        return
    paint = wants_colour(colour, sys.stdout)
    sections = bool(names) and all(name in _sections() for name in names)
    if not names or (sections and len(found) > 1):
        click.echo(listing(found, paint), nl=False)
        return
    click.echo("\n".join(explanation(info, paint) for info in found), nl=False)


def _sections() -> set[str]:
    return {name.partition(".")[0] for name in RULES if "." in name}


def _find(name: str) -> list[RuleInfo]:
    """The rules that a name, a code or a section means. Raises Refused with the nearest ones."""
    wanted = name.strip().lower()
    exact = [info for info in RULES.values() if wanted in (info.name, info.code.lower())]
    if exact:
        return exact
    section = [info for info in RULES.values() if info.name.partition(".")[0] == wanted]
    if section:
        return section
    raise Refused(f"there is no rule `{name}`", help=_meant(wanted))


def _meant(wanted: str) -> str:
    """The help that names what was meant: rules whose last word it is, or what is a slip of the pen away."""
    words = {rule: rule.partition(".")[2] for rule in RULES if "." in rule}
    known = (*RULES, *sorted(_sections()), *(info.code for info in RULES.values()))
    slip = nearest(wanted, known) if wanted not in words.values() else None
    word = nearest(wanted, words.values())
    near = [slip] if slip else [rule for rule in words if words[rule] == word]
    return did_you_mean("` or `".join(near), "`aisimc explain` lists them all")


def listing(rules: Iterable[RuleInfo], colour: bool) -> str:
    """One line for each rule, section by section."""
    rows: list[str] = []
    section = None
    for info in rules:
        if info.code[:4] != section:
            if section is not None:
                rows.append("")
            section = info.code[:4]
        code = f"\x1b[2m{info.code}\x1b[0m" if colour else info.code
        name = f"{info.name:<22}"
        shown = f"\x1b[1m{name}\x1b[0m" if colour else name
        rows.append(f"{code}  {shown}  {info.title}")
    return "\n".join(rows) + "\n"


def explanation(info: RuleInfo, colour: bool) -> str:
    """The whole text about one rule."""

    def bold(text: str) -> str:
        return f"\x1b[1m{text}\x1b[0m" if colour else text

    parts = [
        f"{bold(f'{info.code} {info.name}')}: {info.title}",
        f"{bold('Why')}: {info.reason}.",
        f"{bold('Checked')}: {info.where}. {bold('Source')}: {info.source}.",
    ]
    wrapped = [textwrap.fill(part, _WIDTH, break_on_hyphens=False) for part in parts]
    blocks = [
        f"{bold(title)}:\n{textwrap.indent(text, '    ')}"
        for title, text in (("A mistake", info.example), ("Its mend", info.mend))
        if text
    ]
    return "\n\n".join([*wrapped, *blocks]) + "\n"
