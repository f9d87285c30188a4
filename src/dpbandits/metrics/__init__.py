"""Accumulators fed with segments, the metrics read off them, and intervals over runs.

This module imports none of them: `names` and `intervals` are read without compiling anything.
"""
