"""The Python entry point: audit an algorithm as a black box, from the cache where it can."""

import json
import math
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from inspect import signature
from typing import Any

import numba
import numpy as np
import scipy
from numpy.typing import ArrayLike

from dpbandits.algorithms import REGISTRY, Definition, find_definition
from dpbandits.algorithms.base import Algorithm, IdentificationAlgorithm
from dpbandits.algorithms.guarantees import guarantee_of
from dpbandits.auditing.blackbox import (
    COUNTEREXAMPLE,
    SEARCH,
    Budget,
    Mechanism,
    MechanismAudit,
    certify,
    choose_event,
)
from dpbandits.auditing.events import Measure
from dpbandits.auditing.inputs import LOCAL, PULL_TABLE, ROUND, Pair, constant, search_pairs
from dpbandits.auditing.mechanisms import Plays, Trials
from dpbandits.auditing.rows import AuditRow
from dpbandits.auditing.statistics import STATISTICS, recommendation_events, sequence_events
from dpbandits.engine.cache import Cache, require_cache
from dpbandits.engine.identity import DEFAULT_ROOT_SEED, digest_of, fingerprint
from dpbandits.engine.progress import announce
from dpbandits.errors import InputError, require_count
from dpbandits.own.guard import guarded
from dpbandits.own.identity import algorithm_fingerprint, require_own_id

ERROR_LEVEL, RUNS, SEARCH_RUNS = Budget.level, 1_000_000, Budget.search_runs
MOST_ARMS, MOST_ROUNDS = 100, 1_000_000

MEMORY = 8 * 10**9  # bytes that the choosing runs may take
RENYI_DELTA = 1e-6  # at which the epsilon of a Renyi claim is bounded

NOISE = {"epsilon": 2.0, "c": 0.25}
"""Parameter -> factor that halves the noise and doubles what is claimed; bonuses change, too."""


@dataclass(frozen=True, kw_only=True)
class Audit(MechanismAudit):
    """A certified lower bound on the privacy loss of one algorithm.

    Attributes:
        row: the bound, its event in words, and what the algorithm claims.
        pairs: pairs of tables that were tried.
        events: events and directions that were tried, over all pairs; runs that chose among them
            are not those that certify.
    """

    row: AuditRow
    pairs: int
    events: int

    def describe(self) -> str:
        """Return all of it in a few lines."""
        row = self.row
        claimed = "nothing" if math.isinf(row.claimed) else f"{row.claimed:.6g}"
        return (
            f"lower bound: {row.measure} >= {row.lower:.6g} with confidence {row.confidence:g}\n"
            f"claimed: {claimed}; verdict: {self.verdict}\n"
            f"event: {row.event}\n"
            f"direction: {row.direction}; shares of runs: {self.share[0]:.6g} under x, "
            f"{self.share[1]:.6g} under x'\n"
            f"pair ({row.notion}): {row.pair}\n"
            f"tried: {self.pairs} pairs, {self.events} events, on runs apart from those that "
            f"certify\n"
            f"runs: {row.runs} per table certify, half of those asked for, and can show "
            f"{self.ceiling:.6g} at most\n"
            f"seconds: {row.seconds:.1f}"
        )

    __str__ = describe


