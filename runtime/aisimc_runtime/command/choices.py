"""Closed choices of options, shared by click's commands and the quick path."""

FORMATS = ("text", "json", "github", "sarif")
COLOURS = ("auto", "always", "never")
