"""Formulas that the experiments file names instead of numbers: none."""

from dpbandits.config import Formula

FORMULAS: dict[str, Formula] = {}
