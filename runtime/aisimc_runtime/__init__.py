"""The campaign runtime: executes a plan, keeps the evidence, decides and reports."""

__version__ = "0.1.0"
