"""The campaign runtime: executes a plan, keeps the evidence, decides and reports."""
