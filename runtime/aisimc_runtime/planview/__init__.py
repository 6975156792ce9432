"""A plan shown to people: stage by stage and row by row, and as a graph."""
