"""What Slurm's commands print, read without asking anything. Seen on 22.05; the formats are asked for by field."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence

from aisimc_runtime.executors.cluster.port import (
    Contradictory,
    JobAnswer,
    JobView,
    Known,
    Phase,
    SubmitAnswer,
    SubmitLater,
    SubmitRefused,
    Submitted,
    SubmitUnclear,
    Unknown,
)

QUEUE_FORMAT = "%i|%T|%r|%N|%j"
"""The name comes last: it is the only field that could hold the separator."""
ACCOUNT_FIELDS = "JobIDRaw,State,NodeList,Start,End,JobName"

PHASES: Mapping[str, Phase] = {
    # the words of squeue(1) and sacct(1), "JOB STATE CODES"
    "PENDING": Phase.WAITING,
    "REQUEUE_FED": Phase.WAITING,
    "REQUEUE_HOLD": Phase.WAITING,
    "REQUEUED": Phase.WAITING,
    "RESV_DEL_HOLD": Phase.WAITING,
    "SPECIAL_EXIT": Phase.WAITING,
    "CONFIGURING": Phase.WAITING,
    "RUNNING": Phase.RUNNING,
    "SUSPENDED": Phase.RUNNING,
    "STOPPED": Phase.RUNNING,
    "RESIZING": Phase.RUNNING,
    "SIGNALING": Phase.RUNNING,
    "COMPLETING": Phase.ENDING,
    "STAGE_OUT": Phase.ENDING,
    "COMPLETED": Phase.COMPLETED,
    "FAILED": Phase.FAILED,
    "CANCELLED": Phase.CANCELLED,
    "DEADLINE": Phase.TIME_LIMIT,
    "TIMEOUT": Phase.TIME_LIMIT,
    "OUT_OF_MEMORY": Phase.MEMORY_LIMIT,
    "BOOT_FAIL": Phase.LOST,
    "NODE_FAIL": Phase.LOST,
    "PREEMPTED": Phase.LOST,
    "REVOKED": Phase.LOST,
}
MAY_RETURN = frozenset({"NODE_FAIL", "PREEMPTED", "BOOT_FAIL", "REQUEUED", "REVOKED"})
"""Accounting shows a requeued job's earlier life as ended in one of these, and for a moment nothing else of it."""
LAUNCH_FAILURES = frozenset({"JobLaunchFailure", "launch failed requeued held", "launch_failed_requeued_held"})
"""Reasons of FAILED and PENDING that are the node's doing: the script never began."""

UNKNOWN_JOB = "Invalid job id specified"
REFUSALS: Sequence[tuple[str, str | None]] = (
    # (what sbatch says, the profile's key that it is about); matched without regard to case
    ("walldurationperjoblimit", "time"),
    ("partition name", "partition"),
    ("invalid partition", "partition"),
    ("account or account/partition", "account"),
    ("permitted to use this partition", "partition"),
    ("partition is down", "partition"),
    ("qos", "options"),
    ("feature", "constraint"),
    ("time limit", "time"),
    ("--time", "time"),
    ("memory", "memory"),
    ("node configuration is not available", "cpus_per_row"),
    ("more processors requested", "cpus_per_row"),
    ("reservation", "options"),
    ("generic resource", "options"),
    ("unrecognized option", "options"),
    ("invalid option", "options"),
    ("node name", "options"),
)
LATER = ("job submit limit", "submitjobslimit", "maxsubmitjob", "temporarily unable to accept job")
UNCLEAR = (
    "unable to contact",
    "timed out",
    "time out",
    "connection",
    "zero bytes were transmitted",
    "transport endpoint",
    "resource temporarily unavailable",
    "communication",
    "protocol authentication error",
    "socket",
    "slurmctld",
    "backup controller",
    "standby mode",
)


def phase_of(word: str, reason: str = "") -> Phase | None:
    """The meaning of a state word; None for one that this version does not know."""
    phase = PHASES.get(word.split(" ", 1)[0].rstrip("+"))  # `CANCELLED by 1000`; sacct cuts long words with a +
    if reason in LAUNCH_FAILURES and phase in (Phase.FAILED, Phase.WAITING):
        return Phase.LOST if phase is Phase.FAILED else Phase.HELD
    return phase


def queue_answers(jobs: Sequence[str], status: int, out: str, err: str) -> dict[str, JobAnswer]:
    """One answer per job from `squeue -t all -o QUEUE_FORMAT -j …`. Absent from a good answer means gone."""
    if status != 0 and UNKNOWN_JOB in err:
        return {job: Known(None) for job in jobs}
    if status != 0:
        return {job: Unknown(complaint("squeue", status, err)) for job in jobs}
    seen, unreadable = _queue_lines(out)
    if unreadable:
        return {job: Unknown(f"squeue printed a line that cannot be read: {unreadable!r}") for job in jobs}
    return {job: _one(job, seen.get(job, ()), "squeue") for job in jobs}


