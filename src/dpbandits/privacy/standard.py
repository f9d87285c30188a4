"""Standard (epsilon, delta)-DP: report-noisy-max with Gaussian noise, advanced composition.

The guarantees that ts-is-dp derives this way (its appendix C.1) are given as printed, although
their proof rests on a false lemma and they do not hold in general (TSDP-E8). With exact guarantees
of single rounds `ts_corrected_standard_epsilon` composes as the paper does,
`ts_basic_standard_epsilon` by adding epsilons and deltas.
"""

from collections.abc import Callable
from typing import overload

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import elementwise
from scipy.special import expit, log_ndtr, ndtr

from dpbandits.privacy._checks import (
    FloatArray,
    Values,
    choice,
    integer,
    non_negative,
    positive,
    probability,
    refusal,
    unwrap,
    unwrap_like,
)
from dpbandits.privacy.gaussian import delta, epsilon

SPLITS = ("best", "half")

# One round of Thompson sampling releases, at worst, a mean that moves by 1/2 with noise of
# variance 1/2 (one pull): 1/sqrt(2)-GDP, ts-is-dp Lemma 3.
_ROUND_ETA = np.sqrt(0.5)

# Logits of the share of delta given to the rounds: from 5e-5 to 1 - 1e-13. The best share is well
# inside, and the smallest deltas do not underflow.
_SCAN = np.linspace(-10.0, 30.0, 81)


def report_noisy_max_epsilon(
    delta: Values, sensitivities: ArrayLike, standard_deviations: ArrayLike
) -> Values:
    """Return the epsilon that Theorem 6 claims for report-noisy-max with Gaussian noise.

    As printed: sqrt(log((n - 1) / (2 delta))) / 2 times the largest ratio of sensitivity to
    standard deviation. Does not hold in general (TSDP-E8); see
    `report_noisy_max_true_delta`.

    Source: ts-is-dp, Theorem 6.

    Args:
        delta: Strictly between 0 and 1 and below (n - 1)/2. Any shape.
        sensitivities: One per function, above 0; n of them, n >= 2.
        standard_deviations: One per function, or one for all, above 0.

    Raises:
        InputError: An argument is outside its range, or there are fewer than two functions.
    """
    ratios = positive("sensitivities", sensitivities) / positive(
        "standard_deviations", standard_deviations
    )
    if ratios.ndim != 1 or ratios.size < 2:
        raise refusal("sensitivities", sensitivities, "a list of at least two numbers")
    return unwrap_like(
        delta, _noisy_max_epsilon(probability("delta", delta), ratios.size, ratios.max())
    )


def ts_round_epsilon(delta: Values, n_arms: int) -> Values:
    """Return the epsilon that Theorem 7 claims for one action of Thompson sampling.

    As printed: sqrt(log((N - 1) / (2 delta))) / (2 sqrt 2). Does not hold in general (TSDP-E8).

    Source: ts-is-dp, Theorem 7.

    Args:
        delta: Strictly between 0 and 1 and below (N - 1)/2. Any shape.
        n_arms: Number of arms N, 2 or above.

    Raises:
        InputError: An argument is outside its range.
    """
    arms = integer("n_arms", n_arms, 2)
    return unwrap_like(delta, _noisy_max_epsilon(probability("delta", delta), arms, _ROUND_ETA))


def _noisy_max_epsilon(deltas: FloatArray, functions: int, ratio: float) -> FloatArray:
    wrong = 2 * deltas >= functions - 1
    if wrong.any():
        allowed = f"below {(functions - 1) / 2} for {functions} arms"
        raise refusal("delta", float(deltas[wrong].flat[0]), allowed)
    return np.asarray(0.5 * ratio * np.sqrt(np.log(functions - 1) - np.log(2 * deltas)))


