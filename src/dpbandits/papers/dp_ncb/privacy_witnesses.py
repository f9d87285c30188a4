"""Exact witnesses on the privacy of GDP-NCB (Theorem 2; claim C15).

A witness is one event, a set of arm sequences, and two reward sequences in [0, 1] that differ in
one round. Theorem 2 says that the event's probabilities under the two differ by a factor of
exp(epsilon) at most; a larger ratio refutes it. Derived by hand in docs/privacy-witnesses.md.

The noise in a sum of rewards has the Laplace distribution of scale b = L / epsilon, L = ln T
(Algorithm 1, lines 5 and 20, with both sides multiplied by the number of pulls). F is the standard
Laplace distribution function, TH the threshold of line 2. There are two arms.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from dpbandits.papers.dp_ncb import theory
from dpbandits.papers.dp_ncb.theory import ALPHA, C

EPSILON = 0.2
WRITTEN_HORIZONS = (10**7, 10**8)
"""T of Figure 1(b) to (f)."""

CODED_HORIZONS = (10**6, 10**7, 10**8)
CODED_EPSILONS = (0.2, 2.0)

OFFSETS = tuple(range(-200, 201, 10))
"""Pulls of arm 1 minus the threshold, rounded down."""

WITNESSED, ALLOWED = "witnessed", "allowed"


@dataclass(frozen=True)
class Witness:
    """One event under two neighbouring reward sequences, X and X'; natural logarithms.

    Attributes:
        log_ratio: of the event's probability under X' to that under X.
        log_probability: of the event under X, given that Phase I pulls the arms it needs.
        log_arms: of the probability that Phase I pulls these arms, the same under X and X'.
    """

    log_ratio: float
    log_probability: float
    log_arms: float


@dataclass(frozen=True)
class Release:
    """One private mean of arm 2 that decides whether the arm is pulled again.

    Attributes:
        length: pulls of the episode.
        needed: sum of rewards, of Phase I and the episode, that the noisy sum has to exceed.
        rewards: sum of the episode's rewards.
    """

    length: int
    needed: float
    rewards: float


def log_cdf(values: ArrayLike) -> NDArray[np.float64]:
    """Return ln F, without cancellation in either tail."""
    x = np.asarray(values, np.float64)
    tail = 0.5 * np.exp(-np.abs(x))
    return np.where(x < 0.0, math.log(0.5) + x, np.log1p(-tail))


def exploration_witness(threshold: float, scale: float, pulls: int) -> Witness:
    """Return the witness in the stop test of Phase I, Algorithm 1 as written.

    X has reward 1 in odd rounds and 0 in even ones; X' the same, but 0 in round 1. The event: arms
    1, 2, 1, 2, ..., 1 in rounds 1 to 2n + 1. Exact for n >= TH; below, the logarithm of the ratio
    is exact up to 2 exp(-TH/b).

    Args:
        threshold: TH.
        scale: b.
        pulls: n, pulls of arm 1 before the last.
    """
    own_sums = np.arange(1, pulls + 1)
    passed = float(np.sum(log_cdf((threshold - own_sums) / scale)))
    other = pulls * float(log_cdf(threshold / scale))
    ratio = log_cdf(threshold / scale) - log_cdf((threshold - pulls) / scale)
    return Witness(float(ratio), passed + other, -(2 * pulls + 1) * math.log(2.0))


def index(mean: float, pulls: int, log: float, epsilon: float) -> float:
    """Return the index of GDP-NCB (Equation 4, the last root over 2 alpha / epsilon alone).

    Args:
        mean: private mean, 0 or above.
        pulls: n, those of Phase I and of the last episode.
        log: the logarithm in its three last terms; the code has ln(floor(sqrt T) + 1).
        epsilon: above 0.
    """
    width = 2.0 * C * math.sqrt(2.0 * mean * log / pulls)
    last = 4.0 * math.sqrt(2.0 * ALPHA / epsilon) * log**1.5 / pulls
    return float(mean + width + ALPHA * log**2 / (epsilon * pulls) + last)


def explored(horizon: int) -> tuple[int, int]:
    """Return the pulls of arms 1 and 2 in the code's Phase I, those of arm 2 one or two fewer."""
    rounds = theory.capped_phase_one(horizon)
    return rounds // 2 + 1, rounds - rounds // 2 - 1


