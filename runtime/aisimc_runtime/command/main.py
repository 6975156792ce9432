"""The `aisimc` command.

The common forms of `check` and `fmt`, `--version` and `--help` are answered before click is imported, which costs as
much as they do; every other command line goes to click, whose answers to the common ones are the same.
"""

from __future__ import annotations

import os
import sys

from aisimc_runtime.command import streams

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
    "schema": ("schema", "Print the JSON Schema of a file or output that programs read"),
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
    """Entry point of the console script: runs the command line and ends the process with its exit status."""
    streams.prepare()
    try:
        quick = _quick(sys.argv[1:])
        status = _run(sys.argv[1:]) if quick is None else quick
        if not sys.stdout.closed:  # an editor that said `exit` has taken its pipe along
            sys.stdout.flush()
        if quick is not None:
            sys.stderr.flush()
            # Taking the interpreter down object by object costs as much as parsing did; there is nothing to clean up.
            os._exit(status)
    except KeyboardInterrupt:
        status = interrupted()
    except OSError as error:
        status = _unwritten(error)
    except Exception as error:
        status = _unexpected(error)
    sys.exit(status)


def interrupted() -> int:
    """Say that the user ended a verb that has nothing of its own to say about it; the exit status, 130."""
    # The terminal shows `^C` where the cursor is: what is said begins a line of its own.
    start = "\n" if sys.stderr.isatty() else ""
    sys.stderr.write(
        f"{start}aisimc: error: ended by SIGINT; no file is half-written\n  help: the same command starts again\n"
    )
    return 130


def _unwritten(error: OSError) -> int:
    """Exit 3 for a disk or node that gave up; without a file's name it was standard output that took no more."""
    if os.environ.get("AISIMC_TRACEBACK"):
        raise error
    place = error.filename if error.filename is not None else "standard output"
    if error.filename is None:
        streams.discard_output()
    import contextlib

    with contextlib.suppress(OSError):
        sys.stderr.write(f"aisimc: error: {place}: {(error.strerror or str(error)).lower()}\n")
    return 3


def _quick(arguments: list[str]) -> int | None:
    """Answer a command line of which the form is plain; None where click has to look at it."""
    if os.environ.get("_AISIMC_COMPLETE"):
        return None
    if arguments in (["--version"], ["-V"]):
        from aisimc_runtime import __version__

        sys.stdout.write(f"aisimc {__version__}\n")
        return 0
    if arguments in ([], ["--help"], ["-h"]):
        sys.stdout.write(usage())
        return 0 if arguments else 2
    if arguments[0] not in ("check", "fmt"):
        return None
    import gc

    gc.disable()  # a short life, and hardly a cycle in it
    from aisimc_runtime.command.quick import quick

    return quick(arguments)


def _run(arguments: list[str]) -> int:
    """Hand a command line to click."""
    import gc

    gc.enable()
    from aisimc_runtime.command.group import run_group

    return run_group(arguments)


def usage() -> str:
    """The text of `aisimc --help`."""
    rows = "".join(f"  {verb:<10} {line}\n" for verb, (_, line) in VERBS.items())
    return (
        "Usage: aisimc [OPTIONS] COMMAND [ARGS]...\n\n"
        "  Qualify a candidate revision of AI Simulate against a pinned baseline.\n\n"
        "Options:\n"
        "  -V, --version  Show the version and exit.\n"
        "  -h, --help     Show this message and exit.\n\n"
        f"Commands:\n{rows}\n"
        "`aisimc COMMAND --help` shows a command's options.\n"
        "Exit status: 0 pass or valid, 1 fail or different, 2 refused, 3 could not be carried out,\n"
        "4 performance undecided, 130 interrupted.\n"
    )


def _unexpected(error: Exception) -> int:
    from aisimc_runtime.failures import Failure

    if isinstance(error, Failure):
        sys.stderr.write(error.text())
        return int(error.exit)
    if os.environ.get("AISIMC_TRACEBACK"):
        raise error
    sys.stderr.write(f"aisimc: error: this is a mistake in aisimc itself: {type(error).__name__}: {error}\n")
    sys.stderr.write("  help: set AISIMC_TRACEBACK=1 to see where, and report it\n")
    return 3
