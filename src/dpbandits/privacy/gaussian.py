"""Gaussian differential privacy (GDP): composition, duality with (epsilon, delta).

Everything rests on one identity. With u = eta/2 - epsilon/eta and v = u - eta we have
exp(epsilon) phi(v) = phi(u), so that the duality (ts-is-dp, Lemma 1)

    delta = Phi(u) - exp(epsilon) Phi(v)

equals phi(u) (M(-u) - M(-v)), where M(x) = Phi(-x)/phi(x) is Mills' ratio, and
1 - delta = Phi(-u) + phi(u) M(-v). No exponential of epsilon is left: the first form serves
where delta is small, the second where delta is close to 1.

The functions take scalars or arrays (which broadcast) and answer with a float or an array; an
argument outside its range is an InputError.
"""

from collections.abc import Callable

import numpy as np
import scipy
from numpy.typing import ArrayLike

from dpbandits.privacy._checks import (
    FloatArray,
    Numbers,
    non_negative,
    positive,
    probability,
    unwrap,
)

# Below this eta, or above this argument, a difference of Mills ratios loses more digits than the
# midpoint rule (at the first switch less than 1e-9 of delta, at the second less than log delta
# can resolve).
_SMALL_ETA = 1e-5
_FAR_TAIL = 1e5


def compose_gdp(etas: ArrayLike) -> Numbers:
    """Return the GDP parameter of an adaptive composition: the root of the sum of squares.

    Source: ts-is-dp, Lemma 2.

    Args:
        etas: GDP parameters of the parts, 0 or above; the last axis is composed.

    Returns:
        eta, with the shape of `etas` without its last axis (a float for one axis).
    """
    parts = np.atleast_1d(non_negative("etas", etas))
    return unwrap(np.sqrt(np.square(parts).sum(axis=-1)))


def log_delta(epsilon: ArrayLike, eta: ArrayLike) -> Numbers:
    """Return the natural logarithm of the smallest delta of eta-GDP at epsilon.

    Source: ts-is-dp, Lemma 1.

    Args:
        epsilon: 0 or above.
        eta: GDP parameter, above 0.
    """
    return unwrap(_log_delta(non_negative("epsilon", epsilon), positive("eta", eta)))


def delta(epsilon: ArrayLike, eta: ArrayLike) -> Numbers:
    """Return the smallest delta such that eta-GDP implies (epsilon, delta)-DP.

    It is 0 where it is below the smallest double; `log_delta` still tells it there.

    Source: ts-is-dp, Lemma 1 and Theorem 3.

    Args:
        epsilon: 0 or above.
        eta: GDP parameter, above 0.
    """
    return np.exp(log_delta(epsilon, eta))


def epsilon(delta: ArrayLike, eta: ArrayLike) -> Numbers:
    """Return the smallest epsilon such that eta-GDP implies (epsilon, delta)-DP.

    It is 0 where delta is at least the delta of epsilon = 0, which is 2 Phi(eta/2) - 1.

    Source: the inverse of ts-is-dp, Lemma 1.

    Args:
        delta: Strictly between 0 and 1.
        eta: GDP parameter, above 0.
    """
    deltas, etas = np.broadcast_arrays(probability("delta", delta), positive("eta", eta))
    zero = np.zeros(etas.shape)
    largest = _log_delta(zero, etas)
    # Where no epsilon above 0 is needed, any target that keeps the bracket valid will do.
    target = np.minimum(np.log(deltas), largest)
    # delta <= Phi(u) bounds epsilon; the factor outweighs the rounding of the bound.
    upper = np.maximum(etas * (etas / 2 - scipy.special.ndtri(deltas)), 0.0) * (1 + 1e-9) + 1e-300

    def excess(guess: FloatArray, etas: FloatArray, target: FloatArray) -> FloatArray:
        return _log_delta(guess, etas) - target

    root = _root(excess, zero, upper, etas, target)
    return unwrap(np.where(np.log(deltas) >= largest, 0.0, root))


