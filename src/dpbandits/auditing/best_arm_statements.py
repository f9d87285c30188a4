"""Rows of DP-BAI and Baseline (AUD-9, AUD-10), DP-OD (AUD-11) and DP-BAI-Gauss (AUD-12)."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from dpbandits.algorithms.best_arm.eliminations import phase_schedule
from dpbandits.auditing.best_arm import (
    ANGLES,
    CALIBRATIONS,
    DIAGONAL,
    INSTANCES,
    NORMS,
    deviation,
    difference_loss,
    dp_od_scales,
    gaussian_witness,
    limit_losses,
    pulls_of,
    sign_loss,
    square_loss,
    three_arm_pulls,
    tree_chances,
    tree_loss,
    unit_vectors,
)
from dpbandits.auditing.laplace import Loss
from dpbandits.auditing.rows import OBSERVABLE, Audited, AuditRow

EPSILONS = (0.1, 0.5, 1.0, 2.0, 5.0)
BUDGETS = (12, 1002, 10_002)
TREES = ((3, 2, 16), (4, 4, 24))
"""(K, d, T) with two phases."""

LARGER_REWARD = 1.1
"""The paper's instance I-B pays up to this (BAI-E7)."""

Losses = Callable[[float], Loss]
"""Least log chance of the output -> the largest loss."""


@dataclass(frozen=True)
class Words:
    """What a loss is of, in words.

    Attributes:
        pair: both inputs.
        event: the output.
        direction: the input that makes it more likely over the other one.
    """

    pair: str
    event: str
    direction: str


def rows_of_losses(
    audited: Audited,
    losses: Losses,
    describe: Callable[[Loss], Words],
    *,
    arms: int,
    horizon: int,
    epsilon: float,
    parameters: str = "",
) -> Iterator[AuditRow]:
    """Yield the row of the largest loss and, if its chance is below 1e-6, an observable one.

    Args:
        audited: what the rows have in common.
        losses: least log chance -> loss.
        describe: the loss in words.
        arms: K.
        horizon: the budget.
        epsilon: that the algorithm claims.
        parameters: further ones than epsilon.
    """
    candidates = [losses(-math.inf)]
    if candidates[0].log_chance < OBSERVABLE:
        candidates.append(losses(OBSERVABLE))
    for loss in candidates:
        words = describe(loss)
        yield audited.row(
            arms=arms,
            horizon=horizon,
            parameters=f"epsilon={epsilon:g}{parameters}",
            claimed=epsilon,
            pair=words.pair,
            event=words.event,
            direction=words.direction,
            lower=loss.value,
            log_alpha=loss.log_chance,
            log_likely=loss.log_chance + loss.value,
        )


def words_of_comparison(pulls: int, features: str, other: str, loss: Loss) -> Words:
    """Return a loss of ``difference_loss`` in words.

    Args:
        pulls: n, of either arm.
        features: of the arms, in words.
        other: the arm that arm 1 is compared with.
        loss: by output and by the difference of both sums.
    """
    output, place = loss.place
    difference = place - pulls
    pair = f"{features}; {pulls} rewards of arm 1 minus those of {other} sum to {difference}"
    winner, direction = (other, "x over x'") if output == 0 else ("arm 1", "x' over x")
    return Words(f"{pair} or {difference + 1}", f"the recommended arm is {winner}", direction)


def best_arm_rows(
    epsilons: Sequence[float] = EPSILONS, budgets: Sequence[int] = BUDGETS
) -> list[AuditRow]:
    """Return the rows of AUD-9 and AUD-10.

    Args:
        epsilons: above 0.
        budgets: T, at least 6.
    """
    rows: list[AuditRow] = []
    for epsilon in epsilons:
        for reward in (1.0, LARGER_REWARD):
            for budget in budgets:
                rows += _line(epsilon, reward, budget)
                rows += _plane(epsilon, reward, budget)
        for tree in TREES:
            rows += _tree(epsilon, *tree)
    return rows


