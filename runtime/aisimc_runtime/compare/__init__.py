"""Comparison of two canonical records: bytes first, then where and how they part."""

from aisimc_runtime.compare.difference import difference, write
from aisimc_runtime.compare.flatten import NotJson

__all__ = ["NotJson", "difference", "write"]
