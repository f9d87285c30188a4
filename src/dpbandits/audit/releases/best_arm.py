"""Privacy losses of DP-BAI and Baseline on small tables, exactly (claims BAI-C14a and BAI-C14b).

A table holds the rewards that every arm would give; neighbours differ in one of them. Rewards are 0
or the largest one, so that sums of rewards say all. Sums stand in place of means throughout: where
a mean over n rewards gets Lap(1/(epsilon n)), its sum gets Lap(1/epsilon).
"""

import math

import numpy as np

from dpbandits.audit.releases.laplace import log_selection, log_tail, log_tail_of_two
from dpbandits.audit.releases.losses import Loss, Values, largest_loss


def sign_loss(
    pulls: int,
    epsilon: float,
    largest_reward: float = 1.0,
    least_log_chance: float = -math.inf,
) -> Loss:
    """Return the loss of DP-BAI for two arms in one dimension.

    It pulls the arm with the longer feature and goes by the sign of that one noisy mean.

    Args:
        pulls: n, of that arm.
        epsilon: of the noise.
        largest_reward: rewards are 0 or this.
        least_log_chance: of ``largest_loss``.
    """
    sums = largest_reward * np.arange(pulls + 1)
    chances = np.stack([log_tail(sums, 1.0 / epsilon), log_tail(-sums, 1.0 / epsilon)])
    return largest_loss(chances, axes=(1,), least_log_chance=least_log_chance)


def difference_loss(
    pulls: int,
    epsilon: float,
    largest_reward: float = 1.0,
    scales: tuple[float, float] = (1.0, 1.0),
    least_log_chance: float = -math.inf,
) -> Loss:
    """Return the loss of comparing two noisy sums, over all pairs of sums.

    Args:
        pulls: n, of either arm.
        epsilon: of the noise.
        largest_reward: rewards are 0 or this.
        scales: of the two Laplace variables in the difference, in units of 1 / epsilon.
        least_log_chance: of ``largest_loss``.
    """
    differences = largest_reward * np.arange(-pulls, pulls + 1)
    first, second = (scale / epsilon for scale in scales)
    chances = [log_tail_of_two(sign * differences, first, second) for sign in (1.0, -1.0)]
    return largest_loss(np.stack(chances), axes=(1,), least_log_chance=least_log_chance)


def tree_chances(arms: int, pulls: tuple[int, int], epsilon: float, pooled: bool = False) -> Values:
    """Return log chances of two phases that keep two of K arms and then one, all arms pulled.

    Arm 0 wins; which one was the other survivor is the first axis (K - 1 of them). All arms are
    alike, so that this says all. The other axes are the sums of the K arms in the first phase and
    then in the second one, from 0 to the pulls.

    Args:
        arms: K, at least 3.
        pulls: of every active arm, by phase.
        epsilon: of the noise.
        pooled: whether the second phase takes the rewards of the first one into its means,
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


def tree_loss(chances: Values, *, sequence: bool, least_log_chance: float = -math.inf) -> Loss:
    """Return the loss of such a tree.

    Args:
        chances: of ``tree_chances``.
        sequence: whether the output is the sequence of pulls, which shows the survivors, with the
            recommended arm, or that arm alone.
        least_log_chance: of ``largest_loss``.
    """
    seen = chances if sequence else np.logaddexp.reduce(chances, axis=0, keepdims=True)
    return largest_loss(seen, axes=tuple(range(1, seen.ndim)), least_log_chance=least_log_chance)
