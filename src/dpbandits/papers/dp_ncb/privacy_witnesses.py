"""Curves of the exact witnesses on the privacy of GDP-NCB (Theorem 2; claim C15)."""

import math
from collections.abc import Iterator

import pandas as pd

from dpbandits.audit.releases.phase_two import as_coded, explored, release_witness
from dpbandits.audit.releases.splits import best_split
from dpbandits.audit.releases.stop_test import (
    Witness,
    exploration_witness,
    least_pulls,
    published_threshold,
)
from dpbandits.papers.curves import curve, joined

EPSILON = 0.2
WRITTEN_HORIZONS = (10**7, 10**8)
"""T of Figure 1(b) to (f) at which the event fits into T."""

CODED_HORIZONS = (10**4, 10**5, 10**6, 10**7, 10**8)
CODED_EPSILONS = (0.2, 2.0)

PANEL_A_HORIZONS = range(3, 1003)
"""T of Figure 1(a), the only experiment with two arms; the released code has epsilon = 2 there."""

OFFSETS = tuple(range(-200, 201, 10))
"""Pulls of arm 1 minus the threshold, rounded down."""

WITNESSED, LEAST, PANEL_A, ALLOWED = "witnessed", "least", "panel-a", "allowed"


def privacy_witnesses() -> pd.DataFrame:
    """Return the witnessed privacy losses of GDP-NCB over epsilon, exact (claim C15).

    Tags: variant; quantity (``witnessed``, ln of a ratio of probabilities over epsilon; ``least``,
    as written that of the fewest pulls at which it exceeds 1; ``panel-a``, as coded the largest
    over all T and splits of Phase I of Figure 1(a); ``allowed``, 1); horizon; epsilon;
    log10_probability (of the event under X, given the arms of Phase I) and log10_arms (of these),
    0 for what is allowed. x: as written the pulls of arm 1 minus the threshold rounded down, as
    coded T. y: the loss over epsilon.
    """
    return joined([*_written_rows(), *_coded_rows(), *_panel_a_rows()])


def _written_rows() -> Iterator[pd.DataFrame]:
    for horizon in WRITTEN_HORIZONS:
        threshold = published_threshold(horizon, EPSILON)
        scale = math.log(horizon) / EPSILON
        least = least_pulls(threshold, scale, EPSILON) - math.floor(threshold)
        for offset, quantity in [*((each, WITNESSED) for each in OFFSETS), (least, LEAST)]:
            witness = exploration_witness(threshold, scale, math.floor(threshold) + offset)
            yield _row("as-written", horizon, EPSILON, offset, witness, quantity)
        for offset in (OFFSETS[0], OFFSETS[-1]):
            allowed = Witness(EPSILON, 0.0, 0.0)
            yield _row("as-written", horizon, EPSILON, offset, allowed, ALLOWED)


def _coded_rows() -> Iterator[pd.DataFrame]:
    for epsilon in CODED_EPSILONS:
        for horizon in CODED_HORIZONS:
            rules = as_coded(horizon, epsilon)
            witness = release_witness(rules, *explored(rules.rounds))
            yield _row("as-coded", horizon, epsilon, horizon, witness, WITNESSED)


def _panel_a_rows() -> Iterator[pd.DataFrame]:
    for epsilon in CODED_EPSILONS:
        losses = []
        for horizon in PANEL_A_HORIZONS:
            rules = as_coded(horizon, epsilon)
            # The changed arm has to come first in Phase II: it has no more pulls than the other.
            witness, _, _ = best_split(rules, release_witness, range(-rules.rounds, 1))
            losses.append((witness, horizon))
        witness, horizon = max(losses, key=lambda loss: loss[0].log_ratio)
        yield _row("as-coded", horizon, epsilon, horizon, witness, PANEL_A)


def _row(
    variant: str, horizon: int, epsilon: float, x: int, witness: Witness, quantity: str
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
