"""Exact chances of all arm sequences of an episodic index policy with two arms.

The policy compares two private means, each a clean mean with fresh Laplace noise, plus bonuses that
depend on counts and the round alone. So a decision says on which side of a known number the
difference of both lies. While none is renewed the decisions leave an interval to the difference.
The renewed arm's old mean is integrated out; what has to be carried on is a function of the other
arm's mean, the chance of the decisions so far times its density (``laplace``). The chance of an
arm sequence is exact up to quadrature, 2e-11 relative (against finer pieces), below ``MARGIN``.

Lazy-DP-TS draws from Beta laws instead. Of the sequence that pulls arm 1 once and arm 2 ever after
the chance factorises, given the private mean of arm 1, over those of arm 2.
"""

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from scipy.special import betainc, betaln

from dpbandits.algorithms import adap_ucb, lazy
from dpbandits.algorithms.base import Algorithm
from dpbandits.auditing.events import LN_OBSERVABLE, Event, Values
from dpbandits.auditing.laplace import (
    REACH,
    Piecewise,
    fit,
    gauss_pieces,
    laplace_breaks,
    laplace_density,
    laplace_mass,
)
from dpbandits.auditing.rows import AuditRow, exact_row

Arms = tuple[int, ...]
CleanMeans = Callable[[int, int, int], float]
"""(arm, number of the release from 0, pulls in it) -> mean of the rewards in it."""

LEAST_CHANCE = 1e-9  # Rarer sequences are left out.
MARGIN = 1e-8  # Above the error of quadrature, and taken off a log ratio.

TABLES = ((0.0, 0.0, 0), (0.0, 0.0, 1), (0.0, 1.0, 1), (1.0, 1.0, 0))
"""Constant rewards of both arms, and which private mean of arm 1 has the changed reward."""


@dataclass(frozen=True)
class Policy:
    """An index policy with two arms, which pulls each once and then the one of the larger index.

    The noise of a mean of n rewards has the scale 1 / (epsilon n). A decision is on as many pulls
    as the arm has had (AdaP-UCB, whole episodes), or on one, and a mean is renewed as soon as twice
    the rewards of the last one are there (Anytime-Lazy-UCB). The bonus is by the number of the
    coming round and the rewards in the arm's private mean.
    """

    horizon: int
    epsilon: float
    whole_episodes: bool
    bonus: Callable[[int, int], float]


class _Mean(NamedTuple):
    """A private mean."""

    rewards: int = 1  # that it is of
    number: int = 0  # of the arm's private means, from 0
    buffered: int = 0  # pulls of the arm since


@dataclass(frozen=True)
class _Node:
    """The decisions so far; the fresh mean is free but for an interval of the difference."""

    arms: Arms
    private: tuple[_Mean, _Mean]  # of either arm
    fresh: int  # the arm that was renewed last
    old: Piecewise  # the function of the other arm's mean
    low: float = -math.inf  # of the first arm's mean minus the second's
    high: float = math.inf


def sequence_chances(policy: Policy, means: CleanMeans) -> Mapping[Arms, float]:
    """Return the chance of every arm sequence, arms being 0 and 1."""
    centre, scale = means(1, 0, 1), 1.0 / policy.epsilon
    old = fit(lambda x: laplace_density(x, centre, scale), laplace_breaks(centre, scale))
    return dict(_leaves(policy, means, _Node((0, 1), (_Mean(), _Mean()), 0, old)))


def _leaves(policy: Policy, means: CleanMeans, node: _Node) -> Iterator[tuple[Arms, float]]:
    t = len(node.arms) + 1
    if t > policy.horizon:
        yield node.arms, _integrated(policy, means, node, True).total()
        return
    # The first arm comes next if its mean minus the second's is above this; ties have no chance.
    turn = policy.bonus(t, node.private[1].rewards) - policy.bonus(t, node.private[0].rewards)
    for arm, low, high in (
        (0, max(node.low, turn), node.high),
        (1, node.low, min(node.high, turn)),
    ):
        if low < high:
            pulled = _pulled(policy, means, replace(node, low=low, high=high), arm)
            yield from _leaves(policy, means, pulled)


def _pulled(policy: Policy, means: CleanMeans, node: _Node, arm: int) -> _Node:
    mean, other = node.private[arm], node.private[1 - arm]
    batch, pulls = 2 * mean.rewards, 1
    if policy.whole_episodes:
        batch = node.arms.count(arm)
        pulls = min(batch, policy.horizon - len(node.arms))
    arms, buffered = node.arms + (arm,) * pulls, mean.buffered + pulls
    is_renewed = buffered >= batch and len(arms) < policy.horizon
    mean = _Mean(batch, mean.number + 1) if is_renewed else mean._replace(buffered=buffered)
    private = (mean, other) if arm == 0 else (other, mean)
    if not is_renewed:
        return replace(node, arms=arms, private=private)
    return _Node(arms, private, arm, _integrated(policy, means, node, arm == node.fresh))