def _audited(algorithm: str, reward: float) -> Audited:
    claims = {"dp-bai": "BAI-C14a", "baseline": "BAI-C14b"}
    statement, claim = ("AUD-9", claims[algorithm]) if reward == 1.0 else ("AUD-10", "")
    return Audited(statement, claim, algorithm, "as-written", "pull table")


def _parameters(reward: float) -> str:
    return "" if reward == 1.0 else f"; rewards 0 or {reward:g}"


def _line(epsilon: float, reward: float, budget: int) -> Iterator[AuditRow]:
    """Yield the rows of decisions by the sign of one noisy sum."""
    # One changed reward among zeros: with one pull or many the sums are 0 and 1.
    cases = (
        (2, "features 1 and 0 on a line", "the recommended arm is arm 2"),
        (3, "features u, u/2 and u/4 in the plane", "phase 2 does not pull arm 1"),
    )
    for arms, features, event in cases:
        words = Words(f"{features}; rewards of arm 1 are 0, or all but one are", event, "x over x'")
        yield from rows_of_losses(
            _audited("dp-bai", reward),
            lambda least: sign_loss(1, epsilon, reward, least),
            partial(_same_words, words),
            arms=arms,
            horizon=budget,
            epsilon=epsilon,
            parameters=_parameters(reward),
        )


def _same_words(words: Words, loss: Loss) -> Words:
    return words


