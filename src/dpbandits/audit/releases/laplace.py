"""Exact chances of decisions between noisy sums, in logarithms.

Noise is Laplace; its scale is given, or 1. Every term that is summed is positive, so that chances
keep their digits however small they are.
"""

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import exprel, logsumexp

Values = NDArray[np.float64]

NODES = 48
"""Nodes of the Gauss-Legendre rule on each interval."""


def log_tail(c: ArrayLike, scale: float = 1.0) -> Values:
    """Return log P(L > c) of one Laplace variable.

    Args:
        c: any shape.
        scale: above 0.
    """
    return _two_sided(np.asarray(c, np.float64) / scale, lambda z: -z - math.log(2.0))


def log_tail_of_two(c: ArrayLike, first: float = 1.0, second: float = 1.0) -> Values:
    """Return log P(b1 L1 + b2 L2 > c) for independent Laplace variables of scale 1.

    For c >= 0, with b1 >= b2, r = b2/b1 and z = c/b1, the chance is
    exp(-z) (1/2 + r z g((1/b2 - 1/b1) c) / (2 (1 + r))), where g(u) = (1 - exp(-u)) / u. This is
    the usual formula with its common factor b1 - b2 taken out; it is continuous there.

    Args:
        c: any shape.
        first: b1, above 0.
        second: b2, above 0.
    """
    large, small = max(first, second), min(first, second)
    ratio = small / large

    def upper(z: Values) -> Values:
        slope = ratio / (2.0 * (1.0 + ratio)) * exprel(-z * (1.0 - ratio) / ratio)
        return np.asarray(-z + np.log(0.5 + slope * z))

    return _two_sided(np.asarray(c, np.float64) / large, upper)


def log_cdf(values: ArrayLike) -> NDArray[np.float64]:
    """Return ln F, F the standard Laplace distribution function, exact in either tail.

    Args:
        values: any shape.
    """
    x = np.asarray(values, np.float64)
    tail = 0.5 * np.exp(-np.abs(x))
    return np.where(x < 0.0, math.log(0.5) + x, np.log1p(-tail))


def laplace_mass(low: ArrayLike, high: ArrayLike) -> Values:
    """Return P(low < L < high) of a standard Laplace variable, exact in both tails.

    Args:
        low: may be infinite.
        high: likewise, above ``low``.
    """
    low, high = np.asarray(low, np.float64), np.asarray(high, np.float64)
    # Both ends on the side where the tails are small, mirrored to the left of 0.
    mirrored = low > 0.0
    first, second = np.where(mirrored, -high, low), np.where(mirrored, -low, high)

    def below(x: Values) -> Values:
        tail = np.exp(-np.abs(x)) / 2.0
        return np.where(x < 0.0, tail, 1.0 - tail)

    return np.asarray(below(second) - below(first))


def _two_sided(z: Values, upper: Callable[[Values], Values]) -> Values:
    """Extend the log tail of a symmetric law from z >= 0 to the left."""
    right = upper(np.abs(z))
    return np.where(z >= 0.0, right, np.log1p(-np.exp(right)))


def log_selection(kept: ArrayLike, lost: ArrayLike) -> Values:
    """Return log P(every kept sum comes out above every lost one), with Laplace noise of scale 1.

    The highest of the lost ones has density sum_j f(z - lost_j) prod_i F(z - lost_i) over the other
    i, and all of the kept ones are above z with chance prod S(z - kept). Between the sums the
    integral is by Gauss and Legendre; outside of all, exp(z) makes it a polynomial.

    Args:
        kept: sums in units of the noise's scale, shape (..., a).
        lost: likewise, shape (..., b).
    """
    high, low = np.asarray(kept, np.float64), np.asarray(lost, np.float64)
    batch = np.broadcast_shapes(high.shape[:-1], low.shape[:-1])
    high = np.broadcast_to(high, (*batch, high.shape[-1]))
    low = np.broadcast_to(low, (*batch, low.shape[-1]))
    points, log_weights = _nodes(np.sort(np.concatenate([high, low], axis=-1), axis=-1))
    below = log_tail(low[..., None] - points[..., None, :])
    density = -np.abs(points[..., None, :] - low[..., None]) - np.log(2.0)
    above = log_tail(points[..., None, :] - high[..., None]).sum(axis=-2)
    # One of the lost ones is at z, the others below.
    others = below.sum(axis=-2, keepdims=True) - below
    terms = logsumexp(density + others, axis=-2) + above + log_weights
    return np.asarray(logsumexp(terms, axis=-1))


def _nodes(breaks: Values) -> tuple[Values, Values]:
    """Return points and log weights on the whole line, cut at the breaks, shape (..., k)."""
    nodes, weights = np.polynomial.legendre.leggauss(NODES)
    unit, log_weights = (nodes + 1.0) / 2.0, np.log(weights / 2.0)
    lengths = np.diff(breaks, axis=-1)[..., None]
    inside = breaks[..., :-1, None] + lengths * unit
    with np.errstate(divide="ignore"):
        log_inside = np.log(lengths) + log_weights
    # z = first + log u on the left, last - log u on the right, with dz = du / u.
    left, right = breaks[..., :1] + np.log(unit), breaks[..., -1:] - np.log(unit)
    tail = np.broadcast_to(log_weights - np.log(unit), left.shape)
    flat = (*breaks.shape[:-1], -1)
    points = np.concatenate([left, inside.reshape(flat), right], axis=-1)
    return points, np.concatenate([tail, log_inside.reshape(flat), tail], axis=-1)