def _integrated(policy: Policy, means: CleanMeans, node: _Node, keeps_old: bool) -> Piecewise:
    """Return the function of the old mean or of the fresh one, the other being integrated out."""
    count, number, _ = node.private[node.fresh]
    centre, scale = means(node.fresh, number, count), 1.0 / (policy.epsilon * count)
    breaks, others = node.old.breaks, laplace_breaks(centre, scale)
    if not keeps_old:
        breaks, others = others, breaks
    is_first = (node.fresh == 0) != keeps_old
    # Where the function is not smooth: at a break of the other mean, an end of the interval off.
    shifts = [shift if is_first else -shift for shift in (node.low, node.high)]
    kinks = np.ravel([others + shift for shift in shifts if math.isfinite(shift)])
    inside = kinks[(kinks > breaks[0]) & (kinks < breaks[-1])]

    def weighed(x: Values) -> Values:
        # The other mean is between these, given this one.
        low, high = (x - node.high, x - node.low) if is_first else (x + node.low, x + node.high)
        if keeps_old:
            return node.old(x) * laplace_mass((low - centre) / scale, (high - centre) / scale)
        return laplace_density(x, centre, scale) * node.old.mass(low, high)

    return fit(weighed, np.concatenate([breaks, inside]))


def adap_ucb_policy(horizon: int, epsilon: float, **constant: float) -> Policy:
    """Return AdaP-UCB as written, two arms."""
    settings = _settings(adap_ucb.ALGORITHM, horizon, epsilon, constant)

    def bonus(t: int, count: int) -> float:
        width = math.sqrt(settings.exploration_factor * math.log(t) / count)
        return float(width + settings.privacy_factor * math.log(t) / count)

    return Policy(horizon, epsilon, True, bonus)


def anytime_lazy_ucb_policy(horizon: int, epsilon: float, **constant: float) -> Policy:
    """Return Anytime-Lazy-UCB, two arms."""
    settings = _settings(lazy.LAZY_UCB, horizon, epsilon, constant)

    def bonus(t: int, count: int) -> float:
        log = settings.log_factor * math.log(t)
        width = math.sqrt(settings.width_constant * log / count)
        return float(width + settings.noise_constant * log / (epsilon * count))

    return Policy(horizon, epsilon, False, bonus)


def _settings(
    algorithm: Algorithm, horizon: int, epsilon: float, constant: Mapping[str, float]
) -> Any:
    chosen = algorithm.interpretations_from({})
    return algorithm.settings(horizon, 2, epsilon=epsilon, **constant, **chosen)


def constant_means(first: float, second: float, release: int, changed: float) -> CleanMeans:
    """Return clean means where each arm pays one reward, but for one cell of the first arm."""

    def mean(arm: int, number: int, count: int) -> float:
        if arm == 1:
            return second
        return first + (changed - first) / count if number == release else first

    return mean


def by_loss(leak: Event) -> tuple[float, float]:
    """Return what events are compared by: processors differ in the last digit of a loss."""
    return round(leak.epsilon, 12), leak.log_unlikely


def largest_leaks(
    policy: Policy, unchanged: CleanMeans, changed: CleanMeans, least_chances: tuple[float, ...]
) -> list[Event]:
    """Return the arm sequences that separate two tables the most.

    One for each least chance: sequences with a smaller one under either table are left out. Of
    those that rounding alone tells apart it is the likeliest.
    """
    first, second = (sequence_chances(policy, means) for means in (unchanged, changed))
    leaks = [
        Event("the arms are " + _runs(arms), math.log(chance), math.log(second[arms]))
        for arms, chance in first.items()
        if min(chance, second[arms]) >= LEAST_CHANCE
    ]
    return [
        max((leak for leak in leaks if leak.log_unlikely >= math.log(least)), key=by_loss)
        for least in least_chances
    ]


def _runs(arms: Arms) -> str:
    """Return an arm sequence in words, such as ``1, 2, 1 (4 times)``."""
    groups = ((arm + 1, len(list(run))) for arm, run in itertools.groupby(arms))
    return ", ".join(
        f"{arm}" if length == 1 else f"{arm} ({length} times)" for arm, length in groups
    )


