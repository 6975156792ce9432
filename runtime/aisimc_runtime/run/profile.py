"""A profile: where and with how much a plan is carried out. It never changes the plan, nor its digest."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from aisimc_compiler.model.nearest import nearest
from aisimc_runtime.failures import Refused
from aisimc_runtime.ports.named import meant, regular, why
from aisimc_runtime.run.cpulist import parse_cpus
from aisimc_runtime.run.job import Limits

SIZES = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40}
SCHEMA_NAME = "profile.schema.json"
SPANS_S = {"ms": 0.001, "s": 1.0, "min": 60.0, "h": 3600.0}


@dataclass(frozen=True, slots=True)
class Profile:
    """The settings of one `--profile` file, with the command line's own laid over them."""

    executor: str = "local"
    jobs: int | None = None
    """Replays at once on a node; None: as many as its CPUs allow."""
    cpus: tuple[int, ...] | None = None
    """CPUs that may be used; None: those this process may run on."""
    cpus_per_replay: int = 1
    limits: Limits = field(default_factory=Limits)
    store: Path | None = None
    slurm: dict[str, Any] = field(default_factory=dict)
    """The `slurm` section, checked by the schema; the Slurm executor reads it."""
    source: Path | None = None


def load_profile(path: Path) -> Profile:
    """Read and check a profile. Raises `Refused` with every mistake and its line."""
    data = _checked(path)
    limits = data.get("limits", {})
    default = Limits()
    return Profile(
        executor=data.get("executor", "local"),
        jobs=data.get("jobs"),
        cpus=None if "cpus" not in data else parse_cpus(data["cpus"]),
        cpus_per_replay=data.get("cpus_per_replay", 1),
        limits=Limits(
            time_s=span_s(limits["time"]) if "time" in limits else default.time_s,
            memory_bytes=size_bytes(limits["memory"]) if "memory" in limits else default.memory_bytes,
            output_bytes=size_bytes(limits["output"]) if "output" in limits else default.output_bytes,
            processes=limits.get("processes", default.processes),
        ),
        store=None if "store" not in data else (path.parent / Path(data["store"]).expanduser()).resolve(),
        slurm=dict(data.get("slurm", {})),
        source=path,
    )


def span_s(text: str | int | float) -> float:
    """`30 min` → 1800.0; a bare number is seconds."""
    if isinstance(text, (int, float)):
        return float(text)
    number, unit = _quantity(text)
    return number * SPANS_S[unit]


def size_bytes(text: str | int) -> int:
    """`8 GiB` → 8589934592; a bare number is bytes."""
    if isinstance(text, int):
        return text
    number, unit = _quantity(text)
    return int(number * SIZES[unit])


def _quantity(text: str) -> tuple[float, str]:
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([A-Za-z]+)\s*", text)
    assert match is not None, "the schema admits only quantities"
    return float(match[1]), match[2]


def _checked(path: Path) -> dict[str, Any]:
    from jsonschema import Draft202012Validator
    from ruamel.yaml import YAML
    from ruamel.yaml.error import MarkedYAMLError

    try:
        text = regular(path, f"the profile {path}").read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise Refused(f"the profile {path} cannot be read: not UTF-8 text") from error
    except OSError as error:
        raise Refused(f"the profile {path} cannot be read: {why(error)}", help=meant(str(path))) from error
    try:
        data = YAML(typ="rt").load(text)
    except MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise Refused(f"{path}:{line}: {error.problem or 'this is not YAML'}") from error
    if data is None:
        return {}
    errors = Draft202012Validator(schema()).iter_errors(data)
    problems = sorted(problem for error in errors for problem in _problems(data, error))
    if problems:
        lines = [f"{path}:{line}: {message}" for line, message in problems]
        raise Refused("\n".join(lines), help="docs/profile.md has a table of every key")
    return dict(data)


def _problems(data: Any, error: Any) -> Iterator[tuple[int, str]]:
    """Line (1-based) and words of what one schema error is about: every unknown key, or one value."""
    steps = list(error.absolute_path)
    if error.validator == "additionalProperties":
        known = list(error.schema.get("properties", {}))
        for key in error.instance:
            if key not in known:
                yield _line(data, [*steps, key]), _unknown([*steps, key], known)
        return
    where = ".".join(str(step) for step in steps)
    wanted = error.schema.get("description") or error.message
    yield _line(data, steps), f"`{where}`: {wanted}" if where else str(wanted)


def _line(data: Any, steps: Sequence[Any]) -> int:
    """Line of the key at the end of `steps`, from the positions that the YAML reader keeps (1-based)."""
    line, node = 0, data
    for step in steps:
        marks = getattr(node, "lc", None)
        if marks is None:
            break
        line = marks.key(step)[0] if isinstance(node, dict) else marks.item(step)[0]
        node = node[step] if not isinstance(node, dict) or step in node else None
    return line + 1


def _unknown(steps: Sequence[Any], known: list[str]) -> str:
    near = nearest(str(steps[-1]), known)
    hint = f"; did you mean `{near}`?" if near else "; known: " + ", ".join(known)
    return f"unknown key `{'.'.join(str(step) for step in steps)}`{hint}"


def schema() -> dict[str, Any]:
    """The JSON Schema of profiles, as it ships with the runtime."""
    import json
    from importlib.resources import files

    loaded: dict[str, Any] = json.loads((files("aisimc_runtime") / "schemas" / SCHEMA_NAME).read_bytes())
    return loaded
