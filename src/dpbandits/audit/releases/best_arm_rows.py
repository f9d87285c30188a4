"""Rows of DP-BAI and Baseline: pure privacy (AUD-9), rewards up to 1.1 (AUD-10)."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from dpbandits.algorithms.best_arm.eliminations import phase_schedule
from dpbandits.audit.exact_rows import OBSERVABLE, Audited
from dpbandits.audit.releases.best_arm import difference_loss, sign_loss, tree_chances, tree_loss
from dpbandits.audit.releases.losses import Loss
from dpbandits.audit.rows import AuditRow

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
