"""Budgets that the experiments file names instead of printing them."""

import math
from functools import cache

from scipy.integrate import quad
from scipy.special import ndtr

from dpbandits.config import Context, Formula


def error_near(budget: float, gap: float, scales: tuple[float, float]) -> float:
    """Return about how often two noisy means come out in the wrong order.

    Means of uniform rewards are taken as normal: this places budgets, it is no result.

    Args:
        budget: pulls of both arms together.
        gap: difference of the means.
        scales: of the Laplace noise on each sum of rewards.
    """
    pulls = budget / 2.0
    deviation = math.sqrt((0.25 + (0.5 + gap) ** 2) / 3.0 / pulls)
    first, second = (scale / pulls for scale in scales)
    if first + second == 0.0:
        return float(ndtr(-gap / deviation))

    def given_noise(uniform: float) -> float:
        noise = first * _laplace_quantile(uniform)
        return _normal_plus_laplace_below(-gap - noise, deviation, second)

    return float(quad(given_noise, 0.0, 1.0, limit=200)[0])


def _laplace_quantile(uniform: float) -> float:
    return math.log(2 * uniform) if uniform < 0.5 else -math.log(2 * (1 - uniform))


def _normal_plus_laplace_below(z: float, deviation: float, scale: float) -> float:
    """Return P(N + L < z), N normal of this deviation, L Laplace of this scale."""
    if scale < 1e-3 * deviation:
        return float(ndtr(z / deviation))
    ratio = deviation / scale
    half = ratio**2 / 2
    left = math.exp(min(half + z / scale, 700.0)) * ndtr(-z / deviation - ratio)
    right = math.exp(min(half - z / scale, 700.0)) * ndtr(z / deviation - ratio)
    return float(ndtr(z / deviation) + (left - right) / 2)


@cache
def budget_near(error: float, gap: float, scales: tuple[float, float]) -> int:
    """Return the even budget at which the error is about ``error``."""
    low, high = 8.0, 16.0
    while error_near(high, gap, scales) > error:
        low, high = high, 2 * high
    while high / low > 1.001:
        middle = math.sqrt(low * high)
        low, high = (middle, high) if error_near(middle, gap, scales) > error else (low, middle)
    return 2 * round(high / 2)


def _around(context: Context, scales: tuple[float, float]) -> int:
    near = budget_near(0.1, float(context.tags.get("gap", 0.05)), scales)
    return max(4, 2 * round(near * float(context.tags["multiple"]) / 2))


def budget_around(context: Context) -> int:
    """Return ``multiple`` times the even budget at which DP-BAI errs once in ten, on two arms."""
    scale = 1.0 / float(context.tags["epsilon"])
    return _around(context, (scale, scale))


def budget_around_dp_od(context: Context) -> int:
    """Return that of DP-OD, whose noise on the sums is max(x, y)/x and max(x, y)/y times it."""
    epsilon, ratio = float(context.tags["epsilon"]), float(context.tags["ratio"])
    return _around(context, (max(1.0, ratio) / epsilon, max(1.0, 1.0 / ratio) / epsilon))


FORMULAS: dict[str, Formula] = {
    "budget_around": budget_around,
    "budget_around_dp_od": budget_around_dp_od,
}
