"""Losses of exact witnesses: what two neighbouring inputs and an event show of a guarantee.

A guarantee is refuted for those parameters for which the loss, or the delta needed, exceeds it. The
rules of GDP-NCB from which its witnesses follow are here, too; they are derived in
docs/audit.md. There the noise in a sum of rewards has the Laplace distribution of scale
b = L / epsilon, L = ln T (lines 5 and 20, both sides multiplied by the number of pulls), F is the
standard Laplace distribution function, and TH the threshold of line 2.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

THRESHOLD, C, ALPHA = 1600.0, 3.0, 3.1
"""Constants of the published stop condition and index."""


def log_cdf(values: ArrayLike) -> NDArray[np.float64]:
    """Return ln F, F the standard Laplace distribution function, exact in either tail."""
    x = np.asarray(values, np.float64)
    tail = 0.5 * np.exp(-np.abs(x))
    return np.where(x < 0.0, math.log(0.5) + x, np.log1p(-tail))


def published_threshold(horizon: float, epsilon: float) -> float:
    """Return TH = 1600 (c^2 L + L^2 / epsilon), the private sum at which Phase I stops."""
    log = math.log(horizon)
    return THRESHOLD * (C**2 * log + log**2 / epsilon)


def stop_rules(horizon: float, epsilon: float) -> tuple[float, float]:
    """Return TH and the scale b of the noise in a sum."""
    return published_threshold(horizon, epsilon), math.log(horizon) / epsilon


def threshold_loss(threshold: float, scale: float, sums: float) -> float:
    """Return ln F(TH/b) - ln F((TH - n)/b) for a sum n: that of n ones against one of zeros.

    F is the distribution function of the noise, of scale b, up to which a sum is below TH.
    """
    return float(log_cdf(threshold / scale) - log_cdf((threshold - sums) / scale))


def stop_test_loss(horizon: int, epsilon: float) -> float:
    """Return the privacy loss of GDP-NCB as written in the stop test of Phase I, two arms.

    Arms 1, 2, 1, 2, ..., 1, where rewards of arm 1 are 1 but for the first, which is 0 or 1, and
    those of arm 2 are 0: ln F(TH/b) - ln F((TH - n)/b) with n = (T - 1)/2 pulls, or -inf where
    these do not reach the threshold TH; b = ln T / epsilon.
    """
    pulls = (horizon - 1) // 2
    threshold, scale = stop_rules(horizon, epsilon)
    if horizon < 2 or pulls < threshold:
        return -math.inf
    # Below the threshold the event is one of two that the formula adds up.
    slack = 2.0 * math.exp(-threshold / scale)
    return threshold_loss(threshold, scale, pulls) - slack


@dataclass(frozen=True)
class PhaseTwo:
    """Rules of Phase II of GDP-NCB for two arms."""

    horizon: int  # T
    epsilon: float
    rounds: int  # of Phase I
    log: float  # in the index
    noise_log: float  # L of the noise, whose scale in a sum is L / epsilon
    c: float = C
    alpha: float = ALPHA

    @property
    def scale(self) -> float:
        """The scale b of the noise in a sum of rewards."""
        return self.noise_log / self.epsilon

    def index(self, mean: float, pulls: int) -> float:
        """Return the index (Equation 4, the last root over 2 alpha / epsilon alone)."""
        width = 2.0 * self.c * math.sqrt(2.0 * mean * self.log / pulls)
        last = 4.0 * math.sqrt(2.0 * self.alpha / self.epsilon) * self.log**1.5 / pulls
        return float(mean + width + self.alpha * self.log**2 / (self.epsilon * pulls) + last)

    def mean_at(self, level: float, pulls: int) -> float:
        """Return the private mean at which the index is at a level: a quadratic in its root."""
        lacking = level - self.index(0.0, pulls)
        width = 2.0 * self.c * math.sqrt(2.0 * self.log / pulls)
        return (2.0 * lacking / (width + math.sqrt(width**2 + 4.0 * lacking))) ** 2

    def episodes(self) -> Iterator[int]:
        """Yield the lengths of one arm's episodes that a decision follows: 2, 4, 8, ..."""
        left, length = self.horizon - self.rounds, 2
        while left > length:
            yield length
            left -= length
            length *= 2


@dataclass(frozen=True)
class Release:
    """One private mean of the changed arm that decides whether the arm is pulled again."""

    length: int  # pulls of the episode
    needed: float  # sum of rewards, of Phase I and the episode, that the noisy sum has to exceed
    rewards: float  # sum of the episode's


def as_coded(horizon: int, epsilon: float, noise: str = "natural") -> PhaseTwo:
    """Return the rules of the released code: W rounds, ln W in the index.

    The noise has ln T, or log2 T by ``base2``.
    """
    rounds = math.isqrt(horizon) + 1
    noise_log = math.log2(horizon) if noise == "base2" else math.log(horizon)
    return PhaseTwo(horizon, epsilon, rounds, math.log(rounds), noise_log)


