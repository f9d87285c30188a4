"""Formulas that the experiments file names instead of numbers: none."""

from dpbandits.engine.formulas import Formula

FORMULAS: dict[str, Formula] = {}
