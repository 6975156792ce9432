"""Renderers: each turns the same diagnostics into one format. They are pure; writing is the caller's."""