@overload
def report_noisy_max_true_delta(
    epsilon0: float, shift_ratio: float, lowest: float = ...
) -> float: ...
@overload
def report_noisy_max_true_delta(
    epsilon0: ArrayLike, shift_ratio: ArrayLike, lowest: ArrayLike = ...
) -> FloatArray: ...
def report_noisy_max_true_delta(
    epsilon0: ArrayLike, shift_ratio: ArrayLike, lowest: ArrayLike = -np.inf
) -> float | FloatArray:
    """Return the exact delta at epsilon0 of choosing between two arms once.

    It is the supremum over x >= lowest of Phi(x + a) - exp(epsilon0) Phi(x), where x is the
    difference of the two means over the standard deviation of the difference of the two draws,
    and a is what x moves by between neighbours. The derivative has the sign of
    exp(-a x - a^2/2) - exp(epsilon0): positive up to x* = -epsilon0/a - a/2, negative after, so
    that x* is the only maximum. There the value is the Gaussian duality at eta = a; if x* is
    out of reach, the supremum is the value at `lowest`, or 0 (the empty event) if that is less.

    Source: ts-is-dp, claim TSDP-C28a and TSDP-E8 (unconstrained).

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
    second = np.exp(np.minimum(epsilons + log_ndtr(bound), 0.0))
    at_bound = np.maximum(ndtr(bound + shifts) - second, 0.0)
    return unwrap(np.where(reachable, delta(epsilons, shifts), at_bound))


@overload
def advanced_composition(epsilon0: float, rounds: int, slack: float) -> float: ...
@overload
def advanced_composition(epsilon0: ArrayLike, rounds: int, slack: ArrayLike) -> FloatArray: ...
def advanced_composition(epsilon0: ArrayLike, rounds: int, slack: ArrayLike) -> float | FloatArray:
    """Return the epsilon of composing `rounds` mechanisms that are (epsilon0, delta0)-DP.

    The composition is (epsilon0 sqrt(2 T log(1/slack)) + T epsilon0 (exp(epsilon0) - 1),
    T delta0 + slack)-DP; infinity where that overflows.

    Source: ts-is-dp, Corollary 1 (from Dwork, Rothblum and Vadhan, 2010).

    Args:
        epsilon0: Epsilon of one round, 0 or above.
        rounds: Number T of rounds, 1 or above.
        slack: Part of the final delta that pays for the composition, strictly in (0, 1).

    Raises:
        InputError: An argument is outside its range.
    """
    one, count = non_negative("epsilon0", epsilon0), integer("rounds", rounds, 1)
    width = np.sqrt(-2 * count * np.log(probability("slack", slack)))
    with np.errstate(over="ignore"):
        return unwrap(np.asarray(one * width + count * one * np.expm1(one)))


def ts_standard_epsilon(delta: Values, horizon: int, n_arms: int, split: str = "best") -> Values:
    """Return the epsilon that Corollary 1 claims for Thompson sampling over the horizon.

    The per-round guarantee of Theorem 7 under advanced composition, as printed. It does not hold
    in general, and its dependence on N is an artefact (TSDP-E8).

    Source: ts-is-dp, Corollary 1; the split of delta is TSDP-E5.

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

    return unwrap_like(delta, _composed(per_round, deltas, horizon, split))


def ts_corrected_standard_epsilon(delta: Values, horizon: int, split: str = "best") -> Values:
    """Return a valid epsilon of Thompson sampling by standard composition of its rounds.

    Each round gets the exact epsilon of 1/sqrt(2)-GDP: the one changed mean is released with
    Gaussian noise, and the choice of an arm is post-processing. It does not depend on the number
    of arms.

    Source: TSDP-E8 (ours), with the composition of ts-is-dp, Corollary 1.

    Args:
        delta: Final delta, strictly between 0 and 1. Any shape.
        horizon: Number of rounds T, 1 or above.
        split: "best" (default) or "half", as in `ts_standard_epsilon`.

    Raises:
        InputError: An argument is outside its range.
    """

    def per_round(parts: FloatArray) -> FloatArray:
        return epsilon(parts, _ROUND_ETA)

    return unwrap_like(delta, _composed(per_round, probability("delta", delta), horizon, split))


def ts_basic_standard_epsilon(delta: Values, horizon: int) -> Values:
    """Return a valid epsilon of Thompson sampling by basic composition of its rounds.

    Each round gets the exact epsilon of 1/sqrt(2)-GDP at delta/T; epsilons and deltas of the T
    rounds add up. It does not depend on the number of arms.

    Source: TSDP-E8 (ours).

    Args:
        delta: Final delta, strictly between 0 and 1. Any shape.
        horizon: Number of rounds T, 1 or above.

    Raises:
        InputError: An argument is outside its range.
    """
    rounds = integer("horizon", horizon, 1)
    per_round = epsilon(probability("delta", delta) / rounds, _ROUND_ETA)
    return unwrap_like(delta, rounds * per_round)


def _composed(
    per_round: Callable[[FloatArray], FloatArray], deltas: FloatArray, horizon: int, split: str
) -> FloatArray:
    """Advanced composition of equal rounds, with delta split between rounds and slack."""
    rounds = integer("horizon", horizon, 1)

    def composed(logit: FloatArray, deltas: FloatArray) -> FloatArray:
        epsilon0 = per_round(expit(logit) * deltas / rounds)
        return np.asarray(advanced_composition(epsilon0, rounds, expit(-logit) * deltas))

    if choice("split", split, SPLITS) == "half":
        return composed(np.zeros(deltas.shape), deltas)
    scan = composed(_SCAN.reshape(-1, *[1] * deltas.ndim), deltas)
    best = np.clip(scan.argmin(axis=0), 1, _SCAN.size - 2)
    bracket = (_SCAN[best - 1], _SCAN[best], _SCAN[best + 1])
    found = elementwise.find_minimum(composed, bracket, args=(deltas,))
    # Every split is valid, so the better of the two never claims too little.
    return np.asarray(np.fmin(scan.min(axis=0), found.f_x))
