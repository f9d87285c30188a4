"""Privacy losses of DP-BAI, Baseline and DP-OD on small tables, exactly (C14).

A table holds the rewards that every arm would give; neighbours differ in one of them. Rewards are 0
or the largest one, so that sums of rewards say all. Sums stand in place of means throughout: where
a mean over n rewards gets Lap(1/(epsilon n)), its sum gets Lap(1/epsilon).
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpbandits.errors import InputError
from dpbandits.papers.dp_bai.laplace import log_selection, log_tail, log_tail_of_two

Values = NDArray[np.float64]

NORMS = {"l1": 1, "l2": 2}
"""Norms that DP-OD may take the largest feature by (BAI-E8)."""


@dataclass(frozen=True)
class Loss:
    """The largest privacy loss over the pairs of neighbouring tables and the outputs considered.

    Attributes:
        value: the largest |log ratio| of an output's chances under both tables.
        log_chance: log of the smaller one of these two chances.
    """

    value: float
    log_chance: float


def largest_loss(log_chances: Values, axes: tuple[int, ...]) -> Loss:
    """Return the loss between tables that are neighbours along these axes.

    Args:
        log_chances: log chance of an output, by table along ``axes`` and by output otherwise.
        axes: along them, tables next to each other differ in one reward.
    """
    losses = []
    for axis in axes:
        steps = np.diff(log_chances, axis=axis)
        place = np.unravel_index(np.abs(steps).argmax(), steps.shape)
        after = tuple(np.add(place, np.eye(log_chances.ndim, dtype=int)[axis]))
        smaller = min(log_chances[place], log_chances[after])
        losses.append(Loss(float(np.abs(steps[place])), float(smaller)))
    return max(losses, key=lambda loss: loss.value)


def sign_loss(pulls: int, epsilon: float, largest_reward: float = 1.0) -> Loss:
    """Return the loss of DP-BAI for two arms in one dimension.

    It pulls the arm with the longer feature and goes by the sign of that one noisy mean.

    Args:
        pulls: n, of that arm.
        epsilon: of the noise.
        largest_reward: rewards are 0 or this.
    """
    sums = largest_reward * np.arange(pulls + 1)
    chances = np.stack([log_tail(sums, 1.0 / epsilon), log_tail(-sums, 1.0 / epsilon)])
    return largest_loss(chances, axes=(1,))


def difference_loss(
    pulls: int,
    epsilon: float,
    largest_reward: float = 1.0,
    scales: tuple[float, float] = (1.0, 1.0),
) -> Loss:
    """Return the loss of comparing two noisy sums, over all pairs of sums.

    Args:
        pulls: n, of either arm.
        epsilon: of the noise.
        largest_reward: rewards are 0 or this.
        scales: of the two Laplace variables in the difference, in units of 1 / epsilon.
    """
    differences = largest_reward * np.arange(-pulls, pulls + 1)
    first, second = (scale / epsilon for scale in scales)
    chances = [log_tail_of_two(sign * differences, first, second) for sign in (1.0, -1.0)]
    return largest_loss(np.stack(chances), axes=(1,))


def tree_chances(arms: int, pulls: tuple[int, int], epsilon: float, pooled: bool = False) -> Values:
    """Return log chances of two phases that keep two of K arms and then one, all arms pulled.

    Arm 0 wins; which one was the other survivor is the first axis (K - 1 of them). All arms are
    alike, so that this says all. The other axes are the sums of the K arms in the first phase and
    then in the second one, from 0 to the pulls.

    Args:
        arms: K, at least 3.
        pulls: of every active arm, by phase.
        epsilon: of the noise.
        pooled: whether the second phase takes the rewards of the first into its means (BAI-E10),
            with noise for the new ones alone: this is not private, and a negative control.
    """
    shape = (pulls[0] + 1,) * arms + (pulls[1] + 1,) * arms
    first = epsilon * np.indices(shape[:arms]).reshape(arms, -1).T
    second = epsilon * np.indices(shape[arms:]).reshape(arms, -1).T
    outcomes = []
    for other in range(1, arms):
        lost = [arm for arm in range(1, arms) if arm != other]
        survives = log_selection(first[:, [0, other]], first[:, lost])
        ahead = (second[:, 0] - second[:, other])[None, :]
        if pooled:
            ahead = ahead + (first[:, 0] - first[:, other])[:, None]
        outcomes.append((survives[:, None] + log_tail_of_two(-ahead)).reshape(shape))
    return np.stack(outcomes)


def tree_loss(chances: Values, *, sequence: bool) -> Loss:
    """Return the loss of such a tree.

    Args:
        chances: of ``tree_chances``.
        sequence: whether the output is the sequence of pulls, which shows the survivors, with the
            recommended arm, or that arm alone.
    """
    seen = chances if sequence else np.logaddexp.reduce(chances, axis=0, keepdims=True)
    return largest_loss(seen, axes=tuple(range(1, seen.ndim)))


def dp_od_scales(features: ArrayLike, norm: str) -> tuple[float, float]:
    """Return the scales of the two Laplace variables in DP-OD's difference of two scores.

    In units of 1 / epsilon, on sums: |w_k| L, where A w = (1, -1), A are the features and L is
    their largest norm.

    Args:
        features: of two arms in two dimensions, independent; shape (2, 2).
        norm: a key of ``NORMS``.

    Raises:
        InputError: another norm, or dependent features.
    """
    matrix = np.asarray(features, np.float64)
    if norm not in NORMS:
        raise InputError(f"norm is {norm!r}; allowed: {', '.join(NORMS)}")
    if matrix.shape != (2, 2) or np.linalg.matrix_rank(matrix) < 2:
        raise InputError(f"features are {matrix.tolist()}; allowed: two independent arms in R^2")
    largest = np.linalg.norm(matrix, NORMS[norm], axis=1).max()
    first, second = np.abs(np.linalg.solve(matrix, [1.0, -1.0])) * largest
    # An entry that should be 0 is one by rounding; the formula needs a scale above 0.
    return max(float(first), 1e-12), max(float(second), 1e-12)


def square_loss(pulls: int, epsilon: float, norm: str, largest_reward: float = 1.0) -> Loss:
    """Return the loss of DP-OD on the four unit vectors (+-1, +-1)/sqrt 2, at the uniform design.

    Arm 1 wins where both coordinates of the noisy sum U are above 0. Over all sums u of the
    contribution of arms 1 and 3 (antipodes), those of arms 2 and 4 being 0: a reward moves both
    coordinates by 1/sqrt 2. The table need not obey the linear model; privacy is about all tables.

    Args:
        pulls: n, of every arm.
        epsilon: of the noise.
        norm: ``l2`` (L = 1) or ``l1`` (L = sqrt 2).
        largest_reward: rewards are 0 or this.
    """
    largest = {"l2": 1.0, "l1": math.sqrt(2.0)}[norm]
    coordinates = largest_reward * np.arange(-pulls, pulls + 1) / math.sqrt(2.0)
    chances = [2.0 * log_tail(sign * coordinates, largest / epsilon) for sign in (1.0, -1.0)]
    return largest_loss(np.stack(chances), axes=(1,))
