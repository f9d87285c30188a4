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
    Budget,
    Certificate,
    Mechanism,
    certify,
    recommendation_events,
    sequence_events,
    worst_pair,
)
from dpbandits.auditing.events import Measure
from dpbandits.auditing.inputs import LOCAL, PULL_TABLE, ROUND, Pair, constant, search_pairs
from dpbandits.auditing.mechanisms import Plays, Trials
from dpbandits.auditing.rows import AuditRow
from dpbandits.auditing.statistics import STATISTICS
from dpbandits.engine.cache import Cache, require_cache
from dpbandits.engine.cells import algorithm_fingerprint, require_count, whole_number
from dpbandits.engine.checks import require_task, settings_of
from dpbandits.engine.identity import DEFAULT_ROOT_SEED, digest_of, fingerprint
from dpbandits.engine.progress import announce
from dpbandits.errors import InputError

MAXIMAL_ARMS = 100
MAXIMAL_HORIZON = 1_000_000

RENYI_DELTA = 1e-6
"""Where a claim is in Renyi DP, epsilon is bounded at this delta."""


@dataclass(frozen=True)
class Setting:
    """What is audited: an algorithm with all that its runs depend on but the rewards.

    Attributes:
        definition: the algorithm, of the registry or of the user's own.
        parameters: its validated parameters.
        variant: ``as-written``, ``as-coded`` or ``repaired``.
        interpretations: every interpretation with its value.
        arms: number of arms K.
        horizon: number of rounds T, or the budget.
        features: of a best-arm algorithm one row an arm; None for the unit vectors.
    """

    definition: Definition
    parameters: Any
    variant: str
    interpretations: dict[str, str]
    arms: int
    horizon: int
    features: tuple[tuple[float, ...], ...] | None = None

    @property
    def departures(self) -> dict[str, str]:
        """The interpretations that are not the default ones."""
        defaults = self.definition.interpretations
        return {
            key: value for key, value in self.interpretations.items() if value != defaults[key][0]
        }

    def describe(self) -> dict[str, Any]:
        """Return what names the setting in seeds and caches."""
        return {
            "algorithm": self.definition.id,
            "parameters": dict(vars(self.parameters)),
            "interpretations": self.departures,
            "variant": "as-written" if self.definition.presets else self.variant,
            "arms": self.arms,
            "horizon": self.horizon,
            "features": self.features,
        }

    def mechanism(self, pair: Pair) -> Mechanism:
        """Return the algorithm on a pair of tables, with the events to try.

        Raises:
            InputError: parameters, horizon and features do not fit together.
        """
        key = {**self.describe(), "pair": pair.describe()}
        if isinstance(self.definition, IdentificationAlgorithm):
            trials = Trials(
                self.definition,
                self.parameters,
                self.interpretations,
                self.features,
                self.horizon,
                pair,
            )
            require_task(self.definition, trials.task())
            return Mechanism(trials, recommendation_events, key)
        assert isinstance(self.definition, Algorithm)
        settings = settings_of(
            self.definition, self.parameters, self.interpretations, self.horizon, self.arms
        )
        plays = Plays(self.definition, settings, self.horizon, pair)
        statistics = tuple(make(pair.arm) for make in STATISTICS.get(self.definition.id, ()))
        return Mechanism(plays, sequence_events(self.arms, pair.arm, statistics), key)


def setting_of(
    algorithm: str | Definition,
    horizon: int,
    params: Mapping[str, Any] | None = None,
    variant: str = "as-written",
    interpretations: Mapping[str, str] | None = None,
    arms: int = 2,
    features: ArrayLike | None = None,
) -> Setting:
    """Return what is audited, validated; ``dpbandits.audit`` says what the arguments are.

    Raises:
        InputError: anything unknown or out of range.
    """
    definition = find_definition(algorithm)
    if definition.id in REGISTRY and definition is not REGISTRY[definition.id]:
        raise InputError(f"algorithm: id {definition.id!r} is taken; allowed: an id of your own")
    return Setting(
        definition=definition,
        parameters=definition.parameters_from(params or {}),
        variant=definition.require_variant(variant),
        interpretations=definition.interpretations_from(interpretations or {}, variant),
        arms=_count("arms", arms, MAXIMAL_ARMS),
        horizon=_count("horizon", horizon, MAXIMAL_HORIZON),
        features=_features(definition, features),
    )


