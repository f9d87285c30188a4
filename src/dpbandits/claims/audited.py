"""Statistics of the privacy audit, which claims and findings of every paper may read."""

import pandas as pd

from dpbandits.claims.estimates import Estimate, exact
from dpbandits.claims.evidence import Evidence
from dpbandits.errors import InputError

OBSERVABLE = -6.0
"""log10 of the chance from which on an event is called observable."""


def audited_share(
    evidence: Evidence,
    *,
    results: str,
    statement: str,
    algorithm: str,
    variant: str = "as-written",
    choice: str = "",
    engine: str = "",
    horizon: int | None = None,
    events: str = "any",
) -> Estimate:
    """Return the largest exact lower bound over its claim.

    A share above 1 refutes the claim; one below proves nothing. Bounds with constants scaled down
    are left out.

    Args:
        evidence: the results.
        results: rows of the audit.
        statement: ``AUD-n``.
        algorithm: id in the registry.
        variant: of the algorithm.
        choice: interpretation of the rows, such as ``norm=l2``.
        engine: of the rows; "" for all.
        horizon: T of the rows; None for all.
        events: ``any``, or ``observable``, which have a chance of 1e-6 under both inputs.

    Raises:
        InputError: no row is asked for.
    """
    row = _strongest(
        evidence, results, statement, algorithm, variant, choice, engine, horizon, events
    )
    return exact(float(row["ratio"]))


def audited_chance(
    evidence: Evidence,
    *,
    results: str,
    statement: str,
    algorithm: str,
    variant: str = "as-written",
    choice: str = "",
    engine: str = "",
    horizon: int | None = None,
    events: str = "any",
) -> Estimate:
    """Return log10 of the chance of the event behind ``audited_share``, of the same arguments."""
    row = _strongest(
        evidence, results, statement, algorithm, variant, choice, engine, horizon, events
    )
    return exact(float(row["log10_alpha"]))


def _strongest(
    evidence: Evidence,
    results: str,
    statement: str,
    algorithm: str,
    variant: str,
    choice: str,
    engine: str,
    horizon: int | None,
    events: str,
) -> "pd.Series[float]":
    """Return the row of the largest bound over its claim, with arguments of ``audited_share``."""
    wanted: dict[str, object] = {"statement": statement, "algorithm": algorithm}
    wanted |= {"variant": variant, "interpretation": choice, "confidence": 1.0, "scaled": False}
    wanted |= {"engine": engine} if engine else {}
    wanted |= {"horizon": horizon} if horizon is not None else {}
    rows = evidence.analytic(results, **wanted)
    if events == "observable":
        rows = rows[rows["log10_alpha"] >= OBSERVABLE]
    if rows.empty:
        raise InputError(f"results of {results}: no {events} event of {statement}, {algorithm}")
    return rows.iloc[int(rows["ratio"].to_numpy().argmax())]
