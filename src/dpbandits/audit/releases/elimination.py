"""Exact privacy loss of DP-SE in its first epoch, two arms.

After R pulls of each arm the one that is behind by more than 2 h + 2 c is dropped, and the arm
sequence shows which. The released means compare two noisy sums.
"""

import math

import numpy as np

from dpbandits.audit.releases.laplace import Values, log_tail_of_two
from dpbandits.audit.releases.losses import Loss, largest_loss
from dpbandits.errors import InputError


def first_epoch(horizon: int, epsilon: float) -> tuple[int, float]:
    """Return R and by how much one sum has to exceed the other one: R (2 h + 2 c).

    Args:
        horizon: T; the failure probability is 1 / T.
        epsilon: above 0.

    Raises:
        InputError: the first epoch of two arms does not end before T.
    """
    log8, log4 = math.log(16.0 * horizon), math.log(8.0 * horizon)
    pulls = math.floor(max(128.0 * log8, 16.0 * log4 / epsilon)) + 1
    if 2 * pulls >= horizon:
        raise InputError(f"horizon is {horizon!r}; allowed: above {2 * pulls}")
    return pulls, math.sqrt(2.0 * pulls * log8) + 2.0 * log4 / epsilon


def outcome_chances(horizon: int, epsilon: float) -> Values:
    """Return log chances that the first, the second and no arm is dropped.

    By output and by the clean difference of both sums, from -R to R; shape (3, 2 R + 1).

    Args:
        horizon: T.
        epsilon: above 0.
    """
    pulls, lead = first_epoch(horizon, epsilon)
    differences = np.arange(-pulls, pulls + 1)
    scale = 1.0 / epsilon
    first = log_tail_of_two(lead + differences, scale, scale)
    second = log_tail_of_two(lead - differences, scale, scale)
    # Neither: the noise is between two numbers; where both are on one side, a difference of tails.
    low, high = -lead - differences, lead - differences
    near, far = np.where(low > 0, low, -high), np.where(low > 0, high, -low)
    one_side = near > 0
    tails = [log_tail_of_two(np.where(one_side, end, 1.0), scale, scale) for end in (near, far)]
    with np.errstate(divide="ignore"):
        outside = np.log1p(-np.exp(np.minimum(np.logaddexp(first, second), 0.0)))
        between = tails[0] + np.log1p(-np.exp(tails[1] - tails[0]))
    return np.stack([first, second, np.where(one_side, between, outside)])


def elimination_loss(horizon: int, epsilon: float, least_log_chance: float = -math.inf) -> Loss:
    """Return the loss of the first epoch over all pairs of sums.

    Args:
        horizon: T.
        epsilon: above 0.
        least_log_chance: of the output, under the table that makes it less likely.
    """
    return largest_loss(outcome_chances(horizon, epsilon), (1,), least_log_chance)
