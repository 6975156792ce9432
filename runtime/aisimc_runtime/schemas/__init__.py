"""JSON Schemas of the files that the runtime reads from people and writes for programs."""