def deciding_releases(horizon: int, epsilon: float) -> list[Release]:
    """Return the releases of arm 2 in the code's Phase II that leave its next pull to the noise.

    All rewards of Phase I are 0, and arm 1, which has the private mean 0 at first, is not pulled in
    Phase II. The rewards of an episode sum to one less than what is needed, where they can. The
    list ends with the horizon, or where arm 2 cannot come next with any mean in [0, 1].

    Args:
        horizon: T.
        epsilon: above 0.
    """
    log = math.log(theory.capped_phase_one(horizon))
    first, second = explored(horizon)
    other = index(0.0, first + 1, log, epsilon)
    left, length, found = horizon - first - second, 2, []
    while left > length:
        pulls = second + length
        left -= length
        if index(1.0, pulls, log, epsilon) <= other:
            break
        if index(0.0, pulls, log, epsilon) <= other:
            needed = pulls * _mean_at(other, pulls, log, epsilon)
            found.append(Release(length, needed, min(max(needed - 1.0, 0.0), float(length))))
        length *= 2
    return found


def _mean_at(level: float, pulls: int, log: float, epsilon: float) -> float:
    """Return the private mean at which the index is at a level: a quadratic in its root."""
    lacking = level - index(0.0, pulls, log, epsilon)
    width = 2.0 * C * math.sqrt(2.0 * log / pulls)
    return (2.0 * lacking / (width + math.sqrt(width**2 + 4.0 * lacking))) ** 2


def release_witness(horizon: int, epsilon: float) -> Witness:
    """Return the witness in the releases of Phase II, as coded.

    All rewards of Phase I are 0 under X; under X' that of round s is 1. The event: Phase I has the
    pulls of ``explored``, round s pulls arm 2, and all later rounds pull arm 2 as long as it can.

    Args:
        horizon: T.
        epsilon: above 0.
    """
    releases = deciding_releases(horizon, epsilon)
    scale = math.log(horizon) / epsilon
    short = np.array([each.rewards - each.needed for each in releases]) / scale
    passed = log_cdf(short)
    ratio = float(np.sum(log_cdf(short + 1.0 / scale) - passed))
    return Witness(ratio, float(np.sum(passed)), _log_counts(*explored(horizon)))


def _log_counts(first: int, second: int) -> float:
    """Return ln of the probability of these pulls of two arms, arm 2 being that of round s."""
    rounds = first + second
    ways = math.lgamma(rounds) - math.lgamma(first + 1) - math.lgamma(second)
    return ways - rounds * math.log(2.0)


def privacy_witnesses() -> pd.DataFrame:
    """Witnessed privacy losses of GDP-NCB over epsilon, exact (claim C15).

    Tags: variant; quantity (``witnessed``, ln of a ratio of probabilities over epsilon, or
    ``allowed``, 1); horizon; epsilon; log10_probability (of the event under X, given the arms of
    Phase I) and log10_arms (of these), 0 for what is allowed. x: as written the pulls of arm 1
    minus the threshold rounded down, as coded T. y: the loss over epsilon.
    """
    return pd.DataFrame([*_written_rows(), *_coded_rows()])


def _written_rows() -> Iterator[dict[str, Any]]:
    for horizon in WRITTEN_HORIZONS:
        threshold = theory.threshold(horizon, EPSILON)
        scale = math.log(horizon) / EPSILON
        for offset in OFFSETS:
            witness = exploration_witness(threshold, scale, math.floor(threshold) + offset)
            yield _row("as-written", horizon, EPSILON, offset, witness)
        for offset in (OFFSETS[0], OFFSETS[-1]):
            allowed = Witness(EPSILON, 0.0, 0.0)
            yield _row("as-written", horizon, EPSILON, offset, allowed, ALLOWED)


def _coded_rows() -> Iterator[dict[str, Any]]:
    for epsilon in CODED_EPSILONS:
        for horizon in CODED_HORIZONS:
            witness = release_witness(horizon, epsilon)
            yield _row("as-coded", horizon, epsilon, horizon, witness)


def _row(
    variant: str,
    horizon: int,
    epsilon: float,
    x: int,
    witness: Witness,
    quantity: str = WITNESSED,
) -> dict[str, Any]:
    """Return one row of the frame."""
    loss = witness.log_ratio / epsilon
    return {
        "series": f"{variant}, {quantity}, T={horizon:.0e}, epsilon={epsilon:g}",
        "variant": variant,
        "quantity": quantity,
        "horizon": horizon,
        "epsilon": epsilon,
        "log10_probability": witness.log_probability / math.log(10.0),
        "log10_arms": witness.log_arms / math.log(10.0),
        "x": x,
        "y": loss,
        "lo": loss,
        "hi": loss,
    }
