"""Guarantees of TS-Gaussian, Modified TS and DP-TS-UCB, by the theorems of their papers.

By Gaussian DP and Renyi DP as the papers derive them. By standard DP (ts-is-dp, appendix C.1) as
printed, although the proof rests on a false lemma and these guarantees do not hold in general
(TSDP-E8); with exact guarantees of single rounds `ts_corrected_standard_epsilon` composes as the
paper does, `ts_basic_standard_epsilon` by adding epsilons and deltas.

An argument outside its range is an InputError.
"""

import math
from collections.abc import Callable

import numpy as np
import scipy
from numpy.typing import ArrayLike

from dpbandits.privacy import gaussian
from dpbandits.privacy._checks import (
    FloatArray,
    Numbers,
    above_one,
    choice,
    integer,
    non_negative,
    positive,
    probability,
    refusal,
    scalar,
    unit_interval,
    unwrap,
)
from dpbandits.privacy.conversions import rdp_to_dp, rdp_to_dp_at_order

INTERPRETATIONS = ("lemma5", "lemma4")
SPLITS = ("best", "half")

# One round of Thompson sampling releases, at worst, a mean that moves by 1/2 with noise of
# variance 1/2 (one pull): 1/sqrt(2)-GDP, ts-is-dp Lemma 3.
_ROUND_ETA = np.sqrt(0.5)

# Logits of the share of delta given to the rounds: from 5e-5 to 1 - 1e-13. The best share is well
# inside, and the smallest deltas do not underflow.
_SCAN = np.linspace(-10.0, 30.0, 81)

BUDGET_FACTOR = math.sqrt(2 * math.pi * math.e)
"""c0 of Algorithm 1."""

GDP_INTERPRETATIONS = ("theorem4.4", "theorem4.6", "tight")


def ts_round_gdp(pulls: int = 1) -> float:
    """Return the GDP parameter of one action of TS-Gaussian: 1/sqrt(n + 1).

    Source: ts-is-dp, Lemma 3, which bounds it by its value 1/sqrt 2 at one pull.

    Args:
        pulls: Number n of pulls so far of the arm with the changed reward, 1 (default) or above.
    """
    return 1 / math.sqrt(integer("pulls", pulls, 1) + 1)


def ts_gaussian_gdp(horizon: int) -> float:
    """Return the GDP parameter of TS-Gaussian over the horizon: sqrt(T/2).

    Source: ts-is-dp, Lemma 4.

    Args:
        horizon: Number of rounds T, 1 or above.
    """
    return math.sqrt(integer("horizon", horizon, 1) / 2)


def ts_gaussian_rdp_epsilon(delta: ArrayLike, horizon: int, alpha: float | None = None) -> Numbers:
    """Return the epsilon at delta of TS-Gaussian by Renyi DP, alpha T/4 + log(1/delta)/(alpha - 1).

    Source: ts-is-dp, Theorem 8; alpha is free in the paper.

    Args:
        delta: Strictly between 0 and 1. Any shape.
        horizon: Number of rounds T, 1 or above.
        alpha: Order, above 1; left out, the optimal one, 1 + 2 sqrt(log(1/delta)/T).
    """
    slope = integer("horizon", horizon, 1) / 4
    if alpha is None:
        return rdp_to_dp(slope, delta)
    order = scalar("alpha", above_one("alpha", alpha))
    return rdp_to_dp_at_order(slope * order, order, delta)


def modified_ts_gdp(b: int, c: float, horizon: int, *, interpretation: str = "lemma5") -> float:
    """Return the GDP parameter of Modified TS (M-TS-Gaussian): sqrt(T / (c (n + 1))).

    Source: ts-is-dp, Lemma 5.

    Args:
        b: Pre-pulls of every arm, 0 or above.
        c: Factor of the sampling variance, above 0.
        horizon: Number of rounds T, 1 or above.
        interpretation: Pulls n that the arm with the changed reward has at least: "lemma5"
            (default) takes b, as Lemma 5 is printed; "lemma4" takes max(b, 1), as Lemma 4 argues.
    """
    least = 1 if choice("interpretation", interpretation, INTERPRETATIONS) == "lemma4" else 0
    pulls = max(integer("b", b, 0), least) + 1
    return math.sqrt(integer("horizon", horizon, 1) / (scalar("c", positive("c", c)) * pulls))


