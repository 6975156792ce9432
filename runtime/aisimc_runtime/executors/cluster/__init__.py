"""Rows on a cluster, whatever its scheduler.

    port.py     what is asked of a scheduler, and its three kinds of answer: known, unknown, contradictory
    states.py   pure: from what was observed of a row to what is to be done about it
    bundle.py   a row's results as one folder that is whole or not there
    shared.py   the campaign's place in the folder that every node sees
    submit.py   one allocation per row, found again after the harness was killed
    node.py     what runs in the allocation: stage, verify, replay, bring back
    collect.py  from a whole bundle into the run folder
    loop.py     the executor: submit, watch, collect, until every row has its end

Slurm is `executors/slurm/`. Another scheduler is one more module with a class like `SlurmScheduler`.
"""
