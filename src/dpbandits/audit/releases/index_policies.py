"""The index policies whose arm sequences are enumerated, and pairs of tables for them."""

import math
from dataclasses import dataclass

from dpbandits.algorithms import adap_ucb, lazy
from dpbandits.audit.releases.tree import CleanMeans, Policy, sequence_chances

LEAST_CHANCE = 1e-9
"""Below, the quadrature does not give a ratio of chances to nine digits."""

MARGIN = 1e-8
"""Taken off the log ratio, above its numerical error."""


@dataclass(frozen=True)
class Leak:
    """The arm sequence that separates two neighbouring tables the most.

    Attributes:
        log_ratio: of its chances, at least.
        log_unlikely: ln of the smaller chance.
        arms: 1 or 2 by round.
        changed_is_likelier: whether the second table makes it likelier.
    """

    log_ratio: float
    log_unlikely: float
    arms: tuple[int, ...]
    changed_is_likelier: bool


def adap_ucb_policy(horizon: int, epsilon: float) -> Policy:
    """Return AdaP-UCB as written, two arms.

    Args:
        horizon: T.
        epsilon: above 0.
    """
    interpretations = adap_ucb.ALGORITHM.interpretations_from({})
    settings = adap_ucb.settings(horizon, 2, epsilon=epsilon, **interpretations)

    def bonus(t: int, count: int) -> float:
        width = math.sqrt(settings.exploration_factor * math.log(t) / count)
        return width + settings.privacy_factor * math.log(t) / count

    return Policy(horizon, epsilon, True, bonus)


def anytime_lazy_ucb_policy(horizon: int, epsilon: float) -> Policy:
    """Return Anytime-Lazy-UCB, two arms.

    Args:
        horizon: T.
        epsilon: above 0.
    """
    interpretations = lazy.LAZY_UCB.interpretations_from({})
    settings = lazy.ucb_settings(horizon, 2, epsilon=epsilon, **interpretations)

    def bonus(t: int, count: int) -> float:
        log = settings.log_factor * math.log(t)
        width = math.sqrt(settings.width_constant * log / count)
        return width + settings.noise_constant * log / (epsilon * count)

    return Policy(horizon, epsilon, False, bonus)


def constant_means(first: float, second: float, release: int, changed: float) -> CleanMeans:
    """Return clean means where each arm pays one reward, but for one cell of the first arm.

    Args:
        first: rewards of the first arm.
        second: of the second one.
        release: number, from 0, of the first arm's private mean that has the changed reward.
        changed: this reward.
    """

    def mean(arm: int, number: int, count: int) -> float:
        if arm == 1:
            return second
        return first + (changed - first) / count if number == release else first

    return mean


def largest_leaks(
    policy: Policy, unchanged: CleanMeans, changed: CleanMeans, least_chances: tuple[float, ...]
) -> list[Leak]:
    """Return the arm sequences that separate two tables the most, by least chance.

    Args:
        policy: of which.
        unchanged: means of the first table.
        changed: of the second one.
        least_chances: sequences with a smaller chance under either table are left out.
    """
    first, second = (sequence_chances(policy, means) for means in (unchanged, changed))
    leaks = []
    for arms, chance in first.items():
        unlikely = min(chance, second[arms])
        if unlikely >= LEAST_CHANCE:
            ratio = math.log(second[arms] / chance)
            shown = tuple(arm + 1 for arm in arms)
            leaks.append(
                Leak(max(abs(ratio) - MARGIN, 0.0), math.log(unlikely), shown, ratio > 0.0)
            )
    return [
        max(
            (leak for leak in leaks if leak.log_unlikely >= math.log(least)),
            key=lambda leak: leak.log_ratio,
        )
        for least in least_chances
    ]
