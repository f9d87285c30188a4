"""Rows of the stop test of GDP-NCB's Phase I, as written (AUD-14)."""

import math
from collections.abc import Iterator, Sequence

from dpbandits.audit.exact_rows import Audited
from dpbandits.audit.releases.stop_test import (
    Witness,
    anytime_witness,
    exploration_witness,
    least_pulls,
    published_threshold,
)
from dpbandits.audit.rows import AuditRow

EPSILONS = (0.2,)
HORIZONS = (10**7,)
"""epsilon of the experiments, and the smallest T of Figure 1 at which the event fits into T."""

WINDOW = 2**24

THRESHOLDS = (0.5, 1.0, 2.0, 4.0)
TOY_HORIZONS = (12, 16, 24, 64)
TOY_EPSILONS = (0.5, 1.0)
"""Of the stop test with a small threshold."""

_WRITTEN = Audited("AUD-14", "NCB-C15", "gdp-ncb", "as-written", "round")
_ANYTIME = Audited("AUD-14", "NCB-C15", "anytime-gdp-ncb", "as-written", "round")


def stop_test_rows(
    epsilons: Sequence[float] = EPSILONS,
    horizons: Sequence[int] = HORIZONS,
    toy_horizons: Sequence[int] = TOY_HORIZONS,
    window: int = WINDOW,
) -> list[AuditRow]:
    """Return the rows of AUD-14 on the stop test.

    Args:
        epsilons: above 0.
        horizons: T at the published threshold.
        toy_horizons: T at small thresholds.
        window: W of the anytime version.
    """
    rows: list[AuditRow] = []
    for epsilon in epsilons:
        for horizon in horizons:
            rows += _published(horizon, epsilon)
        rows += _window(window, epsilon)
    for epsilon in TOY_EPSILONS:
        for horizon in toy_horizons:
            rows += _toy(horizon, epsilon)
    return rows


def _row(
    audited: Audited,
    witness: Witness,
    *,
    horizon: int,
    parameters: str,
    epsilon: float,
    pair: str,
    event: str,
    scaled: bool = False,
) -> AuditRow:
    log_alpha = witness.log_probability + witness.log_arms
    return audited.row(
        arms=2,
        horizon=horizon,
        parameters=parameters,
        claimed=epsilon,
        pair=pair,
        event=event,
        lower=witness.log_ratio,
        log_alpha=log_alpha,
        log_likely=log_alpha + witness.log_ratio,
        scaled=scaled,
    )


_STOP_PAIR = "reward 1 in odd rounds, 0 in even ones; in x' that of round 1 is 0"
_SHORTEST = ", the shortest such event that refutes"


def _published(horizon: int, epsilon: float) -> Iterator[AuditRow]:
    """Yield the row of the shortest event that refutes at the published threshold, if it fits."""
    threshold, scale = published_threshold(horizon, epsilon), math.log(horizon) / epsilon
    pulls = least_pulls(threshold, scale, epsilon)
    if 2 * pulls + 1 <= horizon:
        yield _stop_row(threshold, scale, pulls, horizon, epsilon, "")


def _stop_row(
    threshold: float, scale: float, pulls: int, horizon: int, epsilon: float, constants: str
) -> AuditRow:
    return _row(
        _WRITTEN,
        exploration_witness(threshold, scale, pulls),
        horizon=horizon,
        parameters=f"{constants}epsilon={epsilon:g}",
        epsilon=epsilon,
        pair=_STOP_PAIR,
        event=f"the arms of rounds 1 to {2 * pulls + 1} are 1, 2, 1, 2, ..., 1"
        + ("" if constants else f"{_SHORTEST}; longer ones lose more"),
        scaled=constants != "",
    )


def _toy(horizon: int, epsilon: float) -> Iterator[AuditRow]:
    scale, pulls = math.log(horizon) / epsilon, (horizon - 1) // 2
    for threshold in THRESHOLDS:
        yield _stop_row(threshold, scale, pulls, horizon, epsilon, f"threshold={threshold:g}, ")


def _window(window: int, epsilon: float) -> Iterator[AuditRow]:
    """Yield the row of the shortest event in one window of the anytime version, if it refutes."""
    threshold, scale = published_threshold(window, epsilon), math.log(window) / epsilon
    pulls = least_pulls(threshold, scale, epsilon)
    if 2 * pulls + 1 > window:
        return
    witness = anytime_witness(window, epsilon, pulls)
    # Uniform windows, which lose nothing, hide events that are rarer than they are.
    if witness.log_ratio > epsilon:
        yield _row(
            _ANYTIME,
            witness,
            horizon=2 * window - 1,
            parameters=f"epsilon={epsilon:g}",
            epsilon=epsilon,
            pair=f"within the window of {window} rounds: {_STOP_PAIR}",
            event=f"its arms are 1, 2, 1, 2, ..., 1 in {2 * pulls + 1} rounds{_SHORTEST}",
        )
