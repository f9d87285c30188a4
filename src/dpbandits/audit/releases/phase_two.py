"""The witness in the releases of Phase II of GDP-NCB (claim NCB-C15).

Phase I has a fixed number of rounds, whose arms do not depend on rewards. One of its rewards enters
every later release of its arm, each with fresh noise. Where arm 2 is changed, all its episodes are
wanted, and the other arm keeps the index that it has at the start of Phase II. Derived by hand in
docs/privacy-witnesses.md; letters as in `stop_test`.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from dpbandits.algorithms.gdp_ncb import ALPHA, C
from dpbandits.audit.releases.laplace import log_cdf
from dpbandits.audit.releases.stop_test import Witness


@dataclass(frozen=True)
class PhaseTwo:
    """Rules of Phase II for two arms.

    Attributes:
        horizon: T.
        epsilon: above 0.
        rounds: of Phase I.
        log: the logarithm in the index.
        noise_log: L of the noise, whose scale in a sum is L / epsilon.
        c: constant of the index.
        alpha: likewise.
    """

    horizon: int
    epsilon: float
    rounds: int
    log: float
    noise_log: float
    c: float = C
    alpha: float = ALPHA

    @property
    def scale(self) -> float:
        """Return b, the scale of the noise in a sum of rewards."""
        return self.noise_log / self.epsilon

    def index(self, mean: float, pulls: int) -> float:
        """Return the index (Equation 4, the last root over 2 alpha / epsilon alone).

        Args:
            mean: private mean, 0 or above.
            pulls: n, those of Phase I and of the last episode.
        """
        width = 2.0 * self.c * math.sqrt(2.0 * mean * self.log / pulls)
        last = 4.0 * math.sqrt(2.0 * self.alpha / self.epsilon) * self.log**1.5 / pulls
        return float(mean + width + self.alpha * self.log**2 / (self.epsilon * pulls) + last)

    def mean_at(self, level: float, pulls: int) -> float:
        """Return the private mean at which the index is at a level: a quadratic in its root.

        Args:
            level: at least the index of the mean 0.
            pulls: n of ``index``.
        """
        lacking = level - self.index(0.0, pulls)
        width = 2.0 * self.c * math.sqrt(2.0 * self.log / pulls)
        return (2.0 * lacking / (width + math.sqrt(width**2 + 4.0 * lacking))) ** 2

    def episodes(self) -> Iterator[int]:
        """Yield the lengths of one arm's episodes that a decision follows: 2, 4, 8, ..."""
        left, length = self.horizon - self.rounds, 2
        while left > length:
            yield length
            left -= length
            length *= 2


@dataclass(frozen=True)
class Release:
    """One private mean of the changed arm that decides whether the arm is pulled again.

    Attributes:
        length: pulls of the episode.
        needed: sum of rewards, of Phase I and the episode, that the noisy sum has to exceed.
        rewards: sum of the episode's rewards.
    """

    length: int
    needed: float
    rewards: float


def as_coded(horizon: int, epsilon: float, noise: str = "natural") -> PhaseTwo:
    """Return the rules of the released code: W rounds, ln W in the index, ln T in the noise.

    Args:
        horizon: T.
        epsilon: above 0.
        noise: the logarithm of T in its scale, ``natural`` or, which is the repair, ``base2``.
    """
    rounds = math.isqrt(horizon) + 1
    noise_log = math.log2(horizon) if noise == "base2" else math.log(horizon)
    return PhaseTwo(horizon, epsilon, rounds, math.log(rounds), noise_log)


def explored(rounds: int) -> tuple[int, int]:
    """Return the pulls of arms 1 and 2 in Phase I, those of arm 2 one or two fewer."""
    return rounds // 2 + 1, rounds - rounds // 2 - 1


def deciding_releases(rules: PhaseTwo, other: int, changed: int) -> list[Release]:
    """Return the releases of the changed arm in Phase II that leave its next pull to the noise.

    All rewards of Phase I are 0, and the other arm, which has the private mean 0 at first, is not
    pulled in Phase II. The rewards of an episode sum to one less than what is needed, where they
    can. The list ends with the horizon, or where the changed arm cannot come next with any mean in
    [0, 1]. With as many pulls as the other one the changed arm is arm 1, which comes first;
    with fewer it is arm 2, which loses ties.

    Args:
        rules: of Phase II.
        other: pulls of the other arm in Phase I.
        changed: pulls of the changed arm, at most those of the other one.
    """
    level = rules.index(0.0, other + 1)
    releases = []
    for length in rules.episodes():
        pulls = changed + length
        if rules.index(1.0, pulls) <= level:
            break
        if rules.index(0.0, pulls) <= level:
            needed = pulls * rules.mean_at(level, pulls)
            releases.append(Release(length, needed, min(max(needed - 1.0, 0.0), float(length))))
    return releases


def release_witness(rules: PhaseTwo, other: int, changed: int) -> Witness:
    """Return the witness in the releases of Phase II, which begins with all private means at 0.

    All rewards of Phase I are 0 under X; under X' one of the changed arm is 1. The event: Phase I
    has these pulls, that round among the changed arm's, and all later rounds pull the changed arm
    as long as it can.

    Args:
        rules: of Phase II.
        other: as in ``deciding_releases``.
        changed: likewise.
    """
    releases = deciding_releases(rules, other, changed)
    scale = rules.scale
    short = np.array([release.rewards - release.needed for release in releases]) / scale
    passed = log_cdf(short)
    ratio = float(np.sum(log_cdf(short + 1.0 / scale) - passed))
    return Witness(ratio, float(np.sum(passed)), log_counts(other, changed))


def log_counts(other: int, changed: int) -> float:
    """Return ln of the probability of these pulls, one given round being the changed arm's."""
    rounds = other + changed
    ways = math.lgamma(rounds) - math.lgamma(other + 1) - math.lgamma(changed)
    return ways - rounds * math.log(2.0)
