"""The verdict of a campaign, from the run folder alone."""

from aisimc_runtime.verdict.decide import decide
from aisimc_runtime.verdict.result import Result, RowVerdict, State, Verdict

__all__ = ["Result", "RowVerdict", "State", "Verdict", "decide"]