def required_c(b: int, eta: float, horizon: int) -> float:
    """Return the c for which Lemma 5 gives Modified TS exactly eta-GDP: T / (eta^2 (b + 1)).

    It falls below 1, which the paper's Algorithm 2 does not allow, for large b;
    whether to keep such a point is the caller's decision.

    Source: ts-is-dp, Section 5.1 and Lemma 5.

    Args:
        b: Pre-pulls of every arm, 0 or above.
        eta: GDP parameter to reach, above 0.
        horizon: Number of rounds T, 1 or above.
    """
    pulls = integer("b", b, 0) + 1
    return integer("horizon", horizon, 1) / (scalar("eta", positive("eta", eta)) ** 2 * pulls)


def instance_specific_gdp(inverse_count_sums: ArrayLike, c: float) -> Numbers:
    """Return the realised GDP parameter of a run: sqrt of the largest arm's sum, over c.

    It depends on the rewards, so it describes a run and is not itself a guarantee.

    Source: ts-is-dp, Remark 2; claim TSDP-C27.

    Args:
        inverse_count_sums: Per arm, the sum of 1/(n + 1) over the rounds after its first pull,
            n its pulls before the round; 0 or above, arms on the last axis.
        c: Factor of the sampling variance, above 0 (1 for TS-Gaussian).

    Returns:
        eta, with the shape of `inverse_count_sums` without its last axis (a float for one run).
    """
    sums = np.atleast_1d(non_negative("inverse_count_sums", inverse_count_sums))
    return unwrap(np.sqrt(sums.max(axis=-1) / scalar("c", positive("c", c))))


def ts_round_epsilon(delta: ArrayLike, n_arms: int) -> Numbers:
    """Return the epsilon that Theorem 7 claims for one action of Thompson sampling.

    As printed: sqrt(log((N - 1) / (2 delta))) / (2 sqrt 2). Does not hold in general (TSDP-E8).

    Source: ts-is-dp, Theorem 7.

    Args:
        delta: Strictly between 0 and 1 and below (N - 1)/2. Any shape.
        n_arms: Number of arms N, 2 or above.
    """
    arms = integer("n_arms", n_arms, 2)
    return unwrap(_noisy_max_epsilon(probability("delta", delta), arms, _ROUND_ETA))


def _noisy_max_epsilon(deltas: FloatArray, functions: int, ratio: float) -> FloatArray:
    wrong = 2 * deltas >= functions - 1
    if wrong.any():
        allowed = f"below {(functions - 1) / 2} for {functions} arms"
        raise refusal("delta", float(deltas[wrong].flat[0]), allowed)
    return np.asarray(0.5 * ratio * np.sqrt(np.log(functions - 1) - np.log(2 * deltas)))


def report_noisy_max_true_delta(
    epsilon0: ArrayLike, shift_ratio: ArrayLike, lowest: ArrayLike = -np.inf
) -> Numbers:
    """Return the exact delta at epsilon0 of choosing between two arms once.

    It is the supremum over x >= lowest of Phi(x + a) - exp(epsilon0) Phi(x), where x is the
    difference of the two means over the standard deviation of the difference of the two draws,
    and a is what x moves by between neighbours. The derivative has the sign of
    exp(-a x - a^2/2) - exp(epsilon0): positive up to x* = -epsilon0/a - a/2, negative after, so
    that x* is the only maximum. There the value is the Gaussian duality at eta = a; if x* is
    out of reach, the supremum is the value at `lowest`, or 0 (the empty event) if that is less.

    Source: ts-is-dp, claim TSDP-C28 and TSDP-E8 (unconstrained).

    Args:
        epsilon0: 0 or above.
        shift_ratio: a, above 0; 1/sqrt 2 for pull counts (1, many), 1/2 for (1, 1).
        lowest: Smallest x that can occur; minus infinity (default) for arbitrary means. With
            rewards in [0, 1] and pull counts (1, many) it is -sqrt 2.

    Raises:
        InputError: epsilon0 or shift_ratio is outside its range, or lowest is not a number.
    """
    epsilons, shifts = non_negative("epsilon0", epsilon0), positive("shift_ratio", shift_ratio)
    bound = np.asarray(lowest, dtype=np.float64)
    if np.isnan(bound).any() or np.isposinf(bound).any():
        raise refusal("lowest", lowest, "a number or minus infinity")
    reachable = -epsilons / shifts - shifts / 2 >= bound
    # A second term above 1 makes the difference negative anyway; cutting it avoids overflow.
    second = np.exp(np.minimum(epsilons + scipy.special.log_ndtr(bound), 0.0))
    at_bound = np.maximum(scipy.special.ndtr(bound + shifts) - second, 0.0)
    return unwrap(np.where(reachable, gaussian.delta(epsilons, shifts), at_bound))


