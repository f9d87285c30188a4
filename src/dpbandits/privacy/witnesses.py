"""Losses of exact witnesses: what two neighbouring inputs and an event show of a guarantee.

A guarantee is refuted for those parameters for which the loss, or the delta needed, exceeds it.
"""

import math

import numpy as np
from scipy.special import log_ndtr, ndtr, ndtri_exp


def _log_cdf(value: float) -> float:
    """Return the logarithm of the standard Laplace distribution function."""
    if value < 0.0:
        return math.log(0.5) + value
    return math.log1p(-0.5 * math.exp(-value))


def stop_test_loss(horizon: int, epsilon: float) -> float:
    """Return the privacy loss of GDP-NCB as written in the stop test of Phase I, two arms.

    Arms 1, 2, 1, 2, ..., 1, where rewards of arm 1 are 1 but for the first, which is 0 or 1, and
    those of arm 2 are 0: ln F(TH/b) - ln F((TH - n)/b) with n = (T - 1)/2 pulls, or -inf where
    these do not reach the threshold TH; b = ln T / epsilon. Derived in docs/privacy-witnesses.md.

    Args:
        horizon: T.
        epsilon: above 0.
    """
    log = math.log(horizon)
    scale, threshold = log / epsilon, 1600.0 * (9.0 * log + log**2 / epsilon)
    pulls = (horizon - 1) // 2
    if horizon < 2 or pulls < threshold:
        return -math.inf
    # Below the threshold the event is one of two that the formula adds up.
    slack = 2.0 * math.exp(-threshold / scale)
    return _log_cdf(threshold / scale) - _log_cdf((threshold - pulls) / scale) - slack


def release_loss(horizon: int, epsilon: float) -> float:
    """Return a privacy loss of GDP-NCB as coded in the releases of Phase II, two arms.

    Phase I of W rounds, all of reward 0 but one of arm 2, which is 0 or 1; then arm 2, whose
    rewards are 0, to the end. The product over the releases that a decision follows of
    F((1 - n theta)/b)/F(-n theta/b). Derived in docs/privacy-witnesses.md.

    Args:
        horizon: T.
        epsilon: above 0.
    """
    rounds = math.isqrt(horizon) + 1
    log, scale = math.log(rounds), math.log(horizon) / epsilon
    bonus = 3.1 * log**2 / epsilon + 4.0 * math.sqrt(6.2 / epsilon) * log**1.5
    first, second = rounds // 2 + 1, rounds - rounds // 2 - 1
    level, left, length, loss = bonus / (first + 1), horizon - rounds, 2, 0.0
    while left > length:
        pulls = second + length
        left -= length
        lacking = level - bonus / pulls
        if lacking >= 0.0:
            width = 6.0 * math.sqrt(2.0 * log / pulls)
            mean = (2.0 * lacking / (width + math.sqrt(width**2 + 4.0 * lacking))) ** 2
            if mean >= 1.0:
                break
            needed = pulls * mean / scale
            loss += _log_cdf(1.0 / scale - needed) - _log_cdf(-needed)
        length *= 2
    return loss


def classical_delta(epsilon: float, delta: float, means: int = 1) -> float:
    """Return the delta that DP-BAI-Gauss needs at epsilon where noisy means decide by a sign.

    The largest over s of Phi(-s/sigma) - e^epsilon Phi(-(s + 1)/sigma), the rewards of the tables
    summing to s and s + 1, with sigma = sqrt(2 ln(1.25/delta))/epsilon (Algorithm 2, line 5). Of
    two means of equal pulls the difference decides, so that sigma is sqrt(2) times as large and
    s may be as small as -1.

    Args:
        epsilon: above 0.
        delta: between 0 and 1.
        means: 1, or 2 for the difference of two.
    """
    sigma = math.sqrt(2.0 * means * math.log(1.25 / delta)) / epsilon

    def needed(s: float) -> float:
        second = epsilon + float(log_ndtr(-(s + 1.0) / sigma))
        # Above 0 the difference is negative anyway.
        return float(ndtr(-s / sigma)) - math.exp(min(second, 0.0))

    # The derivative in s is positive below sigma^2 epsilon - 1/2 and negative above.
    return needed(max(sigma**2 * epsilon - 0.5, 1.0 - means))


def window_loss(horizon: int, epsilon: float) -> float:
    """Return the privacy loss of Anytime GDP-NCB as written in its last whole window W, two arms.

    The event of ``stop_test_loss`` with n pulls below the threshold TH of that window, which is
    played uniformly with chance 1/W^2: ln of (1/W^2 + P') over (1/W^2 + P), largest over n; -inf
    where the window is too short. Derived in docs/privacy-witnesses.md.

    Args:
        horizon: T.
        epsilon: above 0.
    """
    window = 2 ** max((horizon + 1).bit_length() - 2, 0)
    log = math.log(window)
    scale = log / epsilon
    threshold = 1600.0 * (9.0 * log + log**2 / epsilon)
    if window < 4 or (window - 1) // 2 < threshold:
        return -math.inf
    nearest = threshold - math.floor(threshold)
    gaps = [nearest + round(scale * step / 100.0) for step in range(1000)]
    return max(_mixed_loss(gap, scale, window) for gap in gaps)


def _mixed_loss(gap: float, scale: float, window: int) -> float:
    """Return the loss at n = TH - gap pulls; uniform play has chance 1/W^2."""
    # ln P = sum of ln F((gap + j)/b) over j = 0, 1, ..., n - 1; what lies beyond n is nothing.
    level, log_passed = math.exp(-gap / scale), 0.0
    for power in range(1, 60):
        log_passed += (level / 2.0) ** power / power / math.expm1(-power / scale)
    # Below the threshold the event is one of two that the formula adds up.
    uniform = -2.0 * math.log(window)
    log_changed = log_passed - _log_cdf(gap / scale)
    changed = max(uniform, log_changed) + math.log1p(math.exp(-abs(uniform - log_changed)))
    passed = max(uniform, log_passed) + math.log1p(math.exp(-abs(uniform - log_passed)))
    return changed - passed - 1.0 / window


LONGEST = 1_000_000
"""Horizon up to which the loss of an abandoned arm is computed."""


def abandoned_loss(horizon: int, b: int = 0, c: float = 1.0) -> float:
    """Return the mu that Modified TS with centre and variance over n shows, two arms.

    Arm 1 always pays 1 but for its first reward, which is 1 or 0, arm 2 always 0. The output pulls
    each arm max(b, 1) times and then arm 2 for ever. 0 beyond ``LONGEST``: it is not computed.

    Args:
        horizon: T.
        b: pre-pulls of every arm.
        c: factor of the variance.
    """
    pulls = max(b, 1)
    if not 2 * pulls < horizon <= LONGEST:
        return 0.0
    spread = np.sqrt(c / pulls + c / np.arange(pulls, horizon - pulls))
    full, less = (log_ndtr(-mean / spread).sum() for mean in (1.0, (pulls - 1) / pulls))
    return float(ndtri_exp(less) - ndtri_exp(full))
