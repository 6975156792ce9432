"""Rows in Slurm allocations, one each.

Slurm is spoken to through its own commands (`client.py`), not through PSI/J. `psij-python` 0.9.11 was weighed and does
not fit what must hold here: a job that is absent from `squeue` counts as completed there, three failed polls in a row
fail every job, a state or reason word that it does not know is an assertion error, preempted and requeued jobs end as
failed, accounting is never asked, and a job is found again only by its id. All of that would have to be undone above
it. The commands have been stable for a decade, are on every login node, and need no library; what is left for another
scheduler is one more class behind `executors/cluster/port.py`.
"""

from aisimc_runtime.executors.slurm.executor import SlurmExecutor

__all__ = ["SlurmExecutor"]
