"""Paths that a user named, before anything is opened at them."""

from __future__ import annotations

from pathlib import Path

from aisimc_runtime.failures import Refused

PLAN = "plan.json"
"""The file that makes a folder one of a run: it is written before anything else."""


def regular(path: Path, what: str) -> Path:
    """The path, unless something else than a file stands there. Raises `Refused`.

    A pipe would be waited for, and a device may never end. What is not there, or cannot be reached, is for whoever
    opens it to say.
    """
    try:
        strange = path.exists() and not path.is_file()
    except OSError:
        return path
    if strange:
        raise Refused(f"{what} cannot be read: it is {'a folder' if path.is_dir() else 'not a regular file'}")
    return path


def recordable(path: Path, what: str) -> Path:
    """The path, unless its name is no UTF-8 text: runs and stores note their places in JSON. Raises `Refused`."""
    try:
        str(path).encode()
    except UnicodeEncodeError:
        shown = str(path).encode(errors="backslashreplace").decode()
        raise Refused(f"{what} cannot be at {shown}: the name is not UTF-8 text", help="name another folder") from None
    return path


def why(error: OSError | ValueError) -> str:
    """An error of the file system in the words of this tool, for the end of a sentence."""
    if isinstance(error, FileNotFoundError):
        return "there is no such file"
    if isinstance(error, IsADirectoryError):
        return "it is a folder"
    return ((error.strerror if isinstance(error, OSError) else None) or str(error)).lower()


def unreadable(path: Path, error: OSError | ValueError) -> Refused:
    """What is said of a file that a user named and that cannot be read, with the one that may be meant."""
    return Refused(f"{path} cannot be read: {why(error)}", help=meant(str(path)))


def meant(path: str) -> str:
    """The help that offers the file or folder that a path to nowhere most likely means; empty where there is none."""
    from aisimc_compiler.model.nearest import nearest_file
    from aisimc_compiler.rules.refusal import did_you_mean

    campaign = f"{path}.campaign"
    try:
        whole = campaign if not Path(path).exists() and Path(campaign).is_file() else None
    except (OSError, ValueError):
        return ""
    return did_you_mean(whole or nearest_file(path))


def folder_of_a_run(path: Path) -> Path:
    """The path, where a run has its folder. Raises `Refused`."""
    if not path.exists():
        near = _run_meant(path)
        help_ = f"did you mean `{near}`?" if near else ""
        raise Refused(f"{path} cannot be read: {why(FileNotFoundError())}", help=help_)
    if not (path / PLAN).is_file():
        raise Refused(f"{path} is not the folder of a run", help="`aisimc run` names it when it begins and ends")
    return path


def _run_meant(path: Path) -> Path | None:
    """The run that a path to nowhere most likely means: its name alone, or a slip of the pen."""
    from aisimc_compiler.model.nearest import nearest_file

    near = nearest_file(str(path))
    likely = (Path(".aisimc/runs") / path, *(() if near is None else (Path(near),)))
    return next((place for place in likely if (place / PLAN).is_file()), None)
