"""Every algorithm of the project, in one literal dict; tests run over all of it."""

from dpbandits.algorithms import (
    adap_ucb,
    anytime_ncb,
    best_arm,
    dp_se,
    dp_ts,
    dp_ts_ucb,
    gdp_ncb,
    kl_ucb,
    lazy,
    ldp_ncb,
    ldp_ucb_l,
    ncb,
    thompson,
    ts_beta,
    ucb1,
)
from dpbandits.algorithms.base import Algorithm, Definition, IdentificationAlgorithm
from dpbandits.errors import InputError

REGISTRY: dict[str, Definition] = {
    "ts-gaussian": thompson.PLAIN,
    "m-ts-gaussian": thompson.MODIFIED,
    "dp-ts-ucb": dp_ts_ucb.ALGORITHM,
    "dp-bai": best_arm.DP_BAI,
    "baseline": best_arm.BASELINE,
    "dp-od": best_arm.DP_OD,
    "dp-bai-gauss": best_arm.DP_BAI_GAUSS,
    "gdp-ncb": gdp_ncb.ALGORITHM,
    "anytime-gdp-ncb": anytime_ncb.GLOBAL,
    "ldp-ncb": ldp_ncb.ALGORITHM,
    "anytime-ldp-ncb": anytime_ncb.LOCAL,
    "adap-ucb": adap_ucb.ALGORITHM,
    "anytime-lazy-ucb": lazy.LAZY_UCB,
    "lazy-dp-ts": lazy.LAZY_TS,
    "dp-ts": dp_ts.ALGORITHM,
    "dp-se": dp_se.ALGORITHM,
    "ldp-ucb-l": ldp_ucb_l.ALGORITHM,
    "ucb1": ucb1.ALGORITHM,
    "kl-ucb": kl_ucb.ALGORITHM,
    "ts-beta": ts_beta.ALGORITHM,
    "ncb": ncb.ALGORITHM,
    "od-linbai": best_arm.OD_LINBAI,
    "sequential-halving": best_arm.SEQUENTIAL_HALVING,
}
"""Those of the four papers first, then private and other baselines; lists have this order."""


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
