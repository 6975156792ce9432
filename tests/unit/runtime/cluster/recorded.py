"""What Slurm 22.05 printed, on a cluster with accounting and on one without: (exit status, stdout, stderr)."""

from __future__ import annotations

from typing import NamedTuple


class Said(NamedTuple):
    """One command's answer."""

    status: int
    out: str
    err: str = ""


# squeue -h -a -t all -o '%i|%T|%r|%N|%j' -j ...
QUEUE = {
    "running": "3|RUNNING|None|node2|aisimc-r-to",
    "completed": "1|COMPLETED|None|node1|aisimc-r-ok",
    "failed": "2|FAILED|NonZeroExitCode|node1|aisimc-r-exit3",
    "launch failed": "16|FAILED|JobLaunchFailure|node1|wrap",
    "launch failed, held": "2|PENDING|launch failed requeued held||aisimc-r-held",
    "bad constraints": "4|FAILED|BadConstraints||wrap",
    "cancelled": "4|CANCELLED|None|node2|aisimc-r-cancel",
    "cancelled while held": "8|CANCELLED|JobHeldUser||aisimc-r-h",
    "requeued": "5|PENDING|BeginTime||aisimc-r-requeue",
    "unsatisfiable": "3|PENDING|PartitionConfig||wrap",
    "held": "8|PENDING|JobHeldUser||aisimc-r-h",
    "node failed": "6|NODE_FAIL|NodeDown|node2|aisimc-r-nf",
    "preempted": "10|PREEMPTED|None|node2|aisimc-r-pre2",
    "timeout": "12|TIMEOUT|TimeLimit|node1|aisimc-r-to",
    # from squeue(1), not to be had on a test machine without cgroups
    "out of memory": "9|OUT_OF_MEMORY|OutOfMemory|node1|aisimc-r-oom",
    "completing": "9|COMPLETING|None|node1|aisimc-r-x",
}
NO_SUCH_JOB = Said(1, "", "slurm_load_jobs error: Invalid job id specified\n")
SEVERAL_OF_THEM_GONE = Said(0, "10|COMPLETED|None|node1|(null)\n")
AWAY = Said(1, "", "slurm_load_jobs error: Unable to contact slurm controller (connect failure)\n")

# sacct -n -P -X -D -o JobIDRaw,State,NodeList,Start,End,JobName -j ...
ACCOUNT = {
    "running": "3|RUNNING|node2|2026-11-30T01:54:03|Unknown|aisimc-r-to",
    "completed": "1|COMPLETED|node1|2026-11-30T01:54:03|2026-11-30T01:54:04|aisimc-r-ok",
    "failed": "2|FAILED|node1|2026-11-30T01:54:03|2026-11-30T01:54:03|aisimc-r-exit3",
    "cancelled": "4|CANCELLED by 0|node2|2026-11-30T01:54:06|2026-11-30T01:54:09|allocation",
    "requeued just now": "5|REQUEUED|node2|2026-11-30T01:54:10|2026-11-30T01:54:13|aisimc-r-requeue",
    "requeued": "5|REQUEUED|node2|2026-11-30T01:54:10|2026-11-30T01:54:13|aisimc-r-requeue\n"
    "5|PENDING|None assigned|Unknown|Unknown|aisimc-r-requeue",
    "requeued and running": "5|REQUEUED|node2|2026-11-30T01:54:10|2026-11-30T01:54:13|aisimc-r-requeue\n"
    "5|RUNNING|node2|2026-11-30T01:54:16|Unknown|aisimc-r-requeue",
    "requeued and cancelled": "5|REQUEUED|node2|2026-11-30T01:54:10|2026-11-30T01:54:13|aisimc-r-requeue\n"
    "5|CANCELLED by 0|node2|2026-11-30T01:54:16|2026-11-30T01:54:20|aisimc-r-requeue",
    "node failed": "6|NODE_FAIL|node2|2026-11-30T01:54:21|2026-11-30T01:54:24|aisimc-r-nf",
    "node failed and requeued": "7|NODE_FAIL|node1|2026-11-30T01:54:27|2026-11-30T01:54:29|aisimc-r-nfr\n"
    "7|PENDING|None assigned|Unknown|Unknown|aisimc-r-nfr",
    "preempted": "9|PREEMPTED|node1|2026-11-30T01:54:33|2026-11-30T01:54:36|aisimc-r-pre",
    "timeout": "12|TIMEOUT|node1|2026-11-30T01:56:16|2026-11-30T01:57:30|aisimc-r-to",
}
ACCOUNTING_OFF = Said(1, "", "Slurm accounting storage is disabled\n")
DATABASE_AWAY = Said(
    1,
    "",
    "sacct: error: slurm_persist_conn_open_without_init: failed to open persistent connection to "
    "host:127.0.0.1:17019: Connection refused\nsacct: error: Sending PersistInit msg: Connection refused\n"
    "sacct: error: Problem talking to the database: Connection refused\n",
)

# sbatch --parsable, and sbatch --test-only
TAKEN = Said(0, "17\n")
TAKEN_ON_A_CLUSTER = Said(0, "17;alps\n")
SUBMIT_AWAY = Said(
    1, "", "sbatch: error: Batch job submission failed: Unable to contact slurm controller (connect failure)\n"
)
SUBMIT_TIMED_OUT = Said(1, "", "sbatch: error: Batch job submission failed: Socket timed out on send/recv operation\n")
WRONG_PARTITION = Said(
    1,
    "",
    "sbatch: error: invalid partition specified: nope\n"
    "sbatch: error: Batch job submission failed: Invalid partition name specified\n",
)
WRONG_ACCOUNT = Said(
    1,
    "",
    "sbatch: error: Batch job submission failed: Invalid account or account/partition combination specified\n",
)
TRIAL_WRONG_ACCOUNT = Said(1, "", "allocation failure: Invalid account or account/partition combination specified\n")
WRONG_QOS = Said(1, "", "sbatch: error: Batch job submission failed: Invalid qos specification\n")
TOO_MANY_SUBMITTED = Said(
    1,
    "",
    "sbatch: error: QOSGrpSubmitJobsLimit\nsbatch: error: Batch job submission failed: Job violates accounting/QOS "
    "policy (job submit limit, user's size and/or time limits)\n",
)
TOO_LONG_FOR_QOS = Said(
    1,
    "",
    "sbatch: error: QOSMaxWallDurationPerJobLimit\nsbatch: error: Batch job submission failed: Job violates "
    "accounting/QOS policy (job submit limit, user's size and/or time limits)\n",
)
WRONG_FEATURE = Said(1, "", "sbatch: error: Batch job submission failed: Invalid feature specification\n")
TOO_MANY_CPUS = Said(1, "", "allocation failure: Requested node configuration is not available\n")
TOO_MUCH_MEMORY = Said(
    1,
    "",
    "sbatch: error: Memory specification can not be satisfied\nsbatch: error: Batch job submission failed: "
    "Requested node configuration is not available\n",
)
WRONG_RESERVATION = Said(1, "", "sbatch: error: Batch job submission failed: Requested reservation is invalid\n")
WRONG_OPTION = Said(255, "", "sbatch: unrecognized option '--bogus'\nTry \"sbatch --help\" for more information\n")
CANCEL_AWAY = Said(
    1,
    "",
    "scancel: error: Kill job error on job id 17: Unable to contact slurm controller (connect failure)\n",
)
CANCEL_GONE = Said(1, "", "scancel: error: Kill job error on job id 99: Invalid job id specified\n")
