"""The algorithms for best-arm identification with a fixed budget: each a row of rules."""

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from dpbandits.algorithms.base import (
    AuditCase,
    IdentificationAlgorithm,
    Known,
    Outcome,
    Task,
    Trial,
    chance,
    positive_or_infinite,
)
from dpbandits.algorithms.best_arm.eliminations import (
    GAUSSIAN,
    LAPLACE,
    SCHEDULES,
    Means,
    PhaseSchedule,
    Regression,
    halving_schedule,
    has_budget,
    noise_multiplier,
    phase_schedule,
    play_trials,
    sensitivity_of,
)
from dpbandits.algorithms.best_arm.textbook import (
    eliminate_by_means,
    eliminate_by_regression,
    halve,
)
from dpbandits.bandits import Bandit, LinearBandit
from dpbandits.privacy.witnesses import classical_delta

RulesT = TypeVar("RulesT", Means, Regression)

TIES_AND_BUDGET = {"ties": ("index", "random"), "small_budget": ("raise", "random")}
SENSITIVITY = {"sensitivity": ("unit", "support")}
BY_MEANS = {
    "schedule": tuple(SCHEDULES),
    "rounding": ("ceiling", "floor", "fitted"),
    "samples": ("fresh", "pooled"),
    **SENSITIVITY,
    **TIES_AND_BUDGET,
}
BY_REGRESSION = {"design_rounding": ("ceiling", "efficient"), **TIES_AND_BUDGET}


def _algorithm(
    rules: Callable[[Task], RulesT],
    textbook: Callable[[RulesT, np.random.Generator], Trial],
    *,
    id: str,
    **words: Any,
) -> IdentificationAlgorithm:
    """Return the algorithm that plays by the rules, and whose reference is the textbook."""

    def require(task: Task) -> None:
        has_budget(id, rules(task))

    def play(task: Task, generator: np.random.Generator, trials: int) -> Outcome:
        return play_trials(id, rules(task), generator, trials)

    def reference(task: Task, generator: np.random.Generator) -> Trial:
        row = rules(task)
        has_budget(id, row)
        return textbook(row, generator)

    return IdentificationAlgorithm(id=id, require=require, play=play, reference=reference, **words)


def _stated_schedule(task: Task) -> PhaseSchedule:
    arms, dimension = task.bandit.feature_matrix.shape
    return phase_schedule(arms, dimension, task.interpretations["schedule"])


def dp_bai(task: Task) -> Means:
    """DP-BAI (Chen, Karthik, Chee and Tan, ICLR 2024, Algorithm 1).

    Phases of elimination with a budget fixed in advance. A phase with many arms in few dimensions
    (rank r below the root of their number s) pulls the r arms of a Max-Det collection and estimates
    all others by combinations of their private means; any other phase pulls every active arm. A
    mean of n pulls is released once, with Laplace noise of scale 1/(epsilon n): pure epsilon-DP
    (Proposition 4.1), as every reward enters one release of sensitivity 1/n.

    Interpretations:
        schedule: sizes of the phases and T': ``consistent``, ``literal`` or ``printed`` (BAI-E1).
        rounding: pulls of each arm in a phase: ``ceiling`` of T'/(M r) as stated, which may exceed
            the budget; ``floor``, at least 1; ``fitted``, the ceiling with T' lowered to T minus
            the most arms that each phase may pull, so that the budget is kept.
        samples: means of the phase's own rewards (``fresh``) or of all of the arm's (``pooled``,
            with noise by their number; rewards are then used again, which the privacy proof does
            not allow).
        sensitivity: rewards are taken to be at most 1 (``unit``), or the noise is scaled by the
            largest reward that the instance can pay (``support``; BAI-E7).
        ties: equal estimates are ranked by the arm's ``index`` or at ``random``.
        small_budget: where T' <= 0, ``raise`` an error or return a ``random`` arm without pulls.
    """
    scale = sensitivity_of(task) / task.parameters.epsilon
    return Means(task, _stated_schedule(task), collections=True, law=LAPLACE, scale=scale)


def dp_bai_gauss(task: Task) -> Means:
    """DP-BAI-Gauss (Chen, Karthik, Chee and Tan, ICLR 2024, Algorithm 2).

    DP-BAI with Gaussian noise on the means: variance 2 log(1.25/delta) / (epsilon n)^2 for n pulls.
    It is (epsilon, delta)-DP, as Proposition D.2 states it.

    Interpretations, beside those of DP-BAI:
        calibration: ``classical``, the formula above, which is proved for epsilon < 1 only;
            ``analytic``, the smallest standard deviation that makes one release of sensitivity 1/n
            (epsilon, delta)-private, whatever epsilon is (BAI-E9).
    """
    epsilon, delta = task.parameters.epsilon, task.parameters.delta
    multiplier = noise_multiplier(epsilon, delta, task.interpretations["calibration"])
    scale = sensitivity_of(task) * multiplier
    return Means(task, _stated_schedule(task), collections=True, law=GAUSSIAN, scale=scale)


