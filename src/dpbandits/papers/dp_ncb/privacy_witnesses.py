"""Curves of the exact witnesses on the privacy of GDP-NCB (Theorem 2; claim C15)."""

import math
from collections.abc import Iterator

import pandas as pd

from dpbandits.audit.releases.phase_two import as_coded, explored, release_witness
from dpbandits.audit.releases.stop_test import Witness, exploration_witness, published_threshold
from dpbandits.papers.curves import curve, joined

EPSILON = 0.2
WRITTEN_HORIZONS = (10**7, 10**8)
"""T of Figure 1(b) to (f)."""

CODED_HORIZONS = (10**6, 10**7, 10**8)
CODED_EPSILONS = (0.2, 2.0)

OFFSETS = tuple(range(-200, 201, 10))
"""Pulls of arm 1 minus the threshold, rounded down."""

WITNESSED, ALLOWED = "witnessed", "allowed"


def privacy_witnesses() -> pd.DataFrame:
    """Return the witnessed privacy losses of GDP-NCB over epsilon, exact (claim C15).

    Tags: variant; quantity (``witnessed``, ln of a ratio of probabilities over epsilon, or
    ``allowed``, 1); horizon; epsilon; log10_probability (of the event under X, given the arms of
    Phase I) and log10_arms (of these), 0 for what is allowed. x: as written the pulls of arm 1
    minus the threshold rounded down, as coded T. y: the loss over epsilon.
    """
    return joined([*_written_rows(), *_coded_rows()])


def _written_rows() -> Iterator[pd.DataFrame]:
    for horizon in WRITTEN_HORIZONS:
        threshold = published_threshold(horizon, EPSILON)
        scale = math.log(horizon) / EPSILON
        for offset in OFFSETS:
            witness = exploration_witness(threshold, scale, math.floor(threshold) + offset)
            yield _row("as-written", horizon, EPSILON, offset, witness)
        for offset in (OFFSETS[0], OFFSETS[-1]):
            allowed = Witness(EPSILON, 0.0, 0.0)
            yield _row("as-written", horizon, EPSILON, offset, allowed, ALLOWED)


def _coded_rows() -> Iterator[pd.DataFrame]:
    for epsilon in CODED_EPSILONS:
        for horizon in CODED_HORIZONS:
            rules = as_coded(horizon, epsilon)
            witness = release_witness(rules, *explored(rules.rounds))
            yield _row("as-coded", horizon, epsilon, horizon, witness)


def _row(
    variant: str,
    horizon: int,
    epsilon: float,
    x: int,
    witness: Witness,
    quantity: str = WITNESSED,
) -> pd.DataFrame:
    """Return one row of the frame."""
    tags = {
        "variant": variant,
        "quantity": quantity,
        "horizon": horizon,
        "epsilon": epsilon,
        "log10_probability": witness.log_probability / math.log(10.0),
        "log10_arms": witness.log_arms / math.log(10.0),
    }
    series = f"{variant}, {quantity}, T={horizon:.0e}, epsilon={epsilon:g}"
    return curve(series, tags, [x], [witness.log_ratio / epsilon])
