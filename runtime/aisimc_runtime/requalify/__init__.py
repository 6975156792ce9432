"""Finding a row's capacity edge again after the baseline drifted: on the baseline only, one dimension at a time."""
