"""Accumulators fed with chunks, the metrics read off them, and intervals over runs.

This module imports none of them: `names` and `intervals` are read without compiling anything.
"""