def abandoned_arm(horizon: int, epsilon: float, reward: float, **constant: float) -> Event:
    """Return the event that Lazy-DP-TS pulls arm 1 in round 1 alone, its reward being 0 or 1.

    Both chances are sums over the same nodes, so that their ratio is at most exp(epsilon), however
    exact they are.
    """
    settings = _settings(lazy.LAZY_TS, horizon, epsilon, constant)
    factor = settings.noise_constant * settings.log_factor

    def bonus(t: int, count: int) -> float:
        return float(factor * math.log(t) / (epsilon * count))

    kinks = [end - bonus(t, 1) for t in range(3, horizon + 1) for end in (0.0, 1.0)]
    first, weights = _nodes([0.0, 1.0], 1.0 / epsilon, kinks)
    chances = np.ones(first.size)
    t, count = 3, 1
    while t <= horizon:
        # Two times as many pulls as the private mean has rewards, then it is renewed.
        rounds = range(t, min(t + 2 * count, horizon + 1))
        scale = 1.0 / (epsilon * count)
        kinks = [end - bonus(played, count) for played in rounds for end in (0.0, 1.0)]
        second, masses = _nodes([reward], scale, kinks)
        kept = np.ones((first.size, second.size))
        for played in rounds:
            means = np.clip(first + bonus(played, 1), 0.0, 1.0)
            others = np.clip(second + bonus(played, count), 0.0, 1.0)
            kept *= _second_wins(means, others, count)
        chances = chances * (kept @ (masses * laplace_density(second, reward, scale)))
        t, count = rounds[-1] + 1, 2 * count
    laws = [laplace_density(first, changed, 1.0 / epsilon) for changed in (0.0, 1.0)]
    log_p, log_q = (math.log((weights * law) @ chances) for law in laws)
    return Event(f"the arms are 1, 2 ({horizon - 1} times)", log_p, log_q)


def _nodes(centres: list[float], scale: float, kinks: list[float]) -> tuple[Values, Values]:
    """Return nodes and weights on the line, in pieces of at most 1.5 scales between the kinks."""
    low, high = min(centres) - REACH * scale, max(centres) + REACH * scale
    inside = [kink for kink in kinks if low < kink < high]
    cuts = np.unique([low, high, *centres, *inside])
    parts = [
        np.linspace(begin, end, math.ceil((end - begin) / (1.5 * scale)) + 1)[:-1]
        for begin, end in itertools.pairwise(cuts)
    ]
    return gauss_pieces(np.append(np.concatenate(parts), high), 8)


def _second_wins(means: Values, others: Values, count: int) -> Values:
    """Return P(theta_2 > theta_1) by the raised means of arm 1 (one reward) and of arm 2."""
    unit, weights = np.polynomial.legendre.leggauss(32 + int(4.0 * math.sqrt(count)))
    # The square of a sine: the density's powers of theta and 1 - theta are smooth in its angle.
    angle = (unit + 1.0) * math.pi / 4.0
    theta, weights = np.sin(angle) ** 2, weights * math.pi / 4.0 * np.sin(2.0 * angle)
    # Most means are clipped to 0 or 1.
    mean, which = np.unique(means, return_inverse=True)
    other, other_which = np.unique(others, return_inverse=True)
    log_density = mean[:, None] * np.log(theta) + (1.0 - mean[:, None]) * np.log1p(-theta)
    density = np.exp(log_density - betaln(mean + 1.0, 2.0 - mean)[:, None]) * weights
    above = betainc(
        ((1.0 - other) * count + 1.0)[:, None], (other * count + 1.0)[:, None], 1.0 - theta
    )
    return np.asarray((density @ above.T)[which][:, other_which])


def sequence_rows(statement: str, algorithm: str, policy: Policy) -> Iterator[AuditRow]:
    """Yield the rows of the worst arm sequence over all tables, and of the worst observable one."""
    by_table = []
    for first, second, release in TABLES:
        means = [constant_means(first, second, release, changed) for changed in (0.0, 1.0)]
        words = (
            f"arm 1 always {first:g}, arm 2 always {second:g}; the first reward of private mean "
            f"{release + 1} of arm 1 is 0 or 1"
        )
        leaks = largest_leaks(policy, means[0], means[1], (LEAST_CHANCE, math.exp(LN_OBSERVABLE)))
        by_table.append([(leak, words) for leak in leaks])
    for found in zip(*by_table, strict=True):
        yield exact_row(
            *max(found, key=lambda candidate: by_loss(candidate[0])),
            margin=MARGIN,
            epsilon=policy.epsilon,
            statement=statement,
            algorithm=algorithm,
            horizon=policy.horizon,
        )


def abandoned_rows(
    epsilons: Sequence[float] = (1.0, 5.0), horizons: Sequence[int] = (8, 16, 32, 64)
) -> Iterator[AuditRow]:
    """Yield AUD-18 on Lazy-DP-TS: arm 1 is pulled once, then arm 2 for ever."""
    for epsilon, horizon, reward in itertools.product(epsilons, horizons, (0.0, 1.0)):
        yield exact_row(
            abandoned_arm(horizon, epsilon, reward),
            f"the first reward of arm 1 is 0 or 1, arm 2 always {reward:g}",
            margin=1e-6,  # Quadrature errs by about 1e-9 of a decision's chance.
            epsilon=epsilon,
            statement="AUD-18",
            algorithm="lazy-dp-ts",
            horizon=horizon,
        )
