"""Cells, seeds, cache, fan-out and provenance.

A `Cell` is what is played, a `Work` some of its runs, a `Series` a cell with its tags. `compute`
plays what the cache lacks.
"""
