"""What the features alone decide about a set of arms, remembered over phases, trials and blocks."""

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from dpbandits.algorithms.best_arm.g_optimal import g_optimal
from dpbandits.algorithms.best_arm.max_det import max_det
from dpbandits.algorithms.best_arm.span import FloatArray, multiply_rows, rank_of, span_of

Arms = NDArray[np.int64]

REMEMBERED_SETS = 512
REMEMBERED_INSTANCES = 8


@dataclass(frozen=True, eq=False)
class Collection:
    """Arms to pull in place of all active ones.

    Attributes:
        arms: their numbers, increasing, shape (r,).
        coefficients: every active arm as a combination of them, shape (s, r).
        exact: whether the search for them was exhaustive.
    """

    arms: Arms
    coefficients: FloatArray
    exact: bool


@dataclass(frozen=True, eq=False)
class Regressors:
    """What a regression on the active arms works with.

    Attributes:
        coordinates: their features in a basis of their span, shape (s, r); r may be 0.
        weights: share of the pulls of each, shape (s,).
    """

    coordinates: FloatArray
    weights: FloatArray


class Geometry:
    """Answers for sets of arms of one instance; sets are increasing arrays of arm numbers."""

    def __init__(self, features: FloatArray) -> None:
        """Remember the features, shape (K, d)."""
        self.features = features
        self._collection = lru_cache(REMEMBERED_SETS)(self._find_collection)
        self._regressors = lru_cache(REMEMBERED_SETS)(self._find_regressors)

    @cached_property
    def rank(self) -> int:
        """Dimension of the span of all features."""
        return rank_of(self.features)

    def collection(self, active: Arms) -> Collection | None:
        """Return a Max-Det collection of the active arms, or None where all are to be pulled.

        All are where their rank r is 0 or at least the root of their number (BAI-E11).
        """
        return self._collection(active.tobytes())

    def regressors(self, active: Arms, basis: str) -> Regressors:
        """Return coordinates and the G-optimal design of the active arms.

        ``basis`` is ``orthonormal`` or ``features`` (as many independent features). It is used
        where the span is not the whole space; where it is, the axes stay as they are. Arms whose
        features are all 0 have no coordinates and equal weights.
        """
        return self._regressors(active.tobytes(), basis)

    def _find_collection(self, key: bytes) -> Collection | None:
        active = np.frombuffer(key, np.int64)
        features = self.features[active]
        rank = rank_of(features)
        if rank == 0 or rank * rank >= active.size:
            return None
        found = max_det(span_of(features).coordinates)
        return Collection(active[list(found.arms)], found.coefficients, found.exact)

    def _find_regressors(self, key: bytes, basis: str) -> Regressors:
        active = np.frombuffer(key, np.int64)
        features = self.features[active]
        span = span_of(features)
        if span.rank == 0:
            return Regressors(np.empty((active.size, 0)), np.full(active.size, 1.0 / active.size))
        coordinates, weights = span.coordinates, g_optimal(span.coordinates).weights
        if basis == "features" and span.rank < features.shape[1]:
            inverse = np.linalg.inv(coordinates[span.pivots])
            coordinates = multiply_rows(coordinates, inverse)
        return Regressors(coordinates, weights)


@lru_cache(REMEMBERED_INSTANCES)
def geometry_of(features: tuple[tuple[float, ...], ...]) -> Geometry:
    """Return the one geometry of an instance, given by ``LinearBandit.features``."""
    return Geometry(np.array(features))
