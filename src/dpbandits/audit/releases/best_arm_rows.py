"""Rows of DP-BAI and Baseline: pure privacy (AUD-9), rewards up to 1.1 (AUD-10)."""

import math
from collections.abc import Callable, Iterator, Sequence

from dpbandits.algorithms.best_arm.schedule import phase_schedule
from dpbandits.audit.exact_rows import OBSERVABLE, Audited
from dpbandits.audit.releases.best_arm import difference_loss, sign_loss, tree_chances, tree_loss
from dpbandits.audit.releases.losses import Loss
from dpbandits.audit.rows import AuditRow

EPSILONS = (0.1, 0.5, 1.0, 2.0, 5.0)
BUDGETS = (12, 1002, 10_002)
TREES = ((3, 2, 16), (4, 4, 24))
"""(K, d, T) with two phases."""

LARGER_REWARD = 1.1
"""The paper's instance I-B pays up to this (E7)."""

Losses = Callable[[float], Loss]
"""Least log chance of the output -> the largest loss."""


def rows_of_losses(
    audited: Audited,
    losses: Losses,
    *,
    epsilon: float,
    event: str,
    likely_event: str = "",
    **tags: object,
) -> Iterator[AuditRow]:
    """Yield the row of the largest loss and, if its chance is below 1e-6, an observable one.

    Args:
        audited: what the rows have in common.
        losses: least log chance -> loss.
        epsilon: that the algorithm claims.
        event: of the largest loss.
        likely_event: of the other one; the same if empty.
        tags: further arguments of ``Audited.row``.
    """
    largest = losses(-math.inf)
    candidates = [(largest, event)]
    if largest.log_chance < OBSERVABLE:
        candidates.append((losses(OBSERVABLE), likely_event or event))
    for loss, words in candidates:
        yield audited.row(
            claimed=epsilon,
            event=words,
            lower=loss.value,
            log_alpha=loss.log_chance,
            log_likely=loss.log_chance + loss.value,
            **tags,
        )


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
    statement, claim = ("AUD-9", "BAI-C14") if reward == 1.0 else ("AUD-10", "")
    return Audited(statement, claim, algorithm, "as-written", "pull table")


def _parameters(epsilon: float, reward: float) -> str:
    return f"epsilon={epsilon:g}" + ("" if reward == 1.0 else f"; rewards 0 or {reward:g}")


def _line(epsilon: float, reward: float, budget: int) -> Iterator[AuditRow]:
    """Yield the rows of decisions by the sign of one noisy sum."""
    # One changed reward among zeros: with one pull or many the sums are 0 and 1.
    cases = (
        (2, "features 1 and 0 on a line", "the recommended arm is arm 2"),
        (3, "features u, u/2 and u/4 in the plane", "phase 2 does not pull arm 1"),
    )
    for arms, features, event in cases:
        yield from rows_of_losses(
            _audited("dp-bai", reward),
            lambda least: sign_loss(1, epsilon, reward, least),
            epsilon=epsilon,
            arms=arms,
            horizon=budget,
            parameters=_parameters(epsilon, reward),
            pair=f"{features}; rewards of arm 1 are 0, or all but one are",
            event=event,
            direction="x over x'",
        )


def _plane(epsilon: float, reward: float, budget: int) -> Iterator[AuditRow]:
    """Yield the rows of comparisons of two noisy sums."""
    pulls = -(-(budget - 2) // 2)
    for algorithm in ("dp-bai", "baseline"):
        yield from rows_of_losses(
            _audited(algorithm, reward),
            lambda least: difference_loss(pulls, epsilon, reward, (1.0, 1.0), least),
            epsilon=epsilon,
            arms=2,
            horizon=budget,
            parameters=_parameters(epsilon, reward),
            pair=f"two independent features; all {pulls} rewards of arm 1 are the largest one, "
            "or all but one are; all of arm 2 are 0",
            event="the recommended arm is arm 2",
            likely_event="the recommended arm is arm 2, the rewards of arm 1 summing to less",
        )


def _tree(epsilon: float, arms: int, dimension: int, budget: int) -> Iterator[AuditRow]:
    """Yield the rows of two phases, by sequence of pulls and recommendation."""
    schedule = phase_schedule(arms, dimension)
    effective = schedule.effective_budget(budget)
    pulls = [-(-effective // (schedule.phases * size)) for size in schedule.sizes[:-1]]
    chances = tree_chances(arms, (pulls[0], pulls[1]), epsilon)
    for algorithm in ("dp-bai", "baseline"):
        yield from rows_of_losses(
            _audited(algorithm, 1.0),
            lambda least: tree_loss(chances, sequence=True, least_log_chance=least),
            epsilon=epsilon,
            arms=arms,
            horizon=budget,
            parameters=f"epsilon={epsilon:g}; d={dimension}",
            pair=f"all tables of rewards 0 or 1 that differ in one cell; {pulls[0]} and {pulls[1]} "
            "pulls of an arm in phases 1 and 2",
            event="arm 1 is recommended and arm 2 is the other survivor of phase 1, arms numbered "
            "to be worst",
        )
