"""Traces by content: found, fetched or generated, cut, and checked row by row before the first replay."""
