"""Every algorithm of the project, in one literal dict; tests run over all of it."""

from dpbandits.algorithms import (
    anytime_lazy_ucb,
    dp_se,
    dp_ts,
    dp_ts_ucb,
    lazy_dp_ts,
    m_ts_gaussian,
    ts_gaussian,
    ucb1,
)
from dpbandits.algorithms.base import Algorithm
from dpbandits.errors import InputError

REGISTRY: dict[str, Algorithm] = {
    "ts-gaussian": ts_gaussian.ALGORITHM,
    "m-ts-gaussian": m_ts_gaussian.ALGORITHM,
    "dp-se": dp_se.ALGORITHM,
    "anytime-lazy-ucb": anytime_lazy_ucb.ALGORITHM,
    "ucb1": ucb1.ALGORITHM,
    "dp-ts-ucb": dp_ts_ucb.ALGORITHM,
    "lazy-dp-ts": lazy_dp_ts.ALGORITHM,
    "dp-ts": dp_ts.ALGORITHM,
}


def find_algorithm(algorithm: str | Algorithm) -> Algorithm:
    """Return the algorithm of an id (an Algorithm is returned as it is); InputError if unknown."""
    if isinstance(algorithm, Algorithm):
        return algorithm
    if not isinstance(algorithm, str) or algorithm not in REGISTRY:
        raise InputError(f"algorithm is {algorithm!r}; allowed: {', '.join(REGISTRY)}")
    return REGISTRY[algorithm]


__all__ = ["REGISTRY", "Algorithm", "find_algorithm"]
