"""Simulate, identify and compare from Python, with tables, plots and displays of the results.

`dpbandits.api` lists the other public functions.
"""
