"""Rows on a cluster, whatever its scheduler.

    port.py     what is asked of a scheduler, and its three kinds of answer: known, unknown, contradictory
    states.py   pure: from what was observed of a row to what is to be done about it
    bundle.py   a row's results as one folder that is whole or not there
    shared.py   the campaign's place in the folder that every node sees
    staging.py  what a node brings to its local storage
    script.py   the batch script of a row
    submit.py   one allocation per row, found again after the harness was killed
    node.py     what runs in the allocation: stage, verify, replay, bring back
    collect.py  from a whole bundle into the run folder
    memory.py   what the loop is given, and what it remembers of each row
    cancel.py   ending what one run has in the queue, and nothing else
    replays.py  a collected row as the events that the runtime records
    loop.py     the executor: submit, watch, collect, until every row has its end

Slurm is `executors/slurm/`. Another scheduler is one more module with a class like `SlurmScheduler`.
"""
