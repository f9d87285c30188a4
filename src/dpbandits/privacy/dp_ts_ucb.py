"""What DP-TS-UCB guarantees, and the Modified TS of equal privacy.

One changed reward enters one estimate of n >= 1 rewards, from which at most phi Gaussian draws are
taken.
"""

import math

from dpbandits.privacy import gaussian
from dpbandits.privacy._checks import Values, choice, integer, scalar, unit_interval

BUDGET_FACTOR = math.sqrt(2 * math.pi * math.e)
"""c0 of Algorithm 1."""

GDP_INTERPRETATIONS = ("theorem4.4", "theorem4.6", "tight")


def dp_ts_ucb_budget(alpha: float, horizon: int) -> float:
    """Return phi = c0 T^((1 - alpha)/2) ln(T)^((3 - alpha)/2), the budget of draws, unrounded.

    Source: dp-ts-ucb, Algorithm 1, line 1.

    Args:
        alpha: Trade-off parameter, 0 to 1.
        horizon: Number of rounds T, 3 or above.

    Raises:
        InputError: An argument is outside its range.
    """
    share, rounds = _arguments(alpha, horizon)
    growth = math.pow(rounds, (1 - share) / 2)
    return BUDGET_FACTOR * growth * math.pow(math.log(rounds), (3 - share) / 2)


def dp_ts_ucb_draw_gdp(alpha: float, horizon: int, pulls: int = 1) -> float:
    """Return the GDP parameter of one draw: 1/sqrt(n ln(T)^alpha).

    Source: dp-ts-ucb, proof of Theorem 4.4, which bounds it by its value at n = 1.

    Args:
        alpha: Trade-off parameter, 0 to 1.
        horizon: Number of rounds T, 3 or above.
        pulls: Number n of rewards in the estimate, 1 (default) or above.

    Raises:
        InputError: An argument is outside its range.
    """
    share, rounds = _arguments(alpha, horizon)
    return gaussian.gaussian_mechanism(
        1 / integer("pulls", pulls, 1), math.sqrt(math.log(rounds) ** share / pulls)
    )


def dp_ts_ucb_gdp(alpha: float, horizon: int, *, interpretation: str = "theorem4.4") -> float:
    """Return the GDP parameter of DP-TS-UCB over the horizon.

    Source: dp-ts-ucb, Theorems 4.4 and 4.6; the interpretations are DTU-E2 and DTU-E8.

    Args:
        alpha: Trade-off parameter, 0 to 1.
        horizon: Number of rounds T, 3 or above.
        interpretation: "theorem4.4" (default), sqrt(2 phi / ln(T)^alpha), charges the draws and
            their maximum; "theorem4.6" is the eta that Theorem 4.6 puts in, sqrt(2 phi); "tight",
            sqrt(phi / ln(T)^alpha), charges the draws alone, of which the maximum is a function.

    Raises:
        InputError: An argument is outside its range.
    """
    share, rounds = _arguments(alpha, horizon)
    phases = 1 if choice("interpretation", interpretation, GDP_INTERPRETATIONS) == "tight" else 2
    noise = 0.0 if interpretation == "theorem4.6" else share
    return math.sqrt(phases * dp_ts_ucb_budget(share, rounds) / math.log(rounds) ** noise)


def dp_ts_ucb_delta(
    epsilon: Values, alpha: float, horizon: int, *, interpretation: str = "theorem4.4"
) -> Values:
    """Return the delta at epsilon of DP-TS-UCB over the horizon.

    Source: dp-ts-ucb, Theorem 4.6, whose eta ("theorem4.6") is not that of Theorem 4.4 (spec
    DTU-E2).

    Args:
        epsilon: 0 or above. Any shape.
        alpha: Trade-off parameter, 0 to 1.
        horizon: Number of rounds T, 3 or above.
        interpretation: As in `dp_ts_ucb_gdp`.

    Raises:
        InputError: An argument is outside its range.
    """
    return gaussian.delta(epsilon, dp_ts_ucb_gdp(alpha, horizon, interpretation=interpretation))


def dp_ts_ucb_epsilon(
    delta: Values, alpha: float, horizon: int, *, interpretation: str = "theorem4.4"
) -> Values:
    """Return the epsilon at delta of DP-TS-UCB over the horizon.

    Source: dp-ts-ucb, Theorem 4.6, inverted; DTU-E2 as above.

    Args:
        delta: Strictly between 0 and 1. Any shape.
        alpha: Trade-off parameter, 0 to 1.
        horizon: Number of rounds T, 3 or above.
        interpretation: As in `dp_ts_ucb_gdp`.

    Raises:
        InputError: An argument is outside its range.
    """
    return gaussian.epsilon(delta, dp_ts_ucb_gdp(alpha, horizon, interpretation=interpretation))


def equal_privacy_c(alpha: float, b: int, horizon: int, *, root: bool = False) -> float:
    """Return the c that gives Modified TS with b pre-pulls the eta of Theorem 4.4.

    T^((1 + alpha)/2) ln(T)^(-1.5 (1 - alpha)) / (2 c0 (b + 1)), which is `required_c` at that eta.

    Source: dp-ts-ucb, Appendix E.1; Section 5.3 prints it under a root (DTU-E1).

    Args:
        alpha: Trade-off parameter of DP-TS-UCB, 0 to 1.
        b: Pre-pulls of every arm, 0 or above.
        horizon: Number of rounds T, 3 or above.
        root: Take the root, as Section 5.3 prints; the two algorithms are then not equally private.

    Raises:
        InputError: An argument is outside its range.
    """
    share, rounds = _arguments(alpha, horizon)
    pulls = integer("b", b, 0) + 1
    growth = math.pow(rounds, (1 + share) / 2) / math.pow(math.log(rounds), 1.5 * (1 - share))
    c = growth / (2 * BUDGET_FACTOR * pulls)
    return math.sqrt(c) if root else c


def _arguments(alpha: float, horizon: int) -> tuple[float, int]:
    # ln(T) below 1 would turn the trade-off around.
    return scalar("alpha", unit_interval("alpha", alpha)), integer("horizon", horizon, 3)
