"""Which engines audit which algorithm: a literal dict over the whole registry.

An algorithm outside it, such as a user's own, is audited as a black box.
"""

from collections.abc import Callable
from dataclasses import dataclass

from dpbandits.audit.blackbox.statistics import Statistic, isolated_pulls

LATTICE, FAR_TAIL, LIKELIHOOD = "A lattice", "A far tail", "A likelihood"
RELEASES, REPORTS, BLACK_BOX, SUPPORT = "B", "C", "D", "support"


@dataclass(frozen=True)
class Method:
    """How an algorithm is audited.

    Attributes:
        engines: engines that apply, by the names that rows have.
        statistics: (arm whose reward differs) -> statistic, written for the algorithm; the black
            box tries their thresholds first.
    """

    engines: tuple[str, ...] = (BLACK_BOX,)
    statistics: tuple[Callable[[int], Statistic], ...] = ()


_THOMPSON = Method((LATTICE, FAR_TAIL, LIKELIHOOD, BLACK_BOX))
_RELEASES = Method((RELEASES, BLACK_BOX))
_REPORTS = Method((REPORTS, BLACK_BOX))
_NON_PRIVATE = Method((SUPPORT, BLACK_BOX))

METHODS: dict[str, Method] = {
    "ts-gaussian": _THOMPSON,
    "m-ts-gaussian": _THOMPSON,
    "dp-ts-ucb": _THOMPSON,
    "lazy-dp-ts": Method(),
    "dp-ts": Method(),
    "anytime-lazy-ucb": _RELEASES,
    "dp-se": _RELEASES,
    "adap-ucb": Method((RELEASES, BLACK_BOX, SUPPORT)),
    "gdp-ncb": Method((RELEASES, BLACK_BOX), (isolated_pulls,)),
    "anytime-gdp-ncb": Method((RELEASES, BLACK_BOX), (isolated_pulls,)),
    "ldp-ncb": _REPORTS,
    "anytime-ldp-ncb": _REPORTS,
    "ldp-ucb-l": _REPORTS,
    "dp-bai": _RELEASES,
    "baseline": _RELEASES,
    "dp-od": _RELEASES,
    "dp-bai-gauss": _RELEASES,
    "od-linbai": _NON_PRIVATE,
    "sequential-halving": _NON_PRIVATE,
    "ucb1": _NON_PRIVATE,
    "ncb": _NON_PRIVATE,
}


def method_of(algorithm: str) -> Method:
    """Return how the algorithm of an id is audited; as a black box where it is not listed."""
    return METHODS.get(algorithm, Method())
