"""The instances as they are: features, means, gaps, hardness, rounds of DP-OD (C19, C21)."""

from collections import Counter
from collections.abc import Iterator

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from dpbandits.algorithms.best_arm.span import rank_of
from dpbandits.bandits import LinearBandit
from dpbandits.papers.dp_bai.curves import curve, joined
from dpbandits.papers.dp_bai.hardness import hardness
from dpbandits.papers.dp_bai.instances import (
    LARGEST_OMEGA,
    section5,
    sphere,
    standard_basis,
    two_armed,
)
from dpbandits.papers.dp_bai.pull_totals import design_rounds

DRAWS = 1000
"""Draws of the omegas of I-A that are checked, the one of the figures first."""

RATIOS = (1.0, 1.5, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0)
"""y/x of I-B."""

INSTANCES: dict[str, LinearBandit] = {
    "section5": section5(),
    **{f"two-armed, y/x={ratio:g}": two_armed(ratio=ratio) for ratio in RATIOS},
    "standard-basis": standard_basis(),
    "sphere": sphere(),
}


def instances() -> pd.DataFrame:
    """Describe the instances that the figures use, and check I-A over many draws of its omegas.

    Tags: instance; quantity. ``omega`` (I-A, arms 4 to 30), ``mean``, ``gap``, ``largest reward``:
    x is the arm, from 1. ``H_BAI`` and ``epsilon H_pri``: x is 0. Of 1000 draws of I-A (``section5
    draws``): ``omega`` extremes ``smallest omega`` and ``largest omega``, ``gap 2`` and ``gap 3``
    (largest distance of that gap from 0.05), ``smallest other gap`` and ``largest reward``, and,
    as it depends on omega alone, the same at the end of its range (``section5 limit``); x is 0.
    """
    described = (row for name, bandit in INSTANCES.items() for row in _rows(name, bandit))
    return joined([*described, *_draws(), *_limit()])


def _rows(name: str, bandit: LinearBandit) -> Iterator[pd.DataFrame]:
    means = bandit.means
    arms = np.arange(1, means.size + 1)
    found = hardness(means, bandit.feature_matrix.shape[1], 1.0)
    curves: dict[str, tuple[ArrayLike, ArrayLike]] = {
        "mean": (arms, means),
        "gap": (arms, means.max() - means),
        "largest reward": (arms, 2.0 * means),
        "H_BAI": ([0], [found.identification]),
        "epsilon H_pri": ([0], [found.privacy]),
    }
    if name == "section5":
        curves["omega"] = (arms[3:], bandit.feature_matrix[3:, 1])
    for quantity, (x, y) in curves.items():
        tags = {"instance": name, "quantity": quantity}
        yield curve(f"{quantity}, {name}", tags, x, y)


def _draws() -> Iterator[pd.DataFrame]:
    drawn = [section5(draw=draw) for draw in range(DRAWS)]
    omegas = np.array([bandit.feature_matrix[3:, 1] for bandit in drawn])
    means = np.array([bandit.means for bandit in drawn])
    found = {"smallest omega": omegas.min(), "largest omega": omegas.max(), **_extremes(means)}
    return _single("section5 draws", found)


def _limit() -> Iterator[pd.DataFrame]:
    features = np.array([[0.0, 1.0], [0.0, 0.9], [10.0, 0.0], [1.0, LARGEST_OMEGA], [1.0, 0.0]])
    return _single("section5 limit", _extremes((features @ np.array([0.045, 0.5]))[None, :]))


def _extremes(means: NDArray[np.float64]) -> dict[str, float]:
    """Return what C19 asks of means, shape (draws, arms)."""
    gaps = means.max(axis=1, keepdims=True) - means
    return {
        "gap 2": np.abs(gaps[:, 1] - 0.05).max(),
        "gap 3": np.abs(gaps[:, 2] - 0.05).max(),
        "smallest other gap": gaps[:, 3:].min(),
        "smallest mean": means.min(),
        "largest reward": 2.0 * means.max(),
    }


def _single(instance: str, found: dict[str, float]) -> Iterator[pd.DataFrame]:
    for quantity, value in found.items():
        tags = {"instance": instance, "quantity": quantity}
        yield curve(f"{quantity}, {instance}", tags, [0], [value])


def rounds() -> pd.DataFrame:
    """Count the rounds of OD-LinBAI and DP-OD on every instance (C21).

    Tags: instance (``section5 draws``: 1000 draws of the omegas), draws, how many of them have
    that rank. x: rank of the features. y: rounds.
    """
    found = {name: Counter([rank_of(bandit.feature_matrix)]) for name, bandit in INSTANCES.items()}
    drawn = (section5(draw=draw) for draw in range(DRAWS))
    found["section5 draws"] = Counter(rank_of(bandit.feature_matrix) for bandit in drawn)
    return joined(
        curve(
            f"{name}, rank={rank}",
            {"instance": name, "draws": count},
            [rank],
            [design_rounds(rank)],
        )
        for name, ranks in found.items()
        for rank, count in ranks.items()
    )
