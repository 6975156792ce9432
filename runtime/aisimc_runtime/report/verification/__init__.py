"""Check a run folder again: every digest kept in it, everything that follows from what is kept, and the verdict."""

from aisimc_runtime.report.verification.outcome import Check, Outcome
from aisimc_runtime.report.verification.run import verify

__all__ = ["Check", "Outcome", "verify"]
