"""The paired performance gate: schedule, sampling, statistics, decision and what the report shows of it.

    design      what the plan predeclares, as a value                                     (pure)
    schedule    the persisted order, and its description for `aisimc plan`                (pure)
    order       order statistics of 60 ratios and their exact binomial coverage           (pure)
    dependence  serial correlation and trends, against the declared thresholds            (pure)
    effect      the secondary bootstrap of log ratios                                     (pure)
    size        growth of the artifact and of its `.text`                                 (pure)
    decision    PASS, FAIL, INCONCLUSIVE or NOT_MEASURED of one row and of the campaign   (pure)
    samples     the append-only record of every attempted sample
    telemetry   what the node tells before and after a process
    process     one fresh, pinned process
    causes      what invalidates a pair                                                   (pure)
    sampler     130 processes of one row, resumable at a pair boundary
    stage       verifies artifacts and inputs in place, samples a row, writes its gate
    section, pictures, terminal    what the report takes

docs/performance-gate.md explains the design and gives its sources.
"""
