"""Formulas of the paper's analysis: how long Phase I lasts, explicit bounds, composed privacy loss.

Differences (D) are those of ``docs/deviations.md``. L = ln T, c = 3, alpha = 3.1, k arms,
mu* the largest mean, W = floor(sqrt T) + 1.
"""

import math

from scipy.optimize import brentq

from dpbandits.privacy.witnesses import ALPHA, THRESHOLD, C, published_threshold

EPSILON = 0.2
"""Epsilon of the paper's comparisons between algorithms."""

PHASE_ONE_RANGE = (512.0, 3872.0)
"""Length of Phase I over k S on the good event (DP-NCB, appendices D.2 and D.3)."""

GLOBAL, LOCAL = "gdp-ncb", "ldp-ncb"


def scale(algorithm: str, horizon: float, epsilon: float, best_mean: float) -> float:
    """Return S, the number of pulls of an arm by which the analysis measures (appendix D)."""
    log = math.log(horizon)
    clean = C**2 * log / best_mean
    if algorithm == GLOBAL:
        return clean + log**2 / (epsilon * best_mean)
    return clean + (log / (best_mean * epsilon)) ** 2


def expected_pulls(algorithm: str, horizon: float, epsilon: float, best_mean: float) -> float:
    """Return the pulls of the best arm at which Phase I stops, were nothing random.

    They solve the stop condition of Algorithm 1 or 2 with every mean in the place of its estimate;
    the horizon does not cut them.
    """
    if algorithm == GLOBAL:
        return published_threshold(horizon, epsilon) / best_mean
    log = math.log(horizon)
    width = math.sqrt(8.0 * ALPHA * log) / epsilon

    def excess(root: float) -> float:
        difference = best_mean - width / root
        enough = THRESHOLD * (C**2 * log + log**2 / (difference * epsilon**2))
        return root**2 * best_mean - enough - root * width

    lowest = width / best_mean
    return float(brentq(excess, lowest * (1.0 + 1e-9), lowest * 1e6 + 1e9, xtol=1e-9)) ** 2


def first_horizon(algorithm: str, arms: int, epsilon: float, best_mean: float) -> float:
    """Return the smallest T at which Phase I, as written, ends before T."""

    def excess(log_horizon: float) -> float:
        horizon = math.exp(log_horizon)
        return arms * expected_pulls(algorithm, horizon, epsilon, best_mean) / horizon - 1.0

    return math.exp(brentq(excess, math.log(1e4), math.log(1e15), xtol=1e-12))


def floor_of_regret(share: float, best_mean: float, uniform_mean: float) -> float:
    """Return the Nash regret that a share of uniform rounds costs, all others being best.

    ``uniform_mean`` is the mean over the arms, which every uniform round has over many runs.
    """
    return best_mean * (1.0 - math.pow(uniform_mean / best_mean, share))


def theorem_1(
    horizon: float, epsilon: float, best_mean: float, arms: int, *, is_mended: bool = False
) -> float:
    """Return the explicit bound on the Nash regret of GDP-NCB (proof of Theorem 1), as printed.

    From Equation 25 on a factor k of the second term is lost; ``is_mended`` has it, as has the
    order that Theorem 1 states.
    """
    log = math.log(horizon)
    lost = arms if is_mended else 1
    return (
        4000.0 * C * math.sqrt(best_mean * arms * log / horizon)
        + 4000.0 * lost * math.log(256.0 * arms) * log**2 / (epsilon * horizon)
        + 4.0 * arms * ALPHA * log**2 / (epsilon * horizon)
        + 16.0 * arms * math.sqrt(2.0 * ALPHA / epsilon) * math.pow(log, 1.5) / horizon
    )


def theorem_1_premise(
    horizon: float, epsilon: float, arms: int, *, is_mended: bool = False
) -> float:
    """Return the mu* from which on the proof of Theorem 1 works; see ``theorem_1``."""
    log = math.log(horizon)
    lost = arms if is_mended else 1
    global_part = 10000.0 * lost * math.log(256.0 * arms) * log**2 / (epsilon * horizon)
    return 512.0 * math.sqrt(arms * log / horizon) + global_part


def term_ratio(horizon: float, epsilon: float, arms: int) -> float:
    """Return the privacy term over the other term in the order of Theorem 1.

    The terms are k L^2/(epsilon T) and sqrt(k L/T).
    """
    log = math.log(horizon)
    return (arms * log**2 / (epsilon * horizon)) / math.sqrt(arms * log / horizon)


def capped_phase_one(horizon: int) -> int:
    """Return W, the rounds of Phase I in the released code and repaired (D1)."""
    return math.isqrt(horizon) + 1


def releases(horizon: int, explored: int) -> int:
    """Return the most releases of Phase II that one reward of Phase I enters.

    An arm's episodes have 2, 4, 8, ... pulls; one that the horizon cuts releases nothing.
    """
    return math.floor(math.log2(1.0 + (horizon - explored) / 2.0))


def composed_loss(
    horizon: int, explored: int, others: float = 0.0, release_log: str = "natural"
) -> float:
    """Return what the releases that one reward of Phase I enters cost together, over epsilon.

    Each costs epsilon / log T, with the logarithm of the noise scale; they add (basic composition).
    """
    log = math.log2(horizon) if release_log == "base2" else math.log(horizon)
    return (releases(horizon, explored) + others) / log
