"""The common forms of `check` and `fmt` without click. Whatever is not plainly one of them is left to click."""

from __future__ import annotations

from collections.abc import Sequence

from aisimc_runtime.command.choices import COLOURS, FORMATS

_CHOICES: dict[str, dict[str, tuple[str, ...]]] = {
    "check": {"--format": FORMATS, "--color": COLOURS},
    "fmt": {"--color": COLOURS},
}
_FLAGS = {"check": ("--fix",), "fmt": ("--check", "--diff")}


def quick(arguments: Sequence[str]) -> int | None:
    """Run `check …` or `fmt …`; None (and nothing done) where click has to look at the command line."""
    verb = arguments[0]
    options = dict[str, str]()
    flags: set[str] = set()
    files: list[str] = []
    rest = iter(arguments[1:])
    for argument in rest:
        name, equals, value = argument.partition("=")
        if name in _CHOICES[verb]:
            value = value if equals else next(rest, "")
            if value not in _CHOICES[verb][name]:
                return None
            options[name] = value
        elif argument in _FLAGS[verb]:
            flags.add(argument)
        elif argument == "-" or not argument.startswith("-"):
            files.append(argument)
        else:
            return None
    if not files:
        return None
    if verb == "check":
        from aisimc_runtime.command.checking import check

        return check(files, options.get("--format", "text"), options.get("--color", "auto"), "--fix" in flags)
    from aisimc_runtime.command.formatting import format_files

    colour = options.get("--color", "auto")
    return format_files(files, check="--check" in flags, diff="--diff" in flags, colour=colour)
