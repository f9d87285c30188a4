"""Functions on a line that are smooth between breaks: densities and their integrals."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.polynomial import chebyshev
from numpy.typing import NDArray

from dpbandits.audit.releases.laplace import Values

NODES = 16
"""Chebyshev nodes between two breaks; the functions are sums of exponentials and polynomials."""

LONGEST, REACH = 3.0, 36.0
"""Longest piece, and where a Laplace law is cut, in scales; the tails have chance exp(-36)."""

_UNIT = chebyshev.chebpts1(NODES)
_TO_COEFFICIENTS = np.linalg.inv(chebyshev.chebvander(_UNIT, NODES - 1))


@dataclass(frozen=True)
class Piecewise:
    """A function that is 0 outside of its breaks and a polynomial between two of them.

    Attributes:
        breaks: increasing, shape (m + 1,).
        integral: Chebyshev coefficients of its integral from the left end of each piece,
            shape (NODES + 1, m).
        coefficients: of the function itself, shape (NODES, m).
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
        left = self._below(high) - self._below(low)
        right = self._above(low) - self._above(high)
        middle = self._below(low) > self._above(low)
        return np.maximum(np.where(middle, right, left), 0.0)

    def total(self) -> float:
        """Return the integral over the whole line."""
        return float(self._pieces().sum())

    def _place(self, x: Values) -> tuple[NDArray[np.int64], Values]:
        piece = np.clip(np.searchsorted(self.breaks, x, side="right") - 1, 0, self.breaks.size - 2)
        low, high = self.breaks[piece], self.breaks[piece + 1]
        return piece, np.clip((2.0 * x - low - high) / (high - low), -1.0, 1.0)

    def _pieces(self) -> Values:
        return np.asarray(self.integral.sum(axis=0))

    def _below(self, x: Values) -> Values:
        piece, place = self._place(x)
        before = np.concatenate([[0.0], np.cumsum(self._pieces())])[piece]
        within = chebyshev.chebval(place, self.integral[:, piece], tensor=False)
        return np.asarray(before + within)

    def _above(self, x: Values) -> Values:
        piece, place = self._place(x)
        pieces = self._pieces()
        after = np.concatenate([np.cumsum(pieces[::-1])[::-1], [0.0]])[piece + 1]
        within = chebyshev.chebval(place, self.integral[:, piece], tensor=False)
        return np.asarray(after + pieces[piece] - within)


def fit(function: Callable[[Values], Values], breaks: Values) -> Piecewise:
    """Return a function as polynomials between breaks.

    Args:
        function: of an array of points, smooth between the breaks.
        breaks: where it begins, is not smooth, and ends; any order.
    """
    ends = np.unique(breaks)
    ends = ends[np.concatenate([[True], np.diff(ends) > 1e-11])]
    half = np.diff(ends) / 2.0
    points = ends[:-1] + half + _UNIT[:, None] * half
    coefficients = _TO_COEFFICIENTS @ function(points)
    integral = chebyshev.chebint(coefficients, lbnd=-1.0, axis=0) * half
    return Piecewise(ends, integral, coefficients)


def laplace_breaks(centre: float, scale: float) -> Values:
    """Return breaks for a function with the tails of a Laplace density.

    Args:
        centre: of the law.
        scale: above 0.
    """
    pieces = round(REACH / LONGEST)
    return np.asarray(centre + scale * LONGEST * np.arange(-pieces, pieces + 1), np.float64)


def laplace_density(x: Values, centre: float, scale: float) -> Values:
    """Return the Laplace density.

    Args:
        x: any shape.
        centre: of the law.
        scale: above 0.
    """
    return np.asarray(np.exp(-np.abs(x - centre) / scale) / (2.0 * scale))
