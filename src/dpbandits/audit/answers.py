"""Black-box audits as questions with an answer that the cache keeps."""

import json
import time
from dataclasses import asdict, dataclass
from typing import Any

import numba
import numpy as np
import scipy

from dpbandits.audit.blackbox.algorithms import Setting
from dpbandits.audit.blackbox.certificate import Budget, Certificate, Mechanism, certify
from dpbandits.audit.blackbox.choice import Measure
from dpbandits.audit.blackbox.search import Search, search_pair
from dpbandits.audit.blackbox.statistics import STATISTICS
from dpbandits.audit.pairs import search_pairs
from dpbandits.audit.tables import Pair
from dpbandits.engine.cache import Cache
from dpbandits.engine.cells import algorithm_fingerprint
from dpbandits.engine.identity import digest_of, fingerprint
from dpbandits.errors import InputError

MAXIMAL_DECISIONS = 4 * 10**9
"""Runs times rounds; half of the runs of both tables are in memory at once, a byte a round."""


def require_memory(runs: int, horizon: int) -> None:
    """Raise InputError where the choosing runs would take more than about 8 gigabytes."""
    if runs * horizon > MAXIMAL_DECISIONS:
        raise InputError(
            f"runs is {runs} at horizon {horizon}; allowed: at most {MAXIMAL_DECISIONS // horizon}"
        )


@dataclass(frozen=True)
class Answer:
    """The pair, the bound that is certified for it, and the time taken when it was computed."""

    search: Search
    certificate: Certificate
    seconds: float


@dataclass(frozen=True)
class Question:
    """All that the answer of a black-box audit depends on.

    Attributes:
        setting: what is audited.
        notion: of neighbours, for the search.
        pair: the pair of tables, or None to search for one.
        measure: what is bounded.
        budget: runs, level, seed, threads.
        search_runs: outputs per table and pair of the search.
    """

    setting: Setting
    notion: str
    pair: Pair | None
    measure: Measure
    budget: Budget
    search_runs: int

    @property
    def key(self) -> str:
        """Key in the cache: all that the answer depends on, hashed; not the number of threads."""
        description = {
            "audit": self.setting.describe(),
            "pair": None if self.pair is None else {**self.pair.describe(), "": self.pair.words},
            "notion": self.notion,
            "measure": asdict(self.measure),
            "budget": {**asdict(self.budget), "workers": 0, "search": self.search_runs},
            "fingerprints": [
                algorithm_fingerprint(self.setting.definition),
                fingerprint("dpbandits.audit.answers"),
            ],
            "versions": [np.__version__, numba.__version__, scipy.__version__],
        }
        return digest_of(description)

    def mechanism(self, pair: Pair) -> Mechanism:
        """Return the algorithm on a pair of tables, with the events to try."""
        statistics = STATISTICS.get(self.setting.definition.id, ())
        return self.setting.mechanism(pair, tuple(make(pair.arm) for make in statistics))

    def answer(self, cache: Cache) -> Answer:
        """Return the answer, from the cache where it is there."""
        path = cache.cells / f"audit-{self.key}.npz"
        kept = cache.read(path, ("answer",))
        if kept is not None:
            return _read(json.loads(str(kept["answer"])))
        begun = time.monotonic()
        search = Search(self.pair, 1, 0) if self.pair else self._search()
        certificate = certify(self.mechanism(search.pair), self.measure, self.budget)
        found = Answer(search, certificate, time.monotonic() - begun)
        cache.write(path, {"answer": np.array(json.dumps(asdict(found)))})
        return found

    def _search(self) -> Search:
        pairs = search_pairs(self.notion, self.setting.arms, self.setting.horizon)
        return search_pair(pairs, self.mechanism, self.measure, self.budget, self.search_runs)


def _read(kept: dict[str, Any]) -> Answer:
    """Return an answer as it was before it was kept."""
    found, certificate = kept["search"], kept["certificate"]
    pair = found["pair"]
    for name in ("first", "second"):
        pair[name] = tuple(map(tuple, pair[name]))
    pair["after"] = tuple(pair["after"])
    certificate["hits"] = tuple(certificate["hits"])
    search = Search(**{**found, "pair": Pair(**pair)})
    return Answer(search, Certificate(**certificate), kept["seconds"])