def advanced_composition(epsilon0: ArrayLike, rounds: int, slack: ArrayLike) -> Numbers:
    """Return the epsilon of composing `rounds` mechanisms that are (epsilon0, delta0)-DP.

    The composition is (epsilon0 sqrt(2 T log(1/slack)) + T epsilon0 (exp(epsilon0) - 1),
    T delta0 + slack)-DP; infinity where that overflows.

    Source: ts-is-dp, Corollary 1 (from Dwork, Rothblum and Vadhan, 2010).

    Args:
        epsilon0: Epsilon of one round, 0 or above.
        rounds: Number T of rounds, 1 or above.
        slack: Part of the final delta that pays for the composition, strictly in (0, 1).
    """
    one, count = non_negative("epsilon0", epsilon0), integer("rounds", rounds, 1)
    width = np.sqrt(-2 * count * np.log(probability("slack", slack)))
    with np.errstate(over="ignore"):
        return unwrap(np.asarray(one * width + count * one * np.expm1(one)))


def ts_standard_epsilon(
    delta: ArrayLike, horizon: int, n_arms: int, split: str = "best"
) -> Numbers:
    """Return the epsilon that Corollary 1 claims for Thompson sampling over the horizon.

    The per-round guarantee of Theorem 7 under advanced composition, as printed. It does not hold
    in general, and its dependence on N is an artefact (TSDP-E8).

    Source: ts-is-dp, Corollary 1.

    Args:
        delta: Final delta, strictly between 0 and 1. Any shape.
        horizon: Number of rounds T, 1 or above.
        n_arms: Number of arms N, 2 or above.
        split: "best" (default) minimises over the share of delta given to the rounds; "half"
            gives them one half.

    Raises:
        InputError: An argument is outside its range, or delta/horizon reaches (N - 1)/2, where
            Theorem 7 is not defined.
    """
    arms, deltas = integer("n_arms", n_arms, 2), probability("delta", delta)
    limit = (arms - 1) * integer("horizon", horizon, 1) / 2
    if split == "best" and np.any(deltas >= limit):
        raise refusal("delta", float(deltas.max()), f"below (n_arms - 1) * horizon / 2 = {limit}")

    def per_round(parts: FloatArray) -> FloatArray:
        return _noisy_max_epsilon(parts, arms, _ROUND_ETA)

    return unwrap(_composed(per_round, deltas, horizon, split))


def ts_corrected_standard_epsilon(delta: ArrayLike, horizon: int, split: str = "best") -> Numbers:
    """Return a valid epsilon of Thompson sampling by standard composition of its rounds.

    Each round gets the exact epsilon of 1/sqrt(2)-GDP: the one changed mean is released with
    Gaussian noise, and the choice of an arm is post-processing. It does not depend on the number
    of arms.

    Source: erratum TSDP-E8, with the composition of ts-is-dp, Corollary 1.

    Args:
        delta: Final delta, strictly between 0 and 1. Any shape.
        horizon: Number of rounds T, 1 or above.
        split: "best" (default) or "half", as in `ts_standard_epsilon`.
    """

    def per_round(parts: FloatArray) -> FloatArray:
        return np.asarray(gaussian.epsilon(parts, _ROUND_ETA))

    return unwrap(_composed(per_round, probability("delta", delta), horizon, split))


def ts_basic_standard_epsilon(delta: ArrayLike, horizon: int) -> Numbers:
    """Return a valid epsilon of Thompson sampling by basic composition of its rounds.

    Each round gets the exact epsilon of 1/sqrt(2)-GDP at delta/T; epsilons and deltas of the T
    rounds add up. It does not depend on the number of arms.

    Source: erratum TSDP-E8.

    Args:
        delta: Final delta, strictly between 0 and 1. Any shape.
        horizon: Number of rounds T, 1 or above.
    """
    rounds = integer("horizon", horizon, 1)
    per_round = gaussian.epsilon(probability("delta", delta) / rounds, _ROUND_ETA)
    return unwrap(rounds * per_round)


