"""Guarantees of Thompson sampling and of Modified Thompson sampling.

What ts-is-dp derives by standard DP (Theorems 6 and 7, Corollary 1) is in `standard`.
"""

import math

import numpy as np
from numpy.typing import ArrayLike

from dpbandits.privacy import gaussian, renyi
from dpbandits.privacy._checks import (
    FloatArray,
    Values,
    above_one,
    choice,
    integer,
    non_negative,
    positive,
    scalar,
    unwrap,
)

# Algorithms of users import it from here.
from dpbandits.privacy.guarantee import Guarantee as Guarantee

INTERPRETATIONS = ("lemma5", "lemma4")
ROUNDS = ("horizon", "sampling-rounds")


def ts_round_gdp(pulls: int = 1) -> float:
    """Return the GDP parameter of one action of TS-Gaussian: 1/sqrt(n + 1).

    Source: ts-is-dp, Lemma 3, which bounds it by its value 1/sqrt 2 at one pull.

    Args:
        pulls: Number n of pulls so far of the arm with the changed reward, 1 (default) or above.

    Raises:
        InputError: pulls is not an integer of at least 1.
    """
    return 1 / math.sqrt(integer("pulls", pulls, 1) + 1)


def ts_gaussian_gdp(horizon: int) -> float:
    """Return the GDP parameter of TS-Gaussian over the horizon: sqrt(T/2).

    Source: ts-is-dp, Lemma 4.

    Args:
        horizon: Number of rounds T, 1 or above.

    Raises:
        InputError: horizon is not an integer of at least 1.
    """
    return math.sqrt(integer("horizon", horizon, 1) / 2)


def ts_gaussian_delta(epsilon: Values, horizon: int) -> Values:
    """Return the delta at epsilon of TS-Gaussian over the horizon.

    Source: ts-is-dp, Theorem 3.

    Args:
        epsilon: 0 or above. Any shape.
        horizon: Number of rounds T, 1 or above.

    Raises:
        InputError: An argument is outside its range.
    """
    return gaussian.delta(epsilon, ts_gaussian_gdp(horizon))


def ts_gaussian_epsilon(delta: Values, horizon: int) -> Values:
    """Return the epsilon at delta of TS-Gaussian over the horizon.

    Source: ts-is-dp, Theorem 3, inverted.

    Args:
        delta: Strictly between 0 and 1. Any shape.
        horizon: Number of rounds T, 1 or above.

    Raises:
        InputError: An argument is outside its range.
    """
    return gaussian.epsilon(delta, ts_gaussian_gdp(horizon))


def ts_gaussian_rdp_epsilon(delta: Values, horizon: int, alpha: float | None = None) -> Values:
    """Return the epsilon at delta of TS-Gaussian by Renyi DP, alpha T/4 + log(1/delta)/(alpha - 1).

    Source: ts-is-dp, Theorem 8; alpha is free in the paper (TSDP-E6).

    Args:
        delta: Strictly between 0 and 1. Any shape.
        horizon: Number of rounds T, 1 or above.
        alpha: Order, above 1; left out, the optimal one, 1 + 2 sqrt(log(1/delta)/T).

    Raises:
        InputError: An argument is outside its range.
    """
    slope = integer("horizon", horizon, 1) / 4
    if alpha is None:
        return renyi.rdp_to_dp(slope, delta)
    order = scalar("alpha", above_one("alpha", alpha))
    return renyi.rdp_to_dp_at_order(slope * order, order, delta)