def baseline(task: Task) -> Means:
    """The Baseline of the DP-BAI paper (Chen, Karthik, Chee and Tan, ICLR 2024, section 5).

    DP-BAI without Max-Det collections: every phase pulls every active arm and releases its mean
    with Laplace noise; pure epsilon-DP by the same argument. Features enter nothing but, through
    their dimension, the schedule.

    Interpretations, beside those of DP-BAI:
        sizes: of the phases, as for DP-BAI (``stated``), or ``halving``: K, ceil(K/2), ..., 1 with
            T' = T - M, which is nearer to the Sequential Halving that the paper likens it to, and
            to which ``schedule`` does not matter.
    """
    halves = task.interpretations["sizes"] == "halving"
    schedule = halving_schedule(len(task.bandit.arms)) if halves else _stated_schedule(task)
    scale = sensitivity_of(task) / task.parameters.epsilon
    return Means(task, schedule, collections=False, law=LAPLACE, scale=scale)


def od_linbai(task: Task) -> Regression:
    """OD-LinBAI (Yang and Tan, NeurIPS 2022), without privacy.

    Rounds of elimination with a budget fixed in advance: a G-optimal design on the active arms,
    least squares on the round's own rewards, and the ceil(d_0 / 2^r) best arms stay, d_0 being the
    rank of all features. Definition as recovered from public implementations.

    The dimension is reduced to the span of the active arms where that is not the whole space.

    Interpretations:
        design_rounding: ``ceiling``, ceil(w_i m) pulls with m = (T - reserved)/R; ``efficient``,
            floor(T/R) pulls a round, the last one getting the rest, apportioned so that they sum to
            it.
        ties: equal estimates are ranked by the arm's ``index`` or at ``random``.
        small_budget: where m <= 0, or floor(T/R) is below the most arms that a design may need,
            ``raise`` an error or return a ``random`` arm without pulls.
    """
    return Regression(task)


def dp_od(task: Task) -> Regression:
    """DP-OD (Chen, Karthik, Chee and Tan, ICLR 2024, appendix E): OD-LinBAI with private
    regressions.

    Before each regression every coordinate of the sum of features times rewards is given Laplace
    noise of scale L/epsilon, L being the largest norm of a feature; pure epsilon-DP, as the paper
    states it. The noise is added in the coordinates of the round, which are the original axes where
    the active arms span the whole space.

    Interpretations, beside those of OD-LinBAI:
        norm: ``l2``, as is usual for a norm without index, or ``l1``, which the proof of privacy
            needs where pulled features do not lie on the axes.
        norm_over: ``all`` features; those of the ``active`` arms; or the ``reduced`` coordinates of
            the active arms.
        basis: of the span of the active features where it is not the whole space, ``orthonormal``
            or made of as many independent ``features``.
        sensitivity: rewards are taken to be at most 1 (``unit``), or the noise is scaled by the
            largest reward that the instance can pay (``support``; BAI-E7).
    """
    return Regression(task, task.parameters.epsilon)


def sequential_halving(task: Task) -> Means:
    """Sequential Halving (Karnin, Koren and Somekh, ICML 2013), without privacy.

    ceil(log2 K) rounds; in each, every surviving arm is pulled max(1, floor(T / (s ceil(log2 K))))
    times, s being their number, and the ceil(s/2) best stay. Rewards are not used again, features
    never.

    Interpretations:
        ties: equal means are ranked by the arm's ``index`` or at ``random``.
        small_budget: with a budget of 0, ``raise`` an error or return a ``random`` arm. Any other
            budget is played, one pull an arm if need be, and may then be exceeded.
    """
    return Means(task, halving_schedule(len(task.bandit.arms), late_pulls=0), collections=False)


def _computed(parameters: Any, budget: int, bandit: Bandit | None) -> bool:
    """Whether the losses of DP-OD, DP-BAI and Baseline were computed."""
    return bool(0.0 < parameters.epsilon <= 5.0)


def _oblique(parameters: Any, budget: int, bandit: Bandit | None) -> bool:
    """Whether some arm's features have an l1 norm above the largest l2 norm."""
    if not _computed(parameters, budget, bandit):
        return False
    if not isinstance(bandit, LinearBandit):
        return bandit is None
    features = np.abs(bandit.feature_matrix)
    return bool(features.sum(axis=1).max() > np.hypot.reduce(features, axis=1).max() * (1 + 1e-9))


def _classical(parameters: Any, budget: int, bandit: Bandit | None) -> bool:
    """Whether the classical noise is too little for a mean or, for all instances, a difference.

    Three arms along a line are decided by one mean, two arms in a plane by a difference.
    """
    counts = (1, 2) if bandit is None else (1,)
    needed = (classical_delta(parameters.epsilon, parameters.delta, means) for means in counts)
    return bool(max(needed) > parameters.delta)


