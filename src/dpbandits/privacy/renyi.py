"""Renyi differential privacy (RDP) of Gaussian mechanisms and its conversion to (epsilon, delta).

The RDP curve of a Gaussian mechanism, and of any composition of them, is a straight line
gamma(alpha) = slope * alpha; the slope is all there is to keep.

The functions take scalars or arrays (which broadcast) and answer with a float or an array.
"""

from typing import overload

import numpy as np
from numpy.typing import ArrayLike

from dpbandits.privacy._checks import (
    FloatArray,
    above_one,
    non_negative,
    positive,
    probability,
    unwrap,
)
from dpbandits.privacy.gaussian import gaussian_mechanism


@overload
def gaussian_rdp_slope(sensitivity: float, standard_deviation: float) -> float: ...
@overload
def gaussian_rdp_slope(sensitivity: ArrayLike, standard_deviation: ArrayLike) -> FloatArray: ...
def gaussian_rdp_slope(sensitivity: ArrayLike, standard_deviation: ArrayLike) -> float | FloatArray:
    """Return the slope s^2 / (2 sd^2) of a Gaussian mechanism's RDP curve.

    Source: ts-is-dp, appendix C.2 (from Mironov, 2017): (alpha, slope * alpha)-RDP, alpha > 1.

    Args:
        sensitivity: Largest change of the released value between neighbours, above 0.
        standard_deviation: Standard deviation of the noise, above 0.

    Raises:
        InputError: An argument is outside its range.
    """
    return np.square(gaussian_mechanism(sensitivity, standard_deviation)) / 2


def compose_rdp(gammas: ArrayLike) -> float | FloatArray:
    """Return the RDP parameter of an adaptive composition at one order: the sum.

    Since it holds at every order, it composes slopes just as well.

    Source: ts-is-dp, appendix C.2 (from Mironov, 2017).

    Args:
        gammas: RDP parameters of the parts at the same order, 0 or above; the last axis is
            composed.

    Raises:
        InputError: An argument is outside its range.
    """
    return unwrap(np.asarray(np.atleast_1d(non_negative("gammas", gammas)).sum(axis=-1)))


@overload
def rdp_to_dp_at_order(gamma: float, alpha: float, delta: float) -> float: ...
@overload
def rdp_to_dp_at_order(gamma: ArrayLike, alpha: ArrayLike, delta: ArrayLike) -> FloatArray: ...
def rdp_to_dp_at_order(gamma: ArrayLike, alpha: ArrayLike, delta: ArrayLike) -> float | FloatArray:
    """Return the epsilon that (alpha, gamma)-RDP implies at delta.

    Source: ts-is-dp, appendix C.2 (from Mironov, 2017): gamma + log(1/delta) / (alpha - 1).

    Args:
        gamma: RDP parameter at the order alpha, 0 or above.
        alpha: Order, above 1.
        delta: Strictly between 0 and 1.

    Raises:
        InputError: An argument is outside its range.
    """
    gammas, orders = non_negative("gamma", gamma), above_one("alpha", alpha)
    return unwrap(gammas - np.log(probability("delta", delta)) / (orders - 1))


@overload
def optimal_order(slope: float, delta: float) -> float: ...
@overload
def optimal_order(slope: ArrayLike, delta: ArrayLike) -> FloatArray: ...
def optimal_order(slope: ArrayLike, delta: ArrayLike) -> float | FloatArray:
    """Return the order that minimises the converted epsilon of a straight RDP curve.

    slope * alpha + log(1/delta)/(alpha - 1) is convex in alpha, with its derivative zero at
    alpha = 1 + sqrt(log(1/delta) / slope).

    Source: derived; ts-is-dp, Theorem 8, for the slope T/4.

    Args:
        slope: Slope of the RDP curve, above 0.
        delta: Strictly between 0 and 1.

    Raises:
        InputError: An argument is outside its range.
    """
    logs = np.log(probability("delta", delta))
    return unwrap(1 + np.sqrt(-logs / positive("slope", slope)))


@overload
def rdp_to_dp(slope: float, delta: float) -> float: ...
@overload
def rdp_to_dp(slope: ArrayLike, delta: ArrayLike) -> FloatArray: ...
def rdp_to_dp(slope: ArrayLike, delta: ArrayLike) -> float | FloatArray:
    """Return the smallest epsilon over all orders that a straight RDP curve implies at delta.

    It is slope + 2 sqrt(slope * log(1/delta)), the conversion at `optimal_order`.

    Source: derived; ts-is-dp, Theorem 8, for the slope T/4.

    Args:
        slope: Slope of the RDP curve, above 0.
        delta: Strictly between 0 and 1.

    Raises:
        InputError: An argument is outside its range.
    """
    slopes = positive("slope", slope)
    return unwrap(slopes + 2 * np.sqrt(-slopes * np.log(probability("delta", delta))))