def _composed(
    per_round: Callable[[FloatArray], FloatArray], deltas: FloatArray, horizon: int, split: str
) -> FloatArray:
    """Advanced composition of equal rounds, with delta split between rounds and slack."""
    from scipy.optimize import elementwise  # Slow to import, and needed here alone.

    rounds = integer("horizon", horizon, 1)

    def composed(logit: FloatArray, deltas: FloatArray) -> FloatArray:
        epsilon0 = per_round(scipy.special.expit(logit) * deltas / rounds)
        return np.asarray(
            advanced_composition(epsilon0, rounds, scipy.special.expit(-logit) * deltas)
        )

    if choice("split", split, SPLITS) == "half":
        return composed(np.zeros(deltas.shape), deltas)
    scan = composed(_SCAN.reshape(-1, *[1] * deltas.ndim), deltas)
    best = np.clip(scan.argmin(axis=0), 1, _SCAN.size - 2)
    bracket = (_SCAN[best - 1], _SCAN[best], _SCAN[best + 1])
    found = elementwise.find_minimum(composed, bracket, args=(deltas,))
    # Every split is valid, so the better of the two never claims too little.
    return np.asarray(np.fmin(scan.min(axis=0), found.f_x))


def dp_ts_ucb_budget(alpha: float, horizon: int) -> float:
    """Return phi = c0 T^((1 - alpha)/2) ln(T)^((3 - alpha)/2), the budget of draws, unrounded.

    Source: dp-ts-ucb, Algorithm 1, line 1.

    Args:
        alpha: Trade-off parameter, 0 to 1.
        horizon: Number of rounds T, 3 or above.
    """
    share, rounds = _arguments(alpha, horizon)
    growth = math.pow(rounds, (1 - share) / 2)
    return BUDGET_FACTOR * growth * math.pow(math.log(rounds), (3 - share) / 2)


def dp_ts_ucb_gdp(alpha: float, horizon: int, *, interpretation: str = "theorem4.4") -> float:
    """Return the GDP parameter of DP-TS-UCB over the horizon.

    Source: dp-ts-ucb, Theorems 4.4 and 4.6.

    Args:
        alpha: Trade-off parameter, 0 to 1.
        horizon: Number of rounds T, 3 or above.
        interpretation: "theorem4.4" (default), sqrt(2 phi / ln(T)^alpha), charges the draws and
            their maximum; "theorem4.6" is the eta that Theorem 4.6 puts in, sqrt(2 phi); "tight",
            sqrt(phi / ln(T)^alpha), charges the draws alone, of which the maximum is a function.
    """
    share, rounds = _arguments(alpha, horizon)
    phases = 1 if choice("interpretation", interpretation, GDP_INTERPRETATIONS) == "tight" else 2
    noise = 0.0 if interpretation == "theorem4.6" else share
    return math.sqrt(phases * dp_ts_ucb_budget(share, rounds) / math.log(rounds) ** noise)


def equal_privacy_c(alpha: float, b: int, horizon: int, *, root: bool = False) -> float:
    """Return the c that gives Modified TS with b pre-pulls the eta of Theorem 4.4.

    T^((1 + alpha)/2) ln(T)^(-1.5 (1 - alpha)) / (2 c0 (b + 1)), which is `required_c` at that eta.

    Source: dp-ts-ucb, Appendix E.1; Section 5.3 prints it under a root (DTU-E1).

    Args:
        alpha: Trade-off parameter of DP-TS-UCB, 0 to 1.
        b: Pre-pulls of every arm, 0 or above.
        horizon: Number of rounds T, 3 or above.
        root: Take the root, as Section 5.3 prints; the two algorithms are then not equally private.
    """
    share, rounds = _arguments(alpha, horizon)
    pulls = integer("b", b, 0) + 1
    growth = math.pow(rounds, (1 + share) / 2) / math.pow(math.log(rounds), 1.5 * (1 - share))
    c = growth / (2 * BUDGET_FACTOR * pulls)
    return math.sqrt(c) if root else c


def _arguments(alpha: float, horizon: int) -> tuple[float, int]:
    # ln(T) below 1 would turn the trade-off around.
    return scalar("alpha", unit_interval("alpha", alpha)), integer("horizon", horizon, 3)
