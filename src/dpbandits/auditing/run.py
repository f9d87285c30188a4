"""The Python entry point: audit an algorithm as a black box, from the cache where it can."""

import json
import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from inspect import signature
from typing import Any

import numba
import numpy as np
import scipy
from numpy.typing import ArrayLike

from dpbandits.algorithms import REGISTRY, Definition, find_definition
from dpbandits.algorithms.base import IdentificationAlgorithm
from dpbandits.algorithms.guarantees import guarantee_of
from dpbandits.auditing.blackbox import (
    Budget,
    Certificate,
    Measure,
    Mechanism,
    Search,
    Setting,
    certify,
    search_pair,
)
from dpbandits.auditing.events import STATISTICS, p_value
from dpbandits.auditing.inputs import LOCAL, PULL_TABLE, ROUND, Pair, constant, search_pairs
from dpbandits.auditing.rows import DIRECTIONS, AuditRow
from dpbandits.engine.cache import Cache, require_cache
from dpbandits.engine.cells import algorithm_fingerprint, require_count, whole_number
from dpbandits.engine.identity import DEFAULT_ROOT_SEED, digest_of, fingerprint
from dpbandits.engine.progress import announce
from dpbandits.errors import InputError

MAXIMAL_ARMS = 100
MAXIMAL_HORIZON = 1_000_000

RENYI_DELTA = 1e-6
"""Where a claim is in Renyi DP, epsilon is bounded at this delta."""


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
                fingerprint("dpbandits.auditing.run"),
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
    statement: str = "",
    claim: str = "",
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
        statement: number of the audited statement, for tables.
        claim: id in the claims ledger, for tables.
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
    answer = asked.answer(require_cache(cache))
    certificate = answer.certificate
    row = _row(asked, answer, claimed, statement, claim)
    return Audit(
        row=row,
        pairs=answer.search.pairs,
        events=answer.search.events + certificate.tried,
        ceiling=certificate.ceiling,
        share=(certificate.hits[0] / certificate.runs, certificate.hits[1] / certificate.runs),
        p_value=p_value(lambda at: measure.bound(*certificate.ordered(), at), claimed),
    )


ARGUMENTS = [name for name in signature(audit).parameters if name != "parameters"]
"""What ``audit`` takes beside the parameters of algorithms."""


def holm(audits: Sequence[Audit], level: float = LEVEL) -> list[bool]:
    """Return of each audit whether its claim fails, at one family-wise error rate (Holm, 1979).

    Args:
        audits: all statistical rows of one report.
        level: chance allowed of refuting any correct claim.
    """
    # Imported here: `import dpbandits` does without the engine of the claims.
    from dpbandits.claims.verdict import holm_levels

    p_values = [found.p_value for found in audits]
    levels = holm_levels(p_values, level)
    return [p <= at for p, at in zip(p_values, levels, strict=True)]


def _row(asked: Question, answer: Answer, claimed: float, statement: str, claim: str) -> AuditRow:
    setting, certificate = asked.setting, answer.certificate
    parameters = dict(vars(setting.parameters))
    if asked.measure.delta:
        parameters["delta"] = asked.measure.delta
    alpha, missed = certificate.log10_errors()
    return AuditRow(
        statement=statement,
        claim=claim,
        algorithm=setting.definition.id,
        variant=setting.variant,
        interpretation=_text(setting.departures),
        arms=setting.arms,
        horizon=setting.horizon,
        parameters=_text(parameters),
        notion=asked.notion,
        pair=answer.search.pair.words,
        engine="D",
        event=certificate.event,
        direction=DIRECTIONS[certificate.second],
        measure=asked.measure.name,
        lower=certificate.lower,
        confidence=1.0 - asked.budget.level,
        claimed=claimed,
        log10_alpha=alpha,
        log10_beta=missed,
        runs=certificate.runs,
        seed=asked.budget.seed,
        seconds=answer.seconds,
    )


def _text(values: Mapping[str, object]) -> str:
    return " ".join(f"{key}={value}" for key, value in values.items())


def black_box_audits(
    runs: int = RUNS, *, seed: int = DEFAULT_ROOT_SEED, workers: int = 1, cache: bool = True
) -> list[Audit]:
    """Return the published black-box audits, in the order of the registry.

    Args:
        runs: outputs per table, of each audit.
        seed: root of all random streams.
        workers: threads; results do not depend on it.
        cache: whether results are taken from the cache and kept there.
    """
    budget: dict[str, Any] = {"runs": runs, "seed": seed, "workers": workers, "cache": cache}
    audits = []
    for case in published_cases():
        definition = REGISTRY[case["algorithm"]]
        assert definition.audit is not None
        found = audit(**case, **{**budget, "runs": min(runs, definition.audit.runs)})
        silent = definition.audit.silent.get(case["variant"], "")
        if found.row.lower == 0.0 and silent:
            found = replace(found, row=replace(found.row, event=f"nothing seen: {silent}"))
        audits.append(found)
    return audits


def black_box_power(
    runs: int = RUNS, *, seed: int = DEFAULT_ROOT_SEED, workers: int = 1, cache: bool = True
) -> list[str]:
    """Return of each published black-box audit whether it sees a loss of twice the claim.

    The case is played with twice its epsilon: ``caught`` where the bound exceeds the epsilon that
    is claimed, else ``missed``; "" where no epsilon is claimed, or nothing at all.

    Args:
        runs: outputs per table, of each audit.
        seed: root of all random streams.
        workers: threads; results do not depend on it.
        cache: whether results are taken from the cache and kept there.
    """
    budget = Budget(runs, LEVEL, seed, workers)
    return [_power(case, budget, require_cache(cache)) for case in published_cases()]


def _power(case: Mapping[str, Any], budget: Budget, cache: Cache) -> str:
    asked = {name: case[name] for name in ("algorithm", "horizon", "params", "variant")}
    measure, claimed = claimed_measure(setting_of(**asked))
    definition = REGISTRY[case["algorithm"]]
    if "epsilon" not in case["params"] or math.isinf(claimed) or definition.audit is None:
        return ""
    louder = {**case["params"], "epsilon": 2.0 * case["params"]["epsilon"]}
    played = setting_of(**{**asked, "params": louder})
    budget = replace(budget, runs=min(budget.runs, definition.audit.runs))
    question = Question(played, PULL_TABLE, case["pair"], measure, budget, SEARCH_RUNS)
    return "caught" if question.answer(cache).certificate.lower > claimed else "missed"


def published_cases() -> list[dict[str, Any]]:
    """Return the arguments of ``audit``, but runs and seed, of each published audit."""
    return [
        {
            "algorithm": definition.id,
            "variant": variant,
            "horizon": case.horizon,
            "params": dict(case.parameters or definition.example),
            "pair": constant(case.level, case.others, pull=case.pull, before=case.before),
            "statement": (
                case.statement if isinstance(case.statement, str) else case.statement[variant]
            ),
            "claim": case.claim,
        }
        for definition in REGISTRY.values()
        if (case := definition.audit) is not None
        for variant in definition.variants
    ]
