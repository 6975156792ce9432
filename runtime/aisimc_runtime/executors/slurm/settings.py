"""The `slurm` section of a profile, as values. Its keys are described in `schemas/profile.schema.json`."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from aisimc_runtime.executors.cluster.states import Patience
from aisimc_runtime.failures import Refused
from aisimc_runtime.run.profile import Profile, size_bytes, span_s

OURS = ("job-name", "comment", "output", "error", "chdir", "requeue", "no-requeue", "parsable", "array", "wrap", "wait")
"""Options of sbatch that the executor sets itself; set otherwise, a job could not be found again."""


@dataclass(frozen=True, slots=True)
class SlurmSettings:
    """One cluster, as the profile describes it."""

    shared: Path
    """A folder of the user's own that login node and compute nodes see under the same name."""
    partition: str | None = None
    account: str | None = None
    constraint: str | None = None
    time_min: int = 60
    """The allocation's time limit, in whole minutes as Slurm counts."""
    cpus_per_row: int = 4
    memory_mib: int | None = None
    options: tuple[str, ...] = ()
    jobs: int = 16
    local_storage: str = ""
    """Where the node stages; empty: its own $TMPDIR, else /tmp."""
    setup: tuple[str, ...] = ()
    python: str | None = None
    poll_s: float = 10.0
    give_up_s: float = 1800.0
    """How long no word from the scheduler and none from the rows is borne before the harness goes away."""
    reruns: int = 3
    patience: Patience = field(default_factory=Patience)


def slurm_settings(profile: Profile) -> SlurmSettings:
    """Read the section. Raises `Refused` for what a schema cannot say."""
    data = profile.slurm
    where = str(profile.source or "the profile")
    if "shared" not in data:
        raise Refused(
            f"{where}: the `slurm` section names no `shared` folder",
            help="`shared: /path` names a folder of your own that login node and compute nodes see alike",
        )
    default = SlurmSettings(shared=Path("/"))
    cpus_per_row = data.get("cpus_per_row", default.cpus_per_row)
    _refuse_one_machine(profile, cpus_per_row, where)
    options = tuple(str(option) for option in data.get("options", ()))
    for option in options:
        _refuse_ours(option, where)
    jobs = profile.jobs if profile.jobs is not None else data.get("jobs", default.jobs)
    return SlurmSettings(
        shared=Path(data["shared"]).expanduser(),
        partition=data.get("partition"),
        account=data.get("account"),
        constraint=data.get("constraint"),
        time_min=max(1, -(-int(span_s(data["time"])) // 60)) if "time" in data else default.time_min,
        cpus_per_row=cpus_per_row,
        memory_mib=None if "memory" not in data else -(-size_bytes(data["memory"]) // (1 << 20)),
        options=options,
        jobs=jobs,
        local_storage=data.get("local_storage", default.local_storage),
        setup=tuple(data.get("setup", ())),
        python=data.get("python"),
        poll_s=span_s(data.get("poll", default.poll_s)),
        give_up_s=span_s(data.get("give_up", default.give_up_s)),
        reruns=data.get("reruns", default.reruns),
        patience=Patience(
            settle_s=span_s(data.get("settle", Patience().settle_s)),
            beat_s=span_s(data.get("heartbeat", Patience().beat_s)),
        ),
    )


def _refuse_one_machine(profile: Profile, cpus_per_row: int, where: str) -> None:
    """What makes sense on one machine only, or cannot fit into a row's allocation."""
    if profile.cpus is not None:
        raise Refused(
            f"{where}: `cpus` names the CPUs of one machine, and Slurm chooses them on each node",
            help="`slurm.cpus_per_row` says how many each row's allocation has",
        )
    if profile.cpus_per_replay > cpus_per_row:
        raise Refused(
            f"{where}: `cpus_per_replay` is {profile.cpus_per_replay}, and a row's allocation has {cpus_per_row}",
            help="give `slurm.cpus_per_row` at least as many; four times as many lets all replays run at once",
        )


def _refuse_ours(option: str, where: str) -> None:
    name = option.lstrip("-").split("=", 1)[0].split(" ", 1)[0]
    if name in OURS or (option.startswith("-") and option[:2] in ("-J", "-o", "-e", "-D", "-a", "-W")):
        raise Refused(
            f"{where}: slurm.options: {option!r} is set by aisimc itself",
            help="job name, comment, log and working folder are how a job is found again; leave them out",
        )


def key_line(profile: Profile, key: str) -> str:
    """`PROFILE:LINE` of a key of the section, or of the section, for messages."""
    if profile.source is None:
        return "the profile"
    from ruamel.yaml import YAML

    try:
        data = YAML(typ="rt").load(profile.source.read_text(encoding="utf-8"))
        section = data["slurm"]
        line = section.lc.key(key)[0] if key in section else data.lc.key("slurm")[0]
    except Exception:  # the file changed since it was read: the name alone still helps
        return str(profile.source)
    return f"{profile.source}:{line + 1}"
