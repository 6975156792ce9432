"""Carries out a plan: the run folder, its journal and lock, staging of rows, and the order of stages."""
