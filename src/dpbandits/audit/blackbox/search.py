"""The search for a bad pair of tables, on runs that are used for nothing else."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from dpbandits.audit.blackbox.certificate import SEARCH, Budget, Mechanism, choose_event
from dpbandits.audit.blackbox.choice import Measure
from dpbandits.audit.tables import Pair


@dataclass(frozen=True)
class Search:
    """The pair of the largest bound in the search.

    Attributes:
        pair: the pair; the first one of equals.
        pairs: pairs tried.
        events: events and directions tried, over all pairs.
    """

    pair: Pair
    pairs: int
    events: int


def search_pair(
    pairs: Iterable[Pair],
    mechanism: Callable[[Pair], Mechanism],
    measure: Measure,
    budget: Budget,
    runs: int,
) -> Search:
    """Return the worst pair found by ``runs`` outputs per table and pair.

    Args:
        pairs: at least one.
        mechanism: pair -> what is played on it.
        measure: what is bounded.
        budget: seed, threads and level.
        runs: outputs per table and pair.
    """
    best, score, number, events = None, float("-inf"), 0, 0
    for pair in pairs:
        number += 1
        choice = choose_event(
            mechanism(pair), SEARCH, runs, measure, replace(budget, runs=max(runs, budget.runs))
        )
        if best is None:
            best = pair
        if choice is not None:
            events += choice.tried
            if choice.score > score:
                best, score = pair, choice.score
    assert best is not None
    return Search(best, number, events)