def modified_ts_gdp(
    b: int,
    c: float,
    horizon: int,
    *,
    interpretation: str = "lemma5",
    rounds: str = "horizon",
    n_arms: int | None = None,
) -> float:
    """Return the GDP parameter of Modified TS (M-TS-Gaussian): sqrt(rounds / (c (n + 1))).

    Source: ts-is-dp, Lemma 5; the interpretations are TSDP-E2 and TSDP-E14.

    Args:
        b: Pre-pulls of every arm, 0 or above.
        c: Factor of the sampling variance, above 0.
        horizon: Number of rounds T, 1 or above.
        interpretation: Pulls n that the arm with the changed reward has at least: "lemma5"
            (default) takes b, as Lemma 5 is printed; "lemma4" takes max(b, 1), as Lemma 4 argues.
        rounds: Rounds charged: "horizon" (default) charges all T, as printed;
            "sampling-rounds" only the max(T - bN, 0) rounds after the pre-pulls.
        n_arms: Number of arms N, 2 or above; needed for (and only used by) "sampling-rounds".

    Returns:
        eta; 0 if no round is charged, because then the output does not depend on the rewards.

    Raises:
        InputError: An argument is outside its range, or n_arms is missing.
    """
    prepulls, total = integer("b", b, 0), integer("horizon", horizon, 1)
    least = 1 if choice("interpretation", interpretation, INTERPRETATIONS) == "lemma4" else 0
    if choice("rounds", rounds, ROUNDS) == "sampling-rounds":
        total = max(total - prepulls * integer("n_arms", n_arms, 2), 0)
    return math.sqrt(total / (scalar("c", positive("c", c)) * (max(prepulls, least) + 1)))


def modified_ts_delta(epsilon: Values, b: int, c: float, horizon: int) -> Values:
    """Return the delta at epsilon of Modified TS, with the GDP parameter as Lemma 5 prints it.

    Source: ts-is-dp, Theorem 4. For other interpretations take `Guarantee("gdp",
    modified_ts_gdp(...))`.

    Args:
        epsilon: 0 or above. Any shape.
        b: Pre-pulls of every arm, 0 or above.
        c: Factor of the sampling variance, above 0.
        horizon: Number of rounds T, 1 or above.

    Raises:
        InputError: An argument is outside its range.
    """
    return gaussian.delta(epsilon, modified_ts_gdp(b, c, horizon))


def modified_ts_epsilon(delta: Values, b: int, c: float, horizon: int) -> Values:
    """Return the epsilon at delta of Modified TS, with the GDP parameter as Lemma 5 prints it.

    Source: ts-is-dp, Theorem 4 inverted (Figure 1).

    Args:
        delta: Strictly between 0 and 1. Any shape.
        b: Pre-pulls of every arm, 0 or above.
        c: Factor of the sampling variance, above 0.
        horizon: Number of rounds T, 1 or above.

    Raises:
        InputError: An argument is outside its range.
    """
    return gaussian.epsilon(delta, modified_ts_gdp(b, c, horizon))


def required_c(b: int, eta: float, horizon: int) -> float:
    """Return the c for which Lemma 5 gives Modified TS exactly eta-GDP: T / (eta^2 (b + 1)).

    It falls below 1, which the paper's Algorithm 2 does not allow, for large b (TSDP-E10);
    whether to keep such a point is the caller's decision.

    Source: ts-is-dp, Section 5.1 and Lemma 5.

    Args:
        b: Pre-pulls of every arm, 0 or above.
        eta: GDP parameter to reach, above 0.
        horizon: Number of rounds T, 1 or above.

    Raises:
        InputError: An argument is outside its range.
    """
    pulls = integer("b", b, 0) + 1
    return integer("horizon", horizon, 1) / (scalar("eta", positive("eta", eta)) ** 2 * pulls)


def instance_specific_gdp(inverse_count_sums: ArrayLike, c: float) -> float | FloatArray:
    """Return the realised GDP parameter of a run: sqrt of the largest arm's sum, over c.

    It depends on the rewards, so it describes a run and is not itself a guarantee.

    Source: ts-is-dp, Remark 2; claim TSDP-C27 and TSDP-E3.

    Args:
        inverse_count_sums: Per arm, the sum of 1/(n + 1) over the rounds after its first pull,
            n its pulls before the round; 0 or above, arms on the last axis.
        c: Factor of the sampling variance, above 0 (1 for TS-Gaussian).

    Returns:
        eta, with the shape of `inverse_count_sums` without its last axis (a float for one run).

    Raises:
        InputError: An argument is outside its range.
    """
    sums = np.atleast_1d(non_negative("inverse_count_sums", inverse_count_sums))
    return unwrap(np.sqrt(sums.max(axis=-1) / scalar("c", positive("c", c))))
