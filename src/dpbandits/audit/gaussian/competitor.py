"""The best that the first epoch of DP-TS-UCB can leak: one arm against a known threshold.

If the draws of arm 2 are a constant u, the rounds of arm 1's first epoch are Bernoulli trials with
success p = P(N(m_1, ln(T)^alpha) > u), which stop at 2 successes or after floor(phi) trials. The
law of the first epoch then has floor(phi) + 1 points that differ in likelihood.
"""

import math

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr

from dpbandits.audit.gaussian.lattice import LossLaw
from dpbandits.audit.gaussian.tradeoff import OBSERVABLE, best_threshold
from dpbandits.privacy import dp_ts_ucb_budget

Values = NDArray[np.float64]


def first_epoch_law(trials: int, log_chances: tuple[Values, Values]) -> LossLaw:
    """Return the law of the number of trials and successes, by the ratio of its likelihoods.

    Args:
        trials: floor(phi), at least 1.
        log_chances: log chances of success and of failure, either under x and x', shape (2,).
    """
    success, failure = (chances[:, None] for chances in log_chances)
    stopped = np.arange(2, trials + 1)
    logs = np.concatenate(
        [
            trials * failure,
            math.log(trials) + success + (trials - 1) * failure,
            np.log(stopped - 1.0) + 2.0 * success + (stopped - 2.0) * failure,
        ],
        axis=1,
    )
    ratios = logs[1] - logs[0]
    order = np.argsort(ratios, kind="stable")
    p, q = np.exp(logs[:, order])
    return LossLaw(ratios[order], p, q)


def ideal_mu(alpha: float, horizon: int, least: float = OBSERVABLE) -> float:
    """Return the largest mu of a threshold on the first epoch's likelihood ratio, over all u.

    Args:
        alpha: from 0 to 1.
        horizon: T, 3 or above.
        least: smallest chance of the event and its complement under both inputs.
    """
    deviation = math.sqrt(math.log(horizon) ** alpha)
    trials = math.floor(dp_ts_ucb_budget(alpha, horizon))
    means = np.array([0.0, 1.0])
    bounds = []
    for u in np.linspace(-1.0, 1.0 + 6.0 * deviation, 71):
        scores = (means - u) / deviation
        law = first_epoch_law(trials, (log_ndtr(scores), log_ndtr(-scores)))
        bounds.append(best_threshold(law, least).mu)
    return max(bounds)
