"""Simulate, identify and compare from Python, with tables, plots and displays of the results.

The stub `__init__.pyi` of `dpbandits` lists all public names.
"""
