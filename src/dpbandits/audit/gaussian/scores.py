"""Centres and variances from which Gaussian Thompson sampling draws, by the number of pulls.

Arm i after n pulls draws theta_i ~ N(centre_i(n), variance(n)); the largest draw is pulled. Written
from the papers, apart from the kernels.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpbandits.errors import InputError
from dpbandits.privacy import dp_ts_ucb_budget

Values = NDArray[np.float64]

COUNTS = ("n+1", "n")
"""What the rewards' sum is divided by: n + 1 (ts-is-dp) or n (as dp-ts-ucb writes)."""


@dataclass(frozen=True)
class Sampler:
    """Gaussian Thompson sampling up to a round.

    Attributes:
        rounds: T, or the round at which the audited output is cut.
        forced_pulls: of every arm at the beginning, in the order of the arms.
        variance_factor: c: the variance is c over the count.
        prior_count: 1 or 0, added to the number of pulls.
        batches: whether the centre is the mean of the last full batch of 1, 2, 4, ... rewards.
    """

    rounds: int
    forced_pulls: int
    variance_factor: float
    prior_count: int
    batches: bool = False

    def variances(self) -> Values:
        """Return the variance by the number of pulls, shape (rounds + 1,); infinite at count 0."""
        pulls = np.arange(self.rounds + 1)
        counts = batch_sizes(pulls) if self.batches else pulls + self.prior_count
        with np.errstate(divide="ignore"):
            return np.asarray(self.variance_factor / counts)

    def centres(self, rewards: Values) -> Values:
        """Return the centre by the number of pulls, shape (..., rounds + 1); 0 if undefined.

        Args:
            rewards: by pull, in [0, 1], shape (..., rounds) or longer.

        Raises:
            InputError: fewer rewards than rounds, or a reward outside [0, 1].
        """
        table = np.asarray(rewards, np.float64)
        if table.shape[-1] < self.rounds:
            raise InputError(
                f"rewards are {table.shape[-1]} per arm; allowed: {self.rounds} or more, the rounds"
            )
        if not ((table >= 0.0) & (table <= 1.0)).all():
            raise InputError("rewards leave [0, 1]; allowed: 0 to 1")
        sums = np.zeros((*table.shape[:-1], self.rounds + 1))
        np.cumsum(table[..., : self.rounds], axis=-1, out=sums[..., 1:])
        pulls = np.arange(self.rounds + 1)
        if not self.batches:
            return np.asarray(sums / np.maximum(pulls + self.prior_count, 1))
        size = batch_sizes(pulls)
        # Full batches of 1, 2, ..., size hold 2 size - 1 rewards.
        return np.asarray(
            (sums[..., np.maximum(2 * size - 1, 0)] - sums[..., np.maximum(size - 1, 0)])
            / np.maximum(size, 1)
        )


def batch_sizes(pulls: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the size of the last full batch of 1, 2, 4, ... pulls; 0 before the first pull."""
    return np.asarray((2 ** np.floor(np.log2(pulls + 1.0))).astype(np.int64) // 2)


def ts_gaussian(horizon: int, count: str = "n+1") -> Sampler:
    """Return TS-Gaussian (ts-is-dp, Algorithm 1; in the ``n`` interpretation, dp-ts-ucb).

    Args:
        horizon: T, 1 or above.
        count: one of ``COUNTS``; ``n`` forces one pull of each arm.

    Raises:
        InputError: another count.
    """
    return modified_ts(0, 1.0, horizon, count)


def modified_ts(b: int, c: float, horizon: int, count: str = "n+1") -> Sampler:
    """Return M-TS-Gaussian (ts-is-dp, Algorithm 2).

    Args:
        b: pre-pulls of each arm, 0 or above.
        c: variance factor, above 0.
        horizon: T, 1 or above.
        count: one of ``COUNTS``; ``n`` forces one pull of each arm where b = 0.

    Raises:
        InputError: another count.
    """
    if count not in COUNTS:
        raise InputError(f"count is {count!r}; allowed: {', '.join(COUNTS)}")
    prior_count = 1 if count == "n+1" else 0
    return Sampler(horizon, max(b, 1 - prior_count), c, prior_count)


def dp_ts_ucb(alpha: float, horizon: int, arms: int = 2, rounds: int | None = None) -> Sampler:
    """Return DP-TS-UCB (dp-ts-ucb, Algorithm 1) while all arms still draw.

    Each arm has floor(phi) draws before its first renewal, one a round from round K + 1 on. Up to
    round K + floor(phi) the output is that of Thompson sampling on batch means; an output cut
    there is a function of the whole output, so that its loss is a lower bound for the whole.

    Args:
        alpha: from 0 to 1.
        horizon: T, 3 or above; phi and the variance depend on it.
        arms: K.
        rounds: where to cut the output earlier.
    """
    longest = min(horizon, arms + math.floor(dp_ts_ucb_budget(alpha, horizon)))
    cut = longest if rounds is None else min(rounds, longest)
    return Sampler(cut, 1, math.log(horizon) ** alpha, 0, batches=True)