def found_jobs(status: int, out: str, err: str) -> Known[tuple[JobView, ...]] | Unknown:
    """The jobs of `squeue -t all -o QUEUE_FORMAT --name=…`."""
    if status != 0:
        return Unknown(complaint("squeue", status, err))
    seen, unreadable = _queue_lines(out)
    if unreadable:
        return Unknown(f"squeue printed a line that cannot be read: {unreadable!r}")
    found = [_one(job, views, "squeue") for job, views in seen.items()]
    return Known(tuple(answer.value for answer in found if isinstance(answer, Known) and answer.value))


def _queue_lines(out: str) -> tuple[dict[str, list[JobView | str]], str]:
    """Views by job id (a text where the state word is not known), and the first line that is no job."""
    seen: dict[str, list[JobView | str]] = defaultdict(list)
    for line in out.splitlines():
        fields = line.split("|", 4)
        if len(fields) != 5 or not re.fullmatch(r"\d+([_+].*)?", fields[0]):
            return {}, line
        job, word, reason, node, name = fields
        phase = phase_of(word, reason)
        reason = "" if reason in ("None", "(null)") else reason
        view = JobView(job, phase, word, reason, node, name) if phase else f"squeue calls job {job} {word!r}"
        seen[job].append(view)
    return seen, ""


def account_answers(jobs: Sequence[str], status: int, out: str, err: str) -> dict[str, JobAnswer]:
    """One answer per job from `sacct -n -P -X -D -o ACCOUNT_FIELDS -j …`: of its last life, when it was requeued."""
    if status != 0:
        return {job: Unknown(complaint("sacct", status, err)) for job in jobs}
    lives: dict[str, list[tuple[JobView | str, str]]] = defaultdict(list)
    for line in out.splitlines():
        fields = line.split("|", 5)
        if len(fields) != 6:
            return {job: Unknown(f"sacct printed a line that cannot be read: {line!r}") for job in jobs}
        job, word, node, _, end, name = fields
        phase = phase_of(word)
        bare = word.split(" ", 1)[0]
        if phase is Phase.WAITING and bare == "REQUEUED":
            phase = Phase.LOST  # in accounting this is how an earlier life ended, not a state of the job
        node = "" if node in ("None assigned", "(null)") else node
        view = (
            JobView(job, phase, word, "", node, name, bare in MAY_RETURN)
            if phase
            else f"sacct calls job {job} {word!r}"
        )
        lives[job].append((view, end))
    return {job: _last_life(job, lives.get(job, [])) for job in jobs}


def _last_life(job: str, lives: list[tuple[JobView | str, str]]) -> JobAnswer:
    """Only the last life counts; the earlier ones must have ended in a requeue."""
    if not lives:
        return Known(None)
    for view, _ in lives[:-1]:
        if isinstance(view, JobView) and not view.may_return and view.phase is not Phase.CANCELLED:
            return Contradictory(f"sacct shows job {job} as {view.word}, and again after that")
    view, end = lives[-1]
    if isinstance(view, str):
        return Unknown(view)
    if view.phase.ended and end == "Unknown":
        return Contradictory(f"sacct shows job {job} as {view.word} without an end")
    if not view.phase.ended and end not in ("Unknown", "None", ""):
        return Contradictory(f"sacct shows job {job} as {view.word}, yet ended at {end}")
    return Known(view)


def _one(job: str, views: Sequence[JobView | str], command: str) -> JobAnswer:
    """One view, or why there is none to rely on."""
    if not views:
        return Known(None)
    view = views[0]
    if isinstance(view, str):
        return Unknown(view)
    if any(other != view for other in views[1:]):
        words = " and ".join(sorted({other.word if isinstance(other, JobView) else other for other in views}))
        return Contradictory(f"{command} shows job {job} twice, as {words}")
    return Known(view)


def submit_answer(status: int, out: str, err: str) -> SubmitAnswer:
    """What `sbatch --parsable` said. Anything that is neither a job id nor a known refusal is unclear."""
    if status == 0:
        match = re.fullmatch(r"(\d+)(;\S+)?", out.strip().splitlines()[-1]) if out.strip() else None
        return Submitted(match[1]) if match else SubmitUnclear(f"sbatch ended well but printed {out.strip()!r}")
    text = err.lower()
    reason = complaint("sbatch", status, err)
    if any(words in text for words in LATER) and not _lasting_limit(err):
        return SubmitLater(reason)
    if any(words in text for words in UNCLEAR):
        return SubmitUnclear(reason)
    key = next((key for words, key in REFUSALS if words in text), None)
    return SubmitRefused(reason, key)


def _lasting_limit(err: str) -> bool:
    """Whether the policy line above sbatch's own names a limit that no other job's end lifts (size, wall time)."""
    limits = re.findall(r"\b\w+Limit\b", err)
    return bool(limits) and not any("Submit" in limit for limit in limits)


def complaint(command: str, status: int, err: str) -> str:
    """A command's own words in one line, without its prefixes."""
    lines = [line.strip() for line in err.splitlines() if line.strip() and not line.startswith("Try ")]
    words = [
        re.sub(rf"^({command}|slurm_[a-z_]+|error|allocation failure)( error)?:? ?(error: )?", "", line)
        for line in lines
    ]
    words = [word.removeprefix("Batch job submission failed: ") for word in words]
    said = "; ".join(dict.fromkeys(word for word in words if word)) or f"no words, exit status {status}"
    return f"{command}: {said}"
