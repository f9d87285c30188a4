"""Verdicts on rows of the audit, and the row that says most of each algorithm and statement."""

import math

import numpy as np
import pandas as pd

from dpbandits.auditing.run import LEVEL
from dpbandits.claims.verdict import holm_levels

FAILS, NOT_CONTRADICTED, NOTHING_CLAIMED = "fails", "not contradicted", "nothing claimed"

TOLERANCE = 1e-6
"""Relative excess over the claim that an exact bound needs, for rounding."""

OBSERVABLE = -6.0
"""log10 of the chance from which on an event is called observable."""

GROUP = ["statement", "algorithm", "variant", "interpretation", "measure", "scaled", "engine"]


def judged(rows: pd.DataFrame, level: float = LEVEL) -> pd.DataFrame:
    """Return the rows with their ``verdict`` and ``observable``.

    An exact bound refutes by its value; statistical ones are judged together, with a chance of at
    most ``level`` of refuting any correct claim (Holm, 1979).

    Args:
        rows: all rows of the audit.
        level: family-wise error rate.
    """
    exact = rows["p_value"].isna().to_numpy()
    p_values = rows["p_value"].fillna(1.0).to_numpy()
    refuted = exact & (rows["lower"] > rows["claimed"] * (1.0 + TOLERANCE)).to_numpy()
    refuted[~exact] = p_values[~exact] <= holm_levels(p_values[~exact].tolist(), level)
    verdict = np.where(refuted, FAILS, NOT_CONTRADICTED)
    verdict = np.where(np.isinf(rows["claimed"]), NOTHING_CLAIMED, verdict)
    return rows.assign(verdict=verdict, observable=~exact | _is_observable(rows).to_numpy())


def _is_observable(rows: pd.DataFrame) -> "pd.Series[bool]":
    """Return whether the event has a chance of 1e-6 under both inputs, or is impossible in one."""
    likely = 1.0 - 10.0 ** rows["log10_beta"]
    impossible = (rows["log10_alpha"] == -math.inf) & (likely >= 10.0**OBSERVABLE)
    observable: pd.Series[bool] = rows["log10_alpha"].ge(OBSERVABLE) | impossible
    return observable


def strongest(rows: pd.DataFrame) -> pd.DataFrame:
    """Return of each group the row with the largest bound over its claim.

    A group has one statement, algorithm, variant, interpretation, measure and engine. Where nothing
    is claimed the largest bound counts.

    Args:
        rows: judged rows.
    """
    size = rows["ratio"].where(np.isfinite(rows["claimed"]), rows["lower"]).fillna(math.inf)
    order = rows.assign(size=size, failing=rows["verdict"] == FAILS)
    order = order.sort_values(["failing", "size"], ascending=False, kind="stable")
    best = order.drop_duplicates(GROUP).index
    return rows.loc[sorted(best)]