def _plane(epsilon: float, reward: float, budget: int) -> Iterator[AuditRow]:
    """Yield the rows of comparisons of two noisy sums."""
    pulls = -(-(budget - 2) // 2)
    for algorithm in ("dp-bai", "baseline"):
        yield from rows_of_losses(
            _audited(algorithm, reward),
            lambda least: difference_loss(pulls, epsilon, reward, (1.0, 1.0), least),
            partial(words_of_comparison, pulls, "two independent features", "arm 2"),
            arms=2,
            horizon=budget,
            epsilon=epsilon,
            parameters=_parameters(reward),
        )


def _tree(epsilon: float, arms: int, dimension: int, budget: int) -> Iterator[AuditRow]:
    """Yield the rows of two phases, by sequence of pulls and recommendation."""
    schedule = phase_schedule(arms, dimension)
    effective = budget - schedule.reserved
    pulls = [-(-effective // (schedule.phases * size)) for size in schedule.sizes[:-1]]
    chances = tree_chances(arms, (pulls[0], pulls[1]), epsilon)

    def describe(loss: Loss) -> Words:
        survivor, *sums = loss.place
        first, second = (", ".join(map(str, part)) for part in (sums[:arms], sums[arms:]))
        pair = f"rewards of the arms sum to {first} in phase 1 and {second} in phase 2 under x; "
        event = f"arm 1 is recommended and arm {survivor + 2} survives phase 1"
        return Words(f"{pair}one of them is 1 larger under x'", event, "x' over x")

    for algorithm in ("dp-bai", "baseline"):
        yield from rows_of_losses(
            _audited(algorithm, 1.0),
            lambda least: tree_loss(chances, sequence=True, least_log_chance=least),
            describe,
            arms=arms,
            horizon=budget,
            epsilon=epsilon,
            parameters=f"; d={dimension}",
        )


DP_OD_EPSILONS = (0.1, 1.0, 5.0)
DP_OD_BUDGETS = (12, 1002)
SQUARE_BUDGETS = (23, 103)


def dp_od_rows(
    epsilons: Sequence[float] = DP_OD_EPSILONS,
    budgets: Sequence[int] = DP_OD_BUDGETS,
    square_budgets: Sequence[int] = SQUARE_BUDGETS,
) -> list[AuditRow]:
    """Return the rows of AUD-11.

    Args:
        epsilons: above 0.
        budgets: T with two arms, at least 6.
        square_budgets: T with four arms, at least 7.
    """
    rows: list[AuditRow] = []
    for norm in NORMS:
        audited = Audited(
            "AUD-11", "BAI-C14c", "dp-od", "as-written", "pull table", "B", f"norm={norm}"
        )
        for epsilon in epsilons:
            for budget in budgets:
                rows += _pairs(audited, norm, epsilon, budget)
            for budget in square_budgets:
                rows += _square(audited, norm, epsilon, budget)
    return rows


def worst_angles(norm: str) -> tuple[float, float]:
    """Return the angles in degrees of two unit vectors with the largest loss, of whole degrees.

    Args:
        norm: a key of ``NORMS``.
    """
    limits = limit_losses(norm)
    first, second = np.unravel_index(np.nanargmax(limits), limits.shape)
    return float(ANGLES[first]), float(ANGLES[second])


def _pairs(audited: Audited, norm: str, epsilon: float, budget: int) -> Iterator[AuditRow]:
    for angles in dict.fromkeys((DIAGONAL, (0.0, 90.0), worst_angles(norm))):
        scales = dp_od_scales(unit_vectors(*angles), norm)
        words = f"unit vectors at {angles[0]:g} and {angles[1]:g} degrees"
        for arms, pulls in ((2, -(-(budget - 2) // 2)), (3, three_arm_pulls(budget))):
            features = words if arms == 2 else f"{words} and half their sum"
            yield from rows_of_losses(
                audited,
                partial(difference_loss, pulls, epsilon, 1.0, scales),
                partial(words_of_comparison, pulls, features, "arm 2"),
                arms=arms,
                horizon=budget,
                epsilon=epsilon,
            )


def _square(audited: Audited, norm: str, epsilon: float, budget: int) -> Iterator[AuditRow]:
    """Yield the rows of four arms; the table need not obey the linear model."""
    pulls = (budget - 3) // 4
    features = "features (+-1, +-1)/sqrt 2, rewards of two arms 0"
    yield from rows_of_losses(
        audited,
        partial(square_loss, pulls, epsilon, norm, 1.0),
        partial(words_of_comparison, pulls, features, "its antipode"),
        arms=4,
        horizon=budget,
        epsilon=epsilon,
    )


GAUSS_EPSILONS = (0.1, 0.5, 1.0, 5.0, 8.0, 9.0, 10.0, 20.0)
DELTAS = (1e-5, 0.01, 0.1, 0.3, 0.5, 0.9)
"""Those of the paper's experiments."""

BUDGET = 10_002

_PAIRS = {
    "witness": (
        "features u, u/2 and u/4; phase 1 pulls arm 1 alone",
        "phase 2 does not pull arm 1",
    ),
    "line": ("features 1 and 0 on a line; arm 1 alone is pulled", "the recommended arm is arm 2"),
    "plane": ("two independent features", "the recommended arm is arm 2"),
}


def dp_bai_gauss_rows(
    epsilons: Sequence[float] = GAUSS_EPSILONS,
    deltas: Sequence[float] = DELTAS,
    budget: int = BUDGET,
) -> list[AuditRow]:
    """Return the rows of AUD-12; rewards may be anything in [0, 1].

    Args:
        epsilons: above 0.
        deltas: strictly between 0 and 1.
        budget: T, at least 6.
    """
    return [
        _row(calibration, instance, epsilon, delta, budget)
        for calibration in CALIBRATIONS
        for instance in INSTANCES
        for epsilon in epsilons
        for delta in deltas
    ]


def _row(calibration: str, instance: str, epsilon: float, delta: float, budget: int) -> AuditRow:
    audited = Audited(
        "AUD-12",
        "BAI-C24",
        "dp-bai-gauss",
        "as-written",
        "pull table",
        interpretation=f"calibration={calibration}",
    )
    witness = gaussian_witness(
        epsilon,
        deviation(epsilon, delta, calibration),
        pulls_of(instance, budget),
        two_sums=instance == "plane",
        binary=False,
    )
    of_sum = "minus those of arm 2 sum to" if instance == "plane" else "sum to"
    features, event = _PAIRS[instance]
    return audited.row(
        arms=INSTANCES[instance][0],
        horizon=budget,
        parameters=f"delta={delta:g}, epsilon={epsilon:g}",
        claimed=delta,
        pair=f"{features}; rewards of arm 1 {of_sum} {witness.total:.6g}, or to 1 more",
        event=event,
        lower=witness.delta,
        log_alpha=witness.log_unlikely,
        log_likely=witness.log_likely,
        direction="x over x'",
        measure="delta",
    )
