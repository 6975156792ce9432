"""Differential replay: the reference core against a published runtime, bit for bit."""