def _count(key: str, value: object, most: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or not 2 <= value <= most:
        raise InputError(f"{key} is {value!r}; allowed: an integer from 2 to {most}")
    return int(value)


def _features(
    definition: Definition, features: ArrayLike | None
) -> tuple[tuple[float, ...], ...] | None:
    if features is None:
        return None
    if not isinstance(definition, IdentificationAlgorithm):
        raise InputError(f"features: {definition.id} takes none; allowed: left out")
    try:
        rows = np.array(features, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError("features are no table of numbers; allowed: one row an arm") from None
    if rows.ndim != 2:
        raise InputError(f"features have {rows.ndim} axes; allowed: one row an arm")
    return tuple(tuple(map(float, row)) for row in rows)


def require_notion(setting: Setting, notion: str) -> None:
    """Raise InputError where an algorithm cannot be played under a notion of neighbours."""
    identifies = isinstance(setting.definition, IdentificationAlgorithm)
    allowed = (PULL_TABLE,) if identifies else (PULL_TABLE, ROUND)
    if notion in allowed:
        return
    why = ""
    if notion == LOCAL:
        why = ", as a played algorithm shows its arms and no noisy reward"
    elif notion == ROUND:
        why = ", as a best-arm algorithm has tables by pulls"
    raise InputError(f"notion is {notion!r}; allowed: {', '.join(allowed)}{why}")


def claimed_measure(setting: Setting) -> tuple[Measure, float]:
    """Return what is bounded from below, and what the algorithm claims for it.

    mu of a Gaussian claim; delta at the claimed epsilon of an approximate one; else epsilon, at
    delta 0 or, of a Renyi claim, at ``RENYI_DELTA``. Without a claim it is infinite.

    Raises:
        InputError: the guarantee of a user's own algorithm fails.
    """
    claim = guarantee_of(
        setting.definition,
        setting.parameters,
        setting.horizon,
        variant=setting.variant,
        interpretations=setting.interpretations,
    )
    if claim.kind == "gdp":
        return Measure("mu"), claim.parameter
    if claim.kind == "approximate":
        return Measure("delta", epsilon=claim.parameter), claim.slack
    if claim.kind == "renyi":
        return Measure("epsilon", delta=RENYI_DELTA), float(claim.epsilon(RENYI_DELTA))
    return Measure("epsilon"), claim.parameter if claim.kind == "pure" else math.inf


MAXIMAL_BYTES = 8 * 10**9
"""Of memory for the runs that choose an event."""


def bytes_of_a_run(setting: Setting) -> int:
    """Return the bytes that choosing takes for each run of an audit, at most.

    Half of the runs of both tables are held, twice while their parts are joined, a byte a round. A
    statistic of one table's ranking runs, a quarter, has cumulative sums of eight bytes a round.
    """
    if isinstance(setting.definition, IdentificationAlgorithm):
        return 16 * (1 + setting.arms)
    sums = 2 if setting.definition.id in STATISTICS else 0
    return (2 + sums) * setting.horizon


def require_memory(runs: int, setting: Setting) -> None:
    """Raise InputError where the choosing runs would take more than about 8 gigabytes."""
    most = MAXIMAL_BYTES // bytes_of_a_run(setting)
    if runs > most:
        raise InputError(
            f"runs is {runs} at horizon {setting.horizon}; allowed: at most {most}, for memory"
        )


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
            "pair": None if self.pair is None else self.pair.describe(),
            "notion": self.notion,
            "measure": asdict(self.measure),
            "budget": {**asdict(self.budget), "workers": 0, "search": self.search_runs},
            "fingerprints": [
                algorithm_fingerprint(self.setting.definition),
                fingerprint("dpbandits.auditing.run"),
            ],
            "versions": [np.__version__, numba.__version__, scipy.__version__],
        }
        return digest_of(description)

    def pairs(self) -> list[Pair]:
        """Return the pairs that are tried: the given one, or those of the search."""
        if self.pair is not None:
            return [self.pair]
        return list(search_pairs(self.notion, self.setting.arms, self.setting.horizon))

    def answer(self, cache: Cache) -> "Answer":
        """Return the answer, from the cache where it is there."""
        path = cache.cells / f"audit-{self.key}.npz"
        kept = cache.read(path, ("answer",))
        if kept is not None:
            return self._read(json.loads(str(kept["answer"])))
        begun, pairs, measure = time.monotonic(), self.pairs(), self.measure
        mechanism = self.setting.mechanism
        place, events = 0, 0
        if len(pairs) > 1:
            place, events = worst_pair(pairs, mechanism, measure, self.budget, self.search_runs)
        certificate = certify(mechanism(pairs[place]), measure, self.budget)
        answer = Answer(place, events, certificate, time.monotonic() - begun)
        cache.write(path, {"answer": np.array(json.dumps(asdict(answer)))})
        return answer

    def _read(self, kept: dict[str, Any]) -> "Answer":
        """Return an answer as it was before it was kept."""
        counted = {**kept.pop("certificate"), "measure": self.measure}
        counted["hits"] = tuple(counted["hits"])
        return Answer(certificate=Certificate(**counted), **kept)

    def audit(self, cache: Cache, claimed: float, statement: str = "") -> "Audit":
        """Return the answer beside what is claimed."""
        setting, pairs, answer = self.setting, self.pairs(), self.answer(cache)
        certificate = answer.certificate
        parameters = dict(vars(setting.parameters))
        if self.measure.delta:
            parameters["delta"] = self.measure.delta
        alpha, missed = certificate.log10_errors()
        row = AuditRow(
            statement=statement,
            algorithm=setting.definition.id,
            variant=setting.variant,
            interpretation=_text(setting.departures),
            arms=setting.arms,
            horizon=setting.horizon,
            parameters=_text(parameters),
            notion=self.notion,
            pair=pairs[answer.place].words,
            engine="black box",
            event=certificate.event,
            direction=certificate.direction,
            measure=self.measure.name,
            lower=certificate.lower,
            confidence=1.0 - self.budget.level,
            claimed=claimed,
            log10_alpha=alpha,
            log10_beta=missed,
            runs=certificate.runs,
            seed=self.budget.seed,
            seconds=answer.seconds,
        )
        return Audit(
            row=row,
            pairs=len(pairs),
            events=answer.events + certificate.tried,
            ceiling=certificate.ceiling,
            share=certificate.share,
            p_value=certificate.p_value(claimed),
        )


@dataclass(frozen=True)
class Answer:
    """What is certified for the worst pair.

    Attributes:
        place: of the pair among those that were tried.
        events: events and directions that the search tried.
        certificate: the bound.
        seconds: time taken when it was computed.
    """

    place: int
    events: int
    certificate: Certificate
    seconds: float


LEVEL = 0.05
RUNS = 1_000_000
SEARCH_RUNS = 20_000


@dataclass(frozen=True)
class Audit:
    """A certified lower bound on the privacy loss of one algorithm.

    Attributes:
        row: the bound, its event in words, and what the algorithm claims.
        pairs: pairs of tables that were tried.
        events: events and directions that were tried, over all pairs; runs that chose among them
            are not those that certify.
        ceiling: the largest bound that so many runs can certify.
        share: shares of certifying runs in the event, under x and under x'.
        p_value: smallest level at which the bound exceeds the claim, for a family of audits.
    """

    row: AuditRow
    pairs: int
    events: int
    ceiling: float
    share: tuple[float, float]
    p_value: float

    @property
    def verdict(self) -> str:
        """``fails``, ``not contradicted``, or ``nothing claimed``, at the audit's own level."""
        if math.isinf(self.row.claimed):
            return "nothing claimed"
        return "fails" if self.row.lower > self.row.claimed else "not contradicted"

    def describe(self) -> str:
        """Return all of it in a few lines."""
        row = self.row
        claimed = "nothing" if math.isinf(row.claimed) else f"{row.claimed:.6g}"
        return "\n".join(
            [
                f"lower bound: {row.measure} >= {row.lower:.6g} with confidence {row.confidence:g}",
                f"claimed: {claimed}; verdict: {self.verdict}",
                f"event: {row.event}",
                f"direction: {row.direction}; shares of runs: {self.share[0]:.6g} under x, "
                f"{self.share[1]:.6g} under x'",
                f"pair ({row.notion}): {row.pair}",
                f"tried: {self.pairs} pairs, {self.events} events, on runs apart from those that "
                f"certify",
                f"runs: {row.runs} per table, which can certify {self.ceiling:.6g} at most",
                f"seconds: {row.seconds:.1f}",
            ]
        )

    def __str__(self) -> str:
        """Return the lines of ``describe``."""
        return self.describe()


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
    level: float = LEVEL,
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
        InputError: anything unknown or out of range, in one line.

    Example:
        >>> import dpbandits
        >>> found = dpbandits.audit("ucb1", horizon=4, runs=2000, search_runs=200, cache=False)
        >>> found.row.measure, found.row.lower > 3.0
        ('epsilon', True)
    """
    values = find_definition(algorithm).merged_parameters(params, parameters, ARGUMENTS)
    arms = pair.arms if pair else arms
    rounds = whole_number(horizon)
    setting = setting_of(algorithm, rounds, values, variant, interpretations, arms, features)
    notion = pair.notion if pair else notion
    require_notion(setting, notion)
    measure, claimed = claimed_measure(setting)
    seed, workers = require_count("seed", seed, 0), require_count("workers", workers, 1)
    budget = Budget(runs, level, seed, workers)
    require_memory(max(runs, search_runs), setting)
    asked = Question(setting, notion, pair, measure, budget, Budget(search_runs).runs)
    announce(f"auditing {setting.definition.id}")
    return asked.audit(require_cache(cache), claimed)


ARGUMENTS = [name for name in signature(audit).parameters if name != "parameters"]
"""What ``audit`` takes beside the parameters of algorithms."""


def _text(values: Mapping[str, object]) -> str:
    return " ".join(f"{key}={value}" for key, value in values.items())


@dataclass(frozen=True)
class Published:
    """The published black-box audit of one variant of an algorithm.

    Attributes:
        statement: number of the audited statement.
        question: the audit.
        claimed: what the variant claims.
        louder: the same with twice the epsilon; None where no epsilon is claimed.
        silent: why nothing is seen, where nothing is.
    """

    statement: str
    question: Question
    claimed: float
    louder: Question | None
    silent: str

    def audit(self, cache: Cache) -> Audit:
        """Return the audit, with the reason in the place of its event where nothing is seen."""
        found = self.question.audit(cache, self.claimed, self.statement)
        if found.row.lower > 0.0 or not self.silent:
            return found
        return replace(found, row=replace(found.row, event=f"nothing seen: {self.silent}"))

    def power(self, cache: Cache) -> str:
        """Return whether a loss of twice the claim is seen: ``caught`` or ``missed``; "" for none.

        The case is played with twice its epsilon; it is caught where the bound exceeds the claim.
        """
        if self.louder is None:
            return ""
        return "caught" if self.louder.answer(cache).certificate.lower > self.claimed else "missed"


def published(
    runs: int = RUNS, *, seed: int = DEFAULT_ROOT_SEED, workers: int = 1
) -> list[Published]:
    """Return the published black-box audits, in the order of the registry.

    Args:
        runs: outputs per table, of each audit.
        seed: root of all random streams.
        workers: threads; results do not depend on it.
    """
    return [
        _published(definition, variant, Budget(runs, LEVEL, seed, workers))
        for definition in REGISTRY.values()
        if definition.audit is not None
        for variant in definition.variants
    ]


def _published(definition: Definition, variant: str, budget: Budget) -> Published:
    case = definition.audit
    assert case is not None
    params = dict(case.parameters or definition.example)
    setting = setting_of(definition.id, case.horizon, params, variant)
    measure, claimed = claimed_measure(setting)
    question = Question(
        setting,
        PULL_TABLE,
        constant(case.level, case.others, pull=case.pull, before=case.before),
        measure,
        replace(budget, runs=min(budget.runs, case.runs)),
        SEARCH_RUNS,
    )
    louder = None
    if "epsilon" in params and claimed < math.inf:
        params["epsilon"] *= 2.0
        louder = replace(question, setting=setting_of(definition.id, case.horizon, params, variant))
    statement = case.statement if isinstance(case.statement, str) else case.statement[variant]
    return Published(statement, question, claimed, louder, case.silent.get(variant, ""))
