"""Golden points: expected counters of rows, written from runs that qualified them."""
