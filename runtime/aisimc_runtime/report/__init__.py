"""Reports: one object made from a run folder, and its renderings. Renderers are imported where they are used."""

from aisimc_runtime.report.model import build

__all__ = ["build"]