def explored(rounds: int) -> tuple[int, int]:
    """Return the pulls of arms 1 and 2 in Phase I, those of arm 2 one or two fewer."""
    return rounds // 2 + 1, rounds - rounds // 2 - 1


def deciding_releases(rules: PhaseTwo, other: int, changed: int) -> list[Release]:
    """Return the releases of the changed arm in Phase II that leave its next pull to the noise.

    All rewards of Phase I are 0, and the other arm, of private mean 0 at first, is not pulled
    again. The rewards of an episode sum to one less than what is needed, where they can. The list
    ends where the changed arm cannot come next with any mean in [0, 1]. With as many pulls as the
    other one it is arm 1, which comes first; with fewer it is arm 2, which loses ties.
    """
    level = rules.index(0.0, other + 1)
    releases = []
    for length in rules.episodes():
        pulls = changed + length
        if rules.index(1.0, pulls) <= level:
            break
        if rules.index(0.0, pulls) <= level:
            needed = pulls * rules.mean_at(level, pulls)
            releases.append(Release(length, needed, min(max(needed - 1.0, 0.0), float(length))))
    return releases


def release_loss(horizon: int, epsilon: float) -> float:
    """Return a privacy loss of GDP-NCB as coded in the releases of Phase II, two arms.

    Phase I of W rounds, all of reward 0 but one of arm 2, which is 0 or 1; then arm 2, whose
    rewards are 0, to the end. The product over the releases that a decision follows of F((1 - n
    theta)/b)/F(-n theta/b).
    """
    rules = as_coded(horizon, epsilon)
    decided = deciding_releases(rules, *explored(rules.rounds))
    if not decided:
        return 0.0
    needed = np.array([release.needed for release in decided]) / rules.scale
    return float((log_cdf(1.0 / rules.scale - needed) - log_cdf(-needed)).sum())


def classical_delta(epsilon: float, delta: float, means: int = 1) -> float:
    """Return the delta that DP-BAI-Gauss needs at epsilon where noisy means decide by a sign.

    The largest over s of Phi(-s/sigma) - e^epsilon Phi(-(s + 1)/sigma), the rewards of the tables
    summing to s and s + 1, with sigma = sqrt(2 ln(1.25/delta))/epsilon (Algorithm 2, line 5). Of
    two ``means`` of equal pulls the difference decides, so that sigma is sqrt(2) times as large and
    s may be as small as -1.
    """
    sigma = math.sqrt(2.0 * means * math.log(1.25 / delta)) / epsilon

    def needed(s: float) -> float:
        second = epsilon + float(scipy.special.log_ndtr(-(s + 1.0) / sigma))
        # Above 0 the difference is negative anyway.
        return float(scipy.special.ndtr(-s / sigma)) - math.exp(min(second, 0.0))

    # The derivative in s is positive below sigma^2 epsilon - 1/2 and negative above.
    return needed(max(sigma**2 * epsilon - 0.5, 1.0 - means))


def window_loss(horizon: int, epsilon: float) -> float:
    """Return the privacy loss of Anytime GDP-NCB as written in its last whole window W, two arms.

    The event of ``stop_test_loss`` with n pulls below the threshold TH of that window, which is
    played uniformly with chance 1/W^2: ln of (1/W^2 + P') over (1/W^2 + P), largest over n; -inf
    where the window is too short.
    """
    window = 2 ** max((horizon + 1).bit_length() - 2, 0)
    threshold, scale = stop_rules(window, epsilon)
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
    changed, passed = np.logaddexp(uniform, [log_passed - float(log_cdf(gap / scale)), log_passed])
    return float(changed - passed) - 1.0 / window


LONGEST = 1_000_000
"""Horizon up to which the loss of an abandoned arm is computed."""


def abandoned_loss(horizon: int, b: int = 0, c: float = 1.0) -> float:
    """Return the mu that Modified TS with centre and variance over n shows, two arms.

    Arm 1 always pays 1 but for its first reward, which is 1 or 0, arm 2 always 0. The output pulls
    each arm max(b, 1) times and then arm 2 for ever. 0 beyond ``LONGEST``: it is not computed.
    """
    pulls = max(b, 1)
    if not 2 * pulls < horizon <= LONGEST:
        return 0.0
    spread = np.sqrt(c / pulls + c / np.arange(pulls, horizon - pulls))
    full, less = (
        scipy.special.log_ndtr(-mean / spread).sum() for mean in (1.0, (pulls - 1) / pulls)
    )
    return float(scipy.special.ndtri_exp(less) - scipy.special.ndtri_exp(full))
