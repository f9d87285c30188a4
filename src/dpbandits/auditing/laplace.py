"""Exact chances of decisions between noisy sums, in logarithms, and the largest loss they make.

Noise is Laplace; its scale is given, or 1. In ``log_`` functions every term that is summed is
positive, so that chances keep their digits however small they are. ``Piecewise`` is for integrals
over Laplace laws (``index_policies``).
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.polynomial import chebyshev
from numpy.typing import ArrayLike, NDArray
from scipy.special import exprel, logsumexp

from dpbandits.auditing.events import Event, Values

NODES = 48  # of the Gauss-Legendre rule on each interval


def log_tail(c: ArrayLike, scale: float = 1.0) -> Values:
    """Return log P(L > c) of one Laplace variable."""
    return _two_sided(np.asarray(c, np.float64) / scale, lambda z: -z - math.log(2.0))


def log_tail_of_two(c: ArrayLike, first: float = 1.0, second: float = 1.0) -> Values:
    """Return log P(b1 L1 + b2 L2 > c) for independent Laplace variables of scale 1.

    For c >= 0, with b1 >= b2, r = b2/b1 and z = c/b1, the chance is
    exp(-z) (1/2 + r z g((1/b2 - 1/b1) c) / (2 (1 + r))), where g(u) = (1 - exp(-u)) / u. This is
    the usual formula with its common factor b1 - b2 taken out; it is continuous there.
    """
    large, small = max(first, second), min(first, second)
    ratio = small / large

    def upper(z: Values) -> Values:
        slope = ratio / (2.0 * (1.0 + ratio)) * exprel(-z * (1.0 - ratio) / ratio)
        return np.asarray(-z + np.log(0.5 + slope * z))

    return _two_sided(np.asarray(c, np.float64) / large, upper)


def laplace_mass(low: ArrayLike, high: ArrayLike) -> Values:
    """Return P(low < L < high) of a standard Laplace variable, exact in both tails."""
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
    """
    high, low = np.asarray(kept, np.float64), np.asarray(lost, np.float64)
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


CHEBYSHEV_NODES = 16
"""Chebyshev nodes between two breaks; the functions are sums of exponentials and polynomials."""

LONGEST, REACH = 3.0, 36.0
"""Longest piece, and where a Laplace law is cut, in scales; the tails have chance exp(-36)."""

_UNIT = chebyshev.chebpts1(CHEBYSHEV_NODES)
_TO_COEFFICIENTS = np.linalg.inv(chebyshev.chebvander(_UNIT, CHEBYSHEV_NODES - 1))


@dataclass(frozen=True)
class Piecewise:
    """A function that is 0 outside of its increasing breaks and a polynomial between two of them.

    By piece, its Chebyshev coefficients and those of its integral from the left end.
    """

    breaks: Values
    integral: Values
    coefficients: Values

    def __call__(self, x: Values) -> Values:
        """Return the values at points of any shape."""
        piece, place = self._place(x)
        inside = (x >= self.breaks[0]) & (x <= self.breaks[-1])
        value = chebyshev.chebval(place, self.coefficients[:, piece], tensor=False)
        return np.where(inside, value, 0.0)

    def mass(self, low: Values, high: Values) -> Values:
        """Return the integrals between points; either may be infinite.

        Differences are taken from the nearer end, so that small masses in a tail keep their digits.
        """
        (below_low, above_low), (below_high, above_high) = map(self._sides, (low, high))
        masses = np.where(below_low > above_low, above_low - above_high, below_high - below_low)
        return np.maximum(masses, 0.0)

    def total(self) -> float:
        """Return the integral over the whole line."""
        return float(self.integral.sum(axis=0).sum())

    def _place(self, x: Values) -> tuple[NDArray[np.int64], Values]:
        piece = np.clip(np.searchsorted(self.breaks, x, side="right") - 1, 0, self.breaks.size - 2)
        low, high = self.breaks[piece], self.breaks[piece + 1]
        return piece, np.clip((2.0 * x - low - high) / (high - low), -1.0, 1.0)

    def _sides(self, x: Values) -> tuple[Values, Values]:
        """Return the integrals below and above points."""
        piece, place = self._place(x)
        pieces = self.integral.sum(axis=0)
        before = np.concatenate([[0.0], np.cumsum(pieces)])[piece]
        after = np.concatenate([np.cumsum(pieces[::-1])[::-1], [0.0]])[piece + 1]
        within = chebyshev.chebval(place, self.integral[:, piece], tensor=False)
        return before + within, after + pieces[piece] - within


def fit(function: Callable[[Values], Values], breaks: Values) -> Piecewise:
    """Return a function as polynomials between breaks."""
    ends = np.unique(breaks)
    ends = ends[np.concatenate([[True], np.diff(ends) > 1e-11])]
    half = np.diff(ends) / 2.0
    points = ends[:-1] + half + _UNIT[:, None] * half
    coefficients = _TO_COEFFICIENTS @ function(points)
    integral = chebyshev.chebint(coefficients, lbnd=-1.0, axis=0) * half
    return Piecewise(ends, integral, coefficients)


def laplace_breaks(centre: float, scale: float) -> Values:
    """Return breaks for a function with the tails of a Laplace density."""
    pieces = round(REACH / LONGEST)
    return np.asarray(centre + scale * LONGEST * np.arange(-pieces, pieces + 1), np.float64)


def gauss_pieces(ends: Values, nodes: int) -> tuple[Values, Values]:
    """Return the nodes and weights of Gauss and Legendre between neighbouring ends."""
    unit, weights = np.polynomial.legendre.leggauss(nodes)
    half = np.diff(ends)[:, None] / 2.0
    return (ends[:-1, None] + half * (unit + 1.0)).ravel(), (half * weights).ravel()


def laplace_density(x: Values, centre: float, scale: float) -> Values:
    """Return the Laplace density."""
    return np.asarray(np.exp(-np.abs(x - centre) / scale) / (2.0 * scale))


def largest_loss(log_chances: Values, least_log_chance: float = -math.inf) -> Event:
    """Return the event of the largest loss between neighbouring tables.

    Log chances are by output along the first axis and by table along the others, along each of
    which the next table is a neighbour. Outputs whose smaller chance is below the least one are
    left out. The event's place is its output and the first table.
    """
    events = [Event("", 0.0, 0.0)]
    for axis in range(1, log_chances.ndim):
        tables = np.arange(log_chances.shape[axis])
        x, other = (np.take(log_chances, rows, axis=axis) for rows in (tables[:-1], tables[1:]))
        steps = np.where(np.minimum(x, other) >= least_log_chance, np.abs(other - x), 0.0)
        place = np.unravel_index(steps.argmax(), steps.shape)
        at = tuple(map(int, place))
        events += [Event("", float(x[at]), float(other[at]), place=at)] if steps[at] else []
    return max(events, key=lambda event: event.epsilon)