@dataclass(frozen=True)
class Question:
    """All that the answer of a black-box audit depends on; without a pair one is searched for."""

    definition: Definition
    parameters: Any
    horizon: int
    variant: str
    interpretations: dict[str, str]
    budget: Budget
    arms: int = 2
    features: tuple[tuple[float, ...], ...] | None = None
    notion: str = PULL_TABLE
    pair: Pair | None = None

    def __post_init__(self) -> None:
        """Raise InputError where the notion does not suit, or runs would not fit into memory.

        The choosing runs, half of the runs of both tables, are held, twice while their parts are
        joined, a byte a round. A statistic of one table's ranking runs, a quarter, has sums of
        eight bytes a round.
        """
        allowed = (PULL_TABLE,) if self.identifies else (PULL_TABLE, ROUND)
        if self.notion not in allowed:
            why = {
                LOCAL: ", as a played algorithm shows its arms and no noisy reward",
                ROUND: ", as a best-arm algorithm has tables by pulls",
            }.get(self.notion, "")
            raise InputError(f"notion is {self.notion!r}; allowed: {', '.join(allowed)}{why}")
        size = (4 if self.definition.id in STATISTICS else 2) * self.horizon
        size = 16 * (1 + self.arms) if self.identifies else size
        runs = max(self.budget.runs, self.budget.search_runs)
        if runs > (most := MEMORY // size):
            raise InputError(
                f"runs is {runs} at horizon {self.horizon}; allowed: at most {most}, for memory"
            )

    @property
    def identifies(self) -> bool:
        """Whether it is a best-arm algorithm."""
        return isinstance(self.definition, IdentificationAlgorithm)

    @property
    def claim(self) -> tuple[Measure, float]:
        """What is bounded from below, and what is claimed for it; infinite without a claim.

        mu of a Gaussian claim; delta at the claimed epsilon of an approximate one; else epsilon.
        """
        claim = guarantee_of(
            self.definition,
            self.parameters,
            self.horizon,
            variant=self.variant,
            interpretations=self.interpretations,
        )
        if claim.kind == "gdp":
            return Measure("mu"), claim.parameter
        if claim.kind == "approximate":
            return Measure("delta", epsilon=claim.parameter), claim.slack
        if claim.kind == "zcdp":
            return Measure("epsilon", delta=RENYI_DELTA), float(claim.epsilon(RENYI_DELTA))
        return Measure("epsilon"), claim.parameter if claim.kind == "pure" else math.inf

    @property
    def readings(self) -> dict[str, str]:
        """The interpretations that are not the default ones."""
        defaults = self.definition.interpretations
        return {
            key: value for key, value in self.interpretations.items() if value != defaults[key][0]
        }

    def describe(self) -> dict[str, Any]:
        """Return what names the audited algorithm in seeds and caches."""
        return {
            "algorithm": self.definition.id,
            "parameters": dict(vars(self.parameters)),
            "interpretations": self.readings,
            # As in cells; the readings say what a variant changes.
            "variant": "as-written",
            "arms": self.arms,
            "horizon": self.horizon,
            "features": self.features,
        }

    def mechanism(self, pair: Pair) -> Mechanism:
        """Return the algorithm on a pair of tables, x and x' named by False and True."""
        key = {**self.describe(), "pair": pair.describe()}
        definition, chosen, given = self.definition, self.parameters, self.interpretations
        if isinstance(definition, IdentificationAlgorithm):
            trials = Trials(definition, chosen, given, self.features, self.horizon, pair)
            guarded(definition).require(trials.task())
            return Mechanism(trials, (False, True), recommendation_events, key)
        assert isinstance(definition, Algorithm)
        settings = guarded(definition).settings(self.horizon, self.arms, **vars(chosen), **given)
        plays = Plays(definition, settings, self.horizon, pair)
        statistics = [make(pair.arm) for make in STATISTICS.get(definition.id, ())]
        events = sequence_events(self.arms, pair.arm, statistics)
        return Mechanism(plays, (False, True), events, key)

    def key(self, measure: Measure) -> str:
        """Return the key in the cache: all that the answer depends on, the threads not."""
        return digest_of(
            {
                "audit": self.describe(),
                "pair": None if self.pair is None else self.pair.describe(),
                "notion": self.notion,
                "measure": asdict(measure),
                "budget": {**asdict(self.budget), "workers": 0},
                "fingerprints": [
                    algorithm_fingerprint(self.definition),
                    fingerprint("dpbandits.auditing.run"),
                ],
                "versions": [np.__version__, numba.__version__, scipy.__version__],
            }
        )

    def certified(
        self, cache: Cache, claim: tuple[Measure, float]
    ) -> tuple[MechanismAudit, dict[str, Any]]:
        """Return what is certified for the worst pair, from the cache where it is there.

        Beside it stand that ``pair`` in words, how many ``pairs`` and ``events`` the search tried,
        and the ``seconds`` that it took when it was computed.
        """
        (measure, claimed), budget = claim, self.budget
        path = cache.cells / f"audit-{self.key(measure)}.npz"
        if kept := cache.read(path, ("answer",)):
            counted, about = json.loads(str(kept["answer"]))
            counted["hits"] = tuple(counted["hits"])
            return MechanismAudit(measure, claimed, **counted), about
        begun = time.monotonic()
        searched = search_pairs(self.notion, self.arms, self.horizon)
        pairs = list(searched) if self.pair is None else [self.pair]
        mechanisms = [self.mechanism(pair) for pair in pairs]
        place, events = 0, 0
        if len(mechanisms) > 1:
            choices = [
                choose_event(each, SEARCH, budget.search_runs, measure, budget)
                for each in mechanisms
            ]
            place = int(np.argmax([choice.score if choice else -math.inf for choice in choices]))
            events = sum(choice.tried for choice in choices if choice)
        found = certify(mechanisms[place], claimed, measure, budget)
        counted = {**vars(found)}
        del counted["measure"], counted["claimed"]
        about = {"pair": pairs[place].words, "pairs": len(pairs), "events": events}
        about["seconds"] = time.monotonic() - begun
        cache.write(path, {"answer": np.array(json.dumps([counted, about]))})
        return found, about

    def audit(self, cache: Cache, statement: str = "") -> Audit:
        """Return the answer as a row beside what is claimed."""
        found, about = self.certified(cache, self.claim)
        parameters = dict(vars(self.parameters))
        if found.measure.delta:
            parameters["delta"] = found.measure.delta
        alpha, missed = found.log10_errors()
        row = AuditRow(
            statement=statement,
            algorithm=self.definition.id,
            variant=self.variant,
            interpretation=_text(self.readings),
            arms=self.arms,
            horizon=self.horizon,
            parameters=_text(parameters),
            notion=self.notion,
            pair=about["pair"],
            engine="black box",
            event=found.event,
            direction=found.direction,
            measure=found.measure.name,
            lower=found.lower,
            confidence=found.confidence,
            claimed=found.claimed,
            log10_alpha=alpha,
            log10_beta=missed,
            runs=found.runs,
            seed=self.budget.seed,
            seconds=about["seconds"],
        )
        events = about["events"] + found.tried
        return Audit(**vars(found), row=row, pairs=about["pairs"], events=events)


def _text(values: Mapping[str, object]) -> str:
    return " ".join(f"{key}={value}" for key, value in values.items())


def audit(
    algorithm: str | Definition,
    *,
    horizon: float,
    params: Mapping[str, Any] | None = None,
    variant: str = "as-written",
    interpretations: Mapping[str, str] | None = None,
    arms: int = 2,
    notion: str = PULL_TABLE,
    pair: Pair | None = None,
    features: ArrayLike | None = None,
    runs: int = RUNS,
    search_runs: int = SEARCH_RUNS,
    level: float = ERROR_LEVEL,
    seed: int = DEFAULT_ROOT_SEED,
    workers: int = 1,
    cache: bool = True,
    **parameters: Any,
) -> Audit:
    """Return a certified lower bound on the privacy loss, from runs on two neighbouring tables.

    The pair is searched for unless it is given; half of the runs then choose one event and one
    direction, and the other half certify it. A bound below the claim proves nothing.

    Args:
        algorithm: an id of ``dpbandits list``, or an algorithm of your own.
        horizon: number of rounds T, or the budget of pulls, at least 2.
        params: the algorithm's parameters.
        variant: ``as-written``, ``as-coded`` or ``repaired``, where the algorithm has it.
        interpretations: named interpretations that depart from their defaults.
        arms: number of arms K, 2 to 100; that of the pair where one is given.
        notion: which inputs are neighbours: ``pull table`` (the reward of one pull of one arm
            differs) or ``round`` (all rewards of one round differ).
        pair: two neighbouring tables (``dpbandits.audit_pair``).
        features: of a best-arm algorithm, shape (K, d); by default the unit vectors.
        runs: outputs per table that choose and certify, at least 8.
        search_runs: outputs per table and pair of the search.
        level: probability that the bound is wrong, at most.
        seed: root of all random streams.
        workers: threads; results do not depend on it.
        cache: whether the result is taken from the cache and kept there.
        parameters: parameters of the algorithm by keyword, such as ``epsilon=1.0``.

    Raises:
        InputError: anything is unknown or out of range.

    Example:
        >>> import dpbandits
        >>> found = dpbandits.audit("ucb1", horizon=4, runs=2000, search_runs=200, cache=False)
        >>> found.row.measure, found.row.lower > 3.0
        ('epsilon', True)
    """
    definition = find_definition(algorithm)
    require_own_id(definition)
    vectors = None
    if features is not None:
        if not isinstance(definition, IdentificationAlgorithm):
            raise InputError(f"features: {definition.id} takes none; allowed: left out")
        try:
            vectors = tuple(tuple(map(float, row)) for row in np.array(features, dtype=np.float64))
        except (TypeError, ValueError, OverflowError):
            raise InputError("features are no table of numbers; allowed: one row an arm") from None
    arms, notion = (pair.arms, pair.notion) if pair else (arms, notion)
    asked = Question(
        definition,
        definition.parameters_from(definition.merged_parameters(params, parameters, ARGUMENTS)),
        require_count("horizon", horizon, 2, MOST_ROUNDS),
        definition.require_variant(variant),
        definition.interpretations_from(interpretations or {}, variant),
        Budget(runs, level, seed, workers, search_runs),
        require_count("arms", arms, 2, MOST_ARMS),
        vectors,
        notion,
        pair,
    )
    announce(f"auditing {definition.id}")
    return asked.audit(require_cache(cache))


ARGUMENTS = [name for name in signature(audit).parameters if name != "parameters"]
"""What ``audit`` takes beside the parameters of algorithms."""


CAUGHT, MISSED, UNTESTED = "caught", "missed", "no parameter of noise"
"""What ``Published.power`` begins with."""


@dataclass(frozen=True)
class Published:
    """The published black-box audit of one variant of an algorithm."""

    statement: str
    question: Question
    silent: str  # why nothing is seen, or not even twice the claim

    def audit(self, cache: Cache) -> Audit:
        """Return the audit, with the reason in the place of its event where nothing is seen."""
        found = self.question.audit(cache, self.statement)
        if found.row.lower > 0.0 or not self.silent:
            return found
        return replace(found, row=replace(found.row, event=f"nothing seen: {self.silent}"))

    def power(self, cache: Cache) -> str:
        """Return whether a loss of twice the claim is seen, and why not; "" where none is claimed.

        The case is played at twice its epsilon; it is caught where the bound exceeds the claim.
        """
        claim, params = self.question.claim, vars(self.question.parameters)
        if math.isinf(claim[1]):
            return ""
        halved = {name: params[name] * by for name, by in NOISE.items() if name in params}
        if not halved:
            return UNTESTED
        parameters = self.question.definition.parameters_from({**params, **halved})
        found, _ = replace(self.question, parameters=parameters).certified(cache, claim)
        if found.verdict == COUNTEREXAMPLE:
            return CAUGHT
        # Where nothing is seen at all, the event has the reason.
        is_seen = self.question.audit(cache).row.lower > 0.0
        return f"{MISSED}: {self.silent}" if is_seen and self.silent else MISSED


def published(
    runs: int = RUNS, *, seed: int = DEFAULT_ROOT_SEED, workers: int = 1
) -> list[Published]:
    """Return the published black-box audits, in the order of the registry."""
    found = []
    for definition in REGISTRY.values():
        if (case := definition.audit) is None:
            continue
        pair = constant(case.level, case.others, pull=case.pull, before=case.before)
        budget = Budget(min(runs, case.runs), ERROR_LEVEL, seed, workers)
        parameters = definition.parameters_from(case.parameters or definition.example)
        for variant in definition.variants:
            question = Question(
                definition,
                parameters,
                case.horizon,
                variant,
                definition.interpretations_from({}, variant),
                budget,
                pair=pair,
            )
            given = case.statement
            statement = given if isinstance(given, str) else given[variant]
            found.append(Published(statement, question, case.silent.get(variant, "")))
    return found
