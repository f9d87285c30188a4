"""Every algorithm of the project, in one literal dict; tests run over all of it."""

from dpbandits.algorithms import (
    adap_ucb,
    anytime_ncb,
    best_arm,
    dp_se,
    dp_ts,
    dp_ts_ucb,
    gdp_ncb,
    lazy,
    ldp_ncb,
    ldp_ucb_l,
    ncb,
    thompson,
    ucb1,
)
from dpbandits.algorithms.base import Algorithm, Definition, IdentificationAlgorithm
from dpbandits.errors import InputError

REGISTRY: dict[str, Definition] = {
    "ts-gaussian": thompson.PLAIN,
    "m-ts-gaussian": thompson.MODIFIED,
    "dp-se": dp_se.ALGORITHM,
    "anytime-lazy-ucb": lazy.LAZY_UCB,
    "ucb1": ucb1.ALGORITHM,
    "dp-ts-ucb": dp_ts_ucb.ALGORITHM,
    "lazy-dp-ts": lazy.LAZY_TS,
    "dp-ts": dp_ts.ALGORITHM,
    "dp-bai": best_arm.DP_BAI,
    "dp-bai-gauss": best_arm.DP_BAI_GAUSS,
    "baseline": best_arm.BASELINE,
    "od-linbai": best_arm.OD_LINBAI,
    "dp-od": best_arm.DP_OD,
    "sequential-halving": best_arm.SEQUENTIAL_HALVING,
    "gdp-ncb": gdp_ncb.ALGORITHM,
    "adap-ucb": adap_ucb.ALGORITHM,
    "ncb": ncb.ALGORITHM,
    "ldp-ncb": ldp_ncb.ALGORITHM,
    "ldp-ucb-l": ldp_ucb_l.ALGORITHM,
    "anytime-gdp-ncb": anytime_ncb.GLOBAL,
    "anytime-ldp-ncb": anytime_ncb.LOCAL,
}


REGRET = {name: each for name, each in REGISTRY.items() if isinstance(each, Algorithm)}
"""Those that play to a horizon and are judged by regret."""

IDENTIFICATION = {
    name: each for name, each in REGISTRY.items() if isinstance(each, IdentificationAlgorithm)
}
"""Those that name the best arm within a budget."""


def find_definition(algorithm: str | Definition) -> Definition:
    """Return the algorithm of an id (an object is returned as it is); InputError if unknown."""
    if isinstance(algorithm, Definition):
        return algorithm
    if not isinstance(algorithm, str) or algorithm not in REGISTRY:
        raise InputError.unknown("algorithm", algorithm, REGISTRY)
    return REGISTRY[algorithm]


def find_algorithm(algorithm: str | Algorithm) -> Algorithm:
    """Return the regret algorithm of an id, or the object itself; InputError otherwise."""
    found = find_definition(algorithm)
    if not isinstance(found, Algorithm):
        raise InputError(
            f"algorithm is {found.id!r}, which names a best arm; allowed: {', '.join(REGRET)}"
        )
    return found


def find_identification(algorithm: str | IdentificationAlgorithm) -> IdentificationAlgorithm:
    """Return the identification algorithm of an id, or the object itself; InputError otherwise."""
    found = find_definition(algorithm)
    if not isinstance(found, IdentificationAlgorithm):
        allowed = ", ".join(IDENTIFICATION)
        raise InputError(f"algorithm is {found.id!r}, which names no best arm; allowed: {allowed}")
    return found


__all__ = [
    "IDENTIFICATION",
    "REGISTRY",
    "REGRET",
    "Algorithm",
    "Definition",
    "IdentificationAlgorithm",
    "find_algorithm",
    "find_definition",
    "find_identification",
]