_FRESH = {"samples": "fresh", "sensitivity": "unit"}
_MEANS = {**_FRESH, "schedule": "consistent", "rounding": "ceiling", "ties": "index"}
_REGRESSION = {
    "design_rounding": "ceiling",
    "norm_over": "all",
    "basis": "orthonormal",
    "sensitivity": "unit",
    "ties": "index",
}
_UNCOMPUTED = Known(
    "stated", remark="losses were computed at the default interpretations, epsilon up to 5"
)

DP_BAI = _algorithm(
    dp_bai,
    eliminate_by_means,
    id="dp-bai",
    name="DP-BAI",
    paper="Chen, Karthik, Chee and Tan (ICLR 2024), Algorithm 1",
    parameters={"epsilon": positive_or_infinite},
    guarantee="pure",
    stated="dp-bai, Proposition 4.1",
    known=(Known("not contradicted", "BAI-C14a", _MEANS, _computed), _UNCOMPUTED),
    audit=AuditCase(0.5, "AUD-9"),
    interpretations=BY_MEANS,
)
DP_BAI_GAUSS = _algorithm(
    dp_bai_gauss,
    eliminate_by_means,
    id="dp-bai-gauss",
    name="DP-BAI-Gauss",
    paper="Chen, Karthik, Chee and Tan (ICLR 2024), Algorithm 2",
    parameters={
        "epsilon": positive_or_infinite(example=0.5),
        "delta": chance(example=0.01),
    },
    guarantee="approximate",
    stated="dp-bai, Proposition D.2",
    known=(
        Known(
            "refuted",
            "BAI-C24",
            {**_MEANS, "calibration": "classical"},
            _classical,
            "the witness has three arms along one line, or two in a plane",
        ),
        Known(
            "proved",
            "parallel composition of analytic Gaussian mechanisms, Balle and Wang (2018)",
            {**_FRESH, "calibration": "analytic"},
        ),
        Known(
            "stated",
            remark="its noise is known to suffice for epsilon below 1; no witness refutes it here",
        ),
    ),
    audit=AuditCase(
        0.3,
        "AUD-12",
        parameters={"epsilon": 5.0, "delta": 0.01},
        silent={"as-written": "two arms in a plane need a delta below 1e-4 at this epsilon"},
    ),
    interpretations={**BY_MEANS, "calibration": ("classical", "analytic")},
)
BASELINE = _algorithm(
    baseline,
    eliminate_by_means,
    id="baseline",
    name="Baseline",
    paper="Chen, Karthik, Chee and Tan (ICLR 2024), section 5",
    parameters={"epsilon": positive_or_infinite},
    guarantee="pure",
    stated="dp-bai, Section 5",
    known=(
        Known("not contradicted", "BAI-C14b", {**_MEANS, "sizes": "stated"}, _computed),
        _UNCOMPUTED,
    ),
    audit=AuditCase(0.5, "AUD-9"),
    interpretations={**BY_MEANS, "sizes": ("stated", "halving")},
)
OD_LINBAI = _algorithm(
    od_linbai,
    eliminate_by_regression,
    id="od-linbai",
    name="OD-LinBAI",
    paper="Yang and Tan (NeurIPS 2022)",
    guarantee="none",
    audit=AuditCase(0.1, "AUD-19"),
    interpretations=BY_REGRESSION,
)
DP_OD = _algorithm(
    dp_od,
    eliminate_by_regression,
    id="dp-od",
    name="DP-OD",
    paper="Chen, Karthik, Chee and Tan (ICLR 2024), appendix E",
    parameters={"epsilon": positive_or_infinite},
    guarantee="pure",
    stated="dp-bai, Appendix E.1",
    known=(
        Known(
            "refuted",
            "BAI-C14c",
            {**_REGRESSION, "norm": "l2"},
            _oblique,
            "with a Euclidean L, which the paper does not specify; the witness has arms at 46 and "
            "224 degrees, none was computed for others",
        ),
        Known(
            "stated",
            interpretations={"norm": "l2"},
            remark="BAI-C14c refutes it with a Euclidean L for arms that are not along an axis",
        ),
        Known(
            "not contradicted",
            "BAI-C14c",
            {**_REGRESSION, "norm": "l1"},
            _computed,
            "too little noise where a reduction of the dimension turns the basis",
        ),
        _UNCOMPUTED,
    ),
    audit=AuditCase(0.5, "AUD-11"),
    interpretations={
        **BY_REGRESSION,
        "norm": ("l2", "l1"),
        "norm_over": ("all", "active", "reduced"),
        "basis": ("orthonormal", "features"),
        **SENSITIVITY,
    },
)
SEQUENTIAL_HALVING = _algorithm(
    sequential_halving,
    halve,
    id="sequential-halving",
    name="Sequential Halving",
    paper="Karnin, Koren and Somekh (ICML 2013)",
    guarantee="none",
    audit=AuditCase(0.1, "AUD-19"),
    interpretations=TIES_AND_BUDGET,
)
