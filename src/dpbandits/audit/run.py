"""The Python entry point: audit an algorithm as a black box, from the cache where it can."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from inspect import signature
from typing import Any

from numpy.typing import ArrayLike

from dpbandits.algorithms import REGISTRY, find_definition
from dpbandits.algorithms.base import Definition
from dpbandits.audit.answers import Answer, Question, require_memory
from dpbandits.audit.blackbox.certificate import Budget
from dpbandits.audit.bounds import p_value
from dpbandits.audit.pairs import constant
from dpbandits.audit.rows import DIRECTIONS, AuditRow
from dpbandits.audit.settings import claimed_measure, require_notion, setting_of
from dpbandits.audit.tables import PULL_TABLE, Pair
from dpbandits.engine.arguments import (
    require_cache,
    require_seed,
    require_workers,
    whole_number,
)
from dpbandits.engine.cells import parameter_values
from dpbandits.engine.identity import DEFAULT_ROOT_SEED
from dpbandits.engine.progress import announce

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
    budget = Budget(runs, level, require_seed(seed), require_workers(workers))
    require_memory(max(runs, search_runs), setting.horizon)
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
    parameters = parameter_values(setting.parameters)
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
    return [audit(**options, **budget) for options in published_cases()]


def published_cases() -> list[dict[str, Any]]:
    """Return the arguments of ``audit``, but runs and seed, of each published audit."""
    return [
        {
            "algorithm": definition.id,
            "variant": variant,
            "horizon": case.horizon,
            "params": dict(case.parameters or definition.example),
            "pair": constant(0.0, case.others),
            "statement": (
                case.statement if isinstance(case.statement, str) else case.statement[variant]
            ),
            "claim": case.claim,
        }
        for definition in REGISTRY.values()
        if (case := definition.audit) is not None
        for variant in definition.variants
    ]
