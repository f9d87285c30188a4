"""Decisions by noise alone: success rates as epsilon goes to 0, and tails (F2, F5)."""

import itertools
import math
from collections.abc import Iterator

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy.integrate import quad
from scipy.optimize import brentq, elementwise
from scipy.special import log_ndtr, ndtri_exp
from scipy.stats import laplace

from dpbandits.algorithms.best_arm.designs import max_det
from dpbandits.audit.releases.laplace import log_tail_of_two
from dpbandits.papers.curves import curve, joined
from dpbandits.papers.dp_bai.instances import section5, two_armed

Values = NDArray[np.float64]

DELTAS = (0.9, 0.5, 0.3, 0.1, 0.01, 1e-5)
RATIOS = (1.0, 2.0, 5.0, 20.0)
ERRORS = np.geomspace(0.4, 1e-40, 100)

OBSERVABLE = 1e-5
"""Errors that 100000 trials show."""


def cone_chance(winner: Values, scales: tuple[float, float]) -> float:
    """Return the chance that two independent Laplace variables fall into a cone of the plane.

    In polar coordinates the radius is integrated out: at angle t the density is
    1 / (4 b1 b2 (|cos t|/b1 + |sin t|/b2)^2).

    Args:
        winner: rows v with <v, (b1 L1, b2 L2)> > 0 inside the cone, shape (n, 2).
        scales: b1 and b2, above 0.
    """
    edges = np.arctan2(winner[:, 1], winner[:, 0])[:, None] + np.array([-1.0, 1.0]) * np.pi / 2
    axes = np.pi / 2 * np.arange(-2, 3)
    cuts = np.unique([*((edges + np.pi) % (2 * np.pi) - np.pi).ravel(), *axes])
    (first, second), total = scales, 0.0

    def density(angle: float) -> float:
        rate = abs(math.cos(angle)) / first + abs(math.sin(angle)) / second
        return 1.0 / (4.0 * first * second * rate**2)

    for low, high in itertools.pairwise(cuts):
        middle = (low + high) / 2
        if (winner @ [math.cos(middle), math.sin(middle)] > 0.0).all():
            total += quad(density, low, high, epsabs=1e-14, epsrel=1e-13)[0]
    return total


def linear_limit(features: Values, pulled: tuple[int, int], scales: tuple[float, float]) -> float:
    """Return the chance that arm 1 comes out first where two arms' estimates are noise alone.

    Args:
        features: shape (K, 2).
        pulled: the two arms, independent, whose estimates are b1 L1 and b2 L2.
        scales: b1 and b2.
    """
    coefficients = features @ np.linalg.inv(features[list(pulled)])
    return cone_chance(coefficients[0] - coefficients[1:], scales)


def uniform_limit(arms: int) -> float:
    """Return the chance that the first of K alike noisy means is the largest, by integration."""

    def density(z: float) -> float:
        return float(laplace.pdf(z) * laplace.cdf(z) ** (arms - 1))

    return sum(quad(density, *ends, epsabs=1e-14)[0] for ends in ((-50.0, 0.0), (0.0, 50.0)))


def gauss_deviation(delta: float) -> float:
    """Return the deviation of DP-BAI-Gauss's noise on a sum, in units of 1 / epsilon."""
    return math.sqrt(2.0 * math.log(1.25 / delta))


def log_gauss_tail(c: ArrayLike, delta: float) -> Values:
    """Return log P(N1 - N2 > c) of two sums' noise, c in units of 1 / epsilon."""
    deviations = np.asarray(c, np.float64) / (math.sqrt(2.0) * gauss_deviation(delta))
    return np.asarray(log_ndtr(-deviations))


def crossing(delta: float) -> float:
    """Return log of the error below which DP-BAI-Gauss has the lighter tail with two arms.

    Both tails are 1/2 at 0. From there that of DP-BAI-Gauss is the heavier one up to where they
    cross, if it is so at all; else the crossing is at 0.
    """

    def excess(c: Values) -> Values:
        return log_gauss_tail(c, delta) - log_tail_of_two(c)

    points = np.geomspace(1e-6, 1e4, 2001)
    heavier = np.flatnonzero(excess(points) > 0.0)
    if heavier.size == 0:
        return math.log(0.5)
    last = int(heavier[-1])
    root = brentq(lambda c: float(excess(c)), points[last], points[last + 1], xtol=1e-12)
    return float(log_tail_of_two(root))


def pure_noise() -> pd.DataFrame:
    """Return limits of pure noise, and the tails of two arms' comparison.

    Tags: quantity. ``limit``: algorithm, instance (``section5``, ``two-armed``) and ratio; x is 0,
    y the success rate as epsilon goes to 0. ``crossing``: x is delta, y log10 of the error below
    which DP-BAI-Gauss errs more rarely than DP-BAI at equal pulls and epsilon; error is 10^y.
    ``deviation``: x is delta, y the deviation of the Gauss noise over that of the Laplace noise.
    ``threshold``: algorithm and delta; x is the error, y the difference of the sums, in units of
    1 / epsilon, from which on noise alone errs more rarely.
    """
    return joined([*_limits(), *_crossings(), *_thresholds()])


def _limits() -> Iterator[pd.DataFrame]:
    features = section5().feature_matrix
    first, second = max_det(features).arms
    limits = {
        ("dp-bai", "section5", math.nan): linear_limit(features, (first, second), (1.0, 1.0)),
        # The noise on theta has one scale, and arm 3's feature is ten times as long.
        ("dp-od", "section5", math.nan): linear_limit(features, (0, 2), (10.0, 1.0)),
        ("baseline", "section5", math.nan): uniform_limit(len(features)),
    }
    for ratio in RATIOS:
        pair = two_armed(ratio=ratio).feature_matrix
        limits["dp-bai", "two-armed", ratio] = linear_limit(pair, (0, 1), (1.0, 1.0))
        limits["dp-od", "two-armed", ratio] = linear_limit(pair, (0, 1), (ratio, 1.0))
    for (algorithm, instance, ratio), value in limits.items():
        tags = {"quantity": "limit", "algorithm": algorithm, "instance": instance, "ratio": ratio}
        yield curve(f"limit, {algorithm}, {instance}, y/x={ratio:g}", tags, [0.0], [value])


def _crossings() -> Iterator[pd.DataFrame]:
    levels = [crossing(delta) / math.log(10.0) for delta in DELTAS]
    tags = {"quantity": "crossing", "error": np.power(10.0, levels)}
    yield curve("crossing", tags, DELTAS, levels)
    ratios = [gauss_deviation(delta) / math.sqrt(2.0) for delta in DELTAS]
    yield curve("deviation", {"quantity": "deviation"}, DELTAS, ratios)


def _thresholds() -> Iterator[pd.DataFrame]:
    """Return the tails as a figure shows them: difference of the sums by error."""
    log_errors = np.log(ERRORS)

    def excess(c: Values, log_error: Values) -> Values:
        return log_tail_of_two(c) - log_error

    ends = np.zeros(ERRORS.size), np.full(ERRORS.size, 1e4)
    thresholds = {("dp-bai", 0.0): elementwise.find_root(excess, ends, args=(log_errors,)).x}
    for delta in DELTAS:
        unit = math.sqrt(2.0) * gauss_deviation(delta)
        thresholds["dp-bai-gauss", delta] = -unit * ndtri_exp(log_errors)
    for (algorithm, delta), y in thresholds.items():
        tags = {"quantity": "threshold", "algorithm": algorithm, "delta": delta}
        yield curve(f"threshold, {algorithm}, delta={delta:g}", tags, ERRORS, y)
