"""Filling in pins: the only part of the project that resolves anything moving, and only when asked (`aisimc pin`)."""