def eta_from(epsilon: ArrayLike, delta: ArrayLike) -> Numbers:
    """Return the one eta whose GDP has exactly this delta at this epsilon.

    Source: ts-is-dp, Lemma 1, solved for the GDP parameter.

    Args:
        epsilon: 0 or above.
        delta: Strictly between 0 and 1.
    """
    epsilons, deltas = np.broadcast_arrays(
        non_negative("epsilon", epsilon), probability("delta", delta)
    )
    lower, upper = _eta_bounds(epsilons, deltas)

    def excess(log_eta: FloatArray, epsilons: FloatArray, target: FloatArray) -> FloatArray:
        return _log_delta(epsilons, np.exp(log_eta)) - target

    # eta may span hundreds of orders of magnitude, hence its logarithm.
    return unwrap(np.exp(_root(excess, np.log(lower), np.log(upper), epsilons, np.log(deltas))))


def _eta_bounds(epsilons: FloatArray, deltas: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Bracket the eta of (epsilon, delta).

    Below: delta <= Phi(u) means eta >= z + sqrt(z^2 + 2 epsilon) with Phi(z) = delta. Above: for
    every w, delta is at least Phi(w) - exp(epsilon) Phi(w - eta); take w with
    Phi(w) = (1 + delta)/2 and eta such that the second term is (1 - delta)/2.
    """
    z = scipy.special.ndtri(deltas)
    root = np.hypot(z, np.sqrt(2 * epsilons))
    # The same number in two forms; the second has no cancellation for z < 0.
    lower = np.where(z < 0, 2 * epsilons / (root + np.abs(z) + (root == 0)), z + root)
    w = np.sqrt(2) * scipy.special.erfinv(deltas)
    upper = w - scipy.special.ndtri_exp(np.log1p(-deltas) - np.log(2) - epsilons)
    # The slack outweighs rounding; 5e-324 is the smallest double.
    return np.maximum(lower * (1 - 1e-9), 5e-324), upper * (1 + 1e-9) + 1e-15


def _log_delta(epsilons: FloatArray, etas: FloatArray) -> FloatArray:
    # Far outside the range of doubles the honest answer is -inf, without a warning.
    with np.errstate(over="ignore", divide="ignore"):
        u = etas / 2 - epsilons / etas
        log_phi = -(u**2) / 2 - np.log(2 * np.pi) / 2
        # Clipping keeps each form finite where the other one is used.
        small = log_phi + _log_mills_gap(np.maximum(-u, -1.0), etas)
        complement = scipy.special.ndtr(-u) + np.exp(log_phi) * _mills(np.maximum(etas - u, 0.0))
    return np.asarray(np.where(u <= 1, small, np.log1p(-np.minimum(complement, 0.5))))


def _mills(x: FloatArray) -> FloatArray:
    """Mills' ratio Phi(-x)/phi(x)."""
    return np.asarray(np.sqrt(np.pi / 2) * scipy.special.erfcx(x / np.sqrt(2)))


def _log_mills_gap(x: FloatArray, etas: FloatArray) -> FloatArray:
    """Logarithm of M(x) - M(x + eta)."""
    middle = x + etas / 2
    # -M'(x) = 1 - x M(x), which cancels in the far tail; there it is 1/(x^2 + 3 - ...).
    near = np.minimum(middle, 0.1 * _FAR_TAIL)
    slope = np.where(middle > near, 1 / (middle**2 + 3), 1 - near * _mills(near))
    midpoint_rule = (etas < _SMALL_ETA) | (x > _FAR_TAIL)
    gap = np.where(midpoint_rule, slope, _mills(x) - _mills(x + etas))
    return np.log(gap) + np.where(midpoint_rule, np.log(etas), 0.0)


def _root(
    function: Callable[..., FloatArray], lower: FloatArray, upper: FloatArray, *args: FloatArray
) -> FloatArray:
    """Roots of a function, element by element, inside brackets."""
    from scipy.optimize import elementwise  # A third of a second, which most commands do without.

    result = elementwise.find_root(function, (lower, upper), args=args)
    if not np.all(result.success):
        raise ArithmeticError("the conversion between epsilon, delta and eta did not converge")
    return np.asarray(result.x, dtype=np.float64)
