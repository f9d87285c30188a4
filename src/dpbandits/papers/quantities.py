"""Quantities that the claims of every paper may name: what the privacy audit shows."""

import math

from dpbandits.auditing.rows import is_observable
from dpbandits.claims.estimates import Estimate, exact
from dpbandits.claims.series import SeriesQuery
from dpbandits.errors import InputError


def audited_share(series: SeriesQuery, *, events: str = "any") -> Estimate:
    """Return the largest lower bound of the rows of an audit over its claim.

    A share above 1 refutes the claim; one below proves nothing. Of ``any`` events, or of those
    ``observable``.
    """
    return exact(_strongest(series, events, "ratio"))


def audited_chance(series: SeriesQuery) -> Estimate:
    """Return log10 of the chance of the event behind ``audited_share``."""
    return exact(_strongest(series, "any", "log10_alpha"))


def _strongest(series: SeriesQuery, events: str, column: str) -> float:
    """Return a number of the row of the largest bound over its claim."""
    rows = series.rows
    if events == "observable":
        rows = rows[is_observable(rows)]
    if rows.empty:
        results, where = series.selection
        raise InputError(f"results of {results.name}: no {events} event of {where}")
    return float(rows[column].iloc[int(rows["ratio"].to_numpy().argmax())])


def seen_from(series: SeriesQuery, *, events: str = "any") -> Estimate:
    """Return by how much a guarantee would have to be exceeded for the audit to see it.

    If its loss were larger by this factor, the strongest event would use up the whole claim.
    """
    share = _strongest(series, events, "ratio")
    return exact(max(1.0, 1.0 / share) if share > 0.0 else math.inf)
