"""The campaign compiler: spec text in, diagnostics or a plan out. No network, no processes, no writes."""
