"""Cells, seeds, cache, fan-out and provenance."""
