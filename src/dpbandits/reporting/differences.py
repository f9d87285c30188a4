"""Differences of success rates from those of a default, for tables."""

import numpy as np
import pandas as pd

from dpbandits.errors import InputError
from dpbandits.metrics.intervals import difference_interval
from dpbandits.reporting.rows import require_column, select
from dpbandits.reporting.table_specs import DifferenceSpec

ADDED = ["difference", "difference_lo", "difference_hi"]
"""Columns that are added, with Newcombe's 95 % interval."""


def add_differences(rates: pd.DataFrame, spec: DifferenceSpec, place: str) -> pd.DataFrame:
    """Return the table with the columns ``ADDED``; empty (NaN) in the default rows themselves.

    Args:
        rates: y, a share of successes, and runs, the number of trials, of independent rows.
        spec: which rows are the default.
        place: where this stands in the file, for error messages.

    Raises:
        InputError: a column is unknown, or a row has no default or several.
    """
    for column in spec.same:
        require_column(rates, column, f"{place}.same")
    same = list(spec.same)
    defaults = select(rates, spec.where, f"{place}.where")
    found = []
    for index, row in rates.iterrows():
        own = defaults[(defaults[same] == row[same]).all(axis=1)]
        if len(own) != 1:
            named = " and ".join(f"{column} {row[column]}" for column in same)
            raise InputError(f"{place}: {len(own)} default rows have {named}; allowed: one")
        default = own.iloc[0]
        counted, other = (
            (round(each["y"] * each["runs"]), int(each["runs"])) for each in (row, default)
        )
        is_default = index == own.index[0]
        found.append((np.nan,) * 3 if is_default else difference_interval(counted, other))
    return rates.assign(**dict(zip(ADDED, np.array(found).T, strict=True)))
