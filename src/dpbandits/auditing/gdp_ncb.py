"""Witnesses against the privacy of GDP-NCB (claim NCB-C15): stop test, releases, carried means.

A witness is one event, a set of arm sequences, and two reward sequences in [0, 1] that differ in
one round. Theorem 2 of DP-NCB says that the event's probabilities under the two differ by a factor
of exp(epsilon) at most; a larger ratio refutes it. Derived by hand in docs/privacy-witnesses.md.

Stop test of Phase I, Algorithm 1 as written: the noise in a sum of rewards has the Laplace
distribution of scale b = L / epsilon, L = ln T (lines 5 and 20, with both sides multiplied by the
number of pulls). F is the standard Laplace distribution function, TH the threshold of line 2. There
are two arms.

Releases of Phase II, where Phase I has a fixed number of rounds, whose arms do not depend on
rewards. One of its rewards enters every later release of its arm, each with fresh noise. Where arm
2 is changed, all its episodes are wanted, and the other arm keeps the index that it has at the
start of Phase II. Derived by hand in docs/privacy-witnesses.md.

Carried means, with which Phase II may begin: the changed arm's private mean of Phase I is consulted
by the first decision of Phase II, one release more than above; the other arm's is a random level
that all decisions share. Given it the releases are independent, so that the chance of the event is
an integral over that level.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp

from dpbandits.algorithms.gdp_ncb import ALPHA, C
from dpbandits.auditing.laplace import Values, log_cdf

THRESHOLD = 1600.0
"""Constant of the published stop condition."""


@dataclass(frozen=True)
class Witness:
    """One event under two neighbouring reward sequences, X and X'; natural logarithms.

    Attributes:
        log_ratio: of the event's probability under X' to that under X.
        log_probability: of the event under X, given that Phase I pulls the arms it needs.
        log_arms: of the probability that Phase I pulls these arms, the same under X and X'.
    """

    log_ratio: float
    log_probability: float
    log_arms: float


def published_threshold(horizon: float, epsilon: float) -> float:
    """Return TH = 1600 (c^2 L + L^2 / epsilon), the private sum at which Phase I stops.

    Args:
        horizon: T.
        epsilon: above 0.
    """
    log = math.log(horizon)
    return THRESHOLD * (C**2 * log + log**2 / epsilon)


def exploration_witness(threshold: float, scale: float, pulls: int) -> Witness:
    """Return the witness in the stop test of Phase I, Algorithm 1 as written.

    X has reward 1 in odd rounds and 0 in even ones; X' the same, but 0 in round 1. The event: arms
    1, 2, 1, 2, ..., 1 in rounds 1 to 2n + 1. Exact for n >= TH; below, the logarithm of the ratio
    is exact up to 2 exp(-TH/b).

    Args:
        threshold: TH.
        scale: b.
        pulls: n, pulls of arm 1 before the last.
    """
    own_sums = np.arange(1, pulls + 1)
    passed = float(np.sum(log_cdf((threshold - own_sums) / scale)))
    other = pulls * float(log_cdf(threshold / scale))
    ratio = log_cdf(threshold / scale) - log_cdf((threshold - pulls) / scale)
    return Witness(float(ratio), passed + other, -(2 * pulls + 1) * math.log(2.0))


def least_pulls(threshold: float, scale: float, epsilon: float) -> int:
    """Return the fewest pulls n at which ``exploration_witness`` loses more than epsilon.

    Its loss ln F(TH/b) - ln F((TH - n)/b) grows with n.

    Args:
        threshold: TH.
        scale: b.
        epsilon: above 0.
    """
    log_passed = float(log_cdf(threshold / scale)) - epsilon
    half = math.log(0.5)
    # The quantile of F at exp(log_passed).
    quantile = log_passed - half if log_passed < half else half - math.log(-math.expm1(log_passed))
    return math.floor(threshold - scale * quantile) + 1


def anytime_witness(window: int, epsilon: float, pulls: int) -> Witness:
    """Return the witness in one window of the anytime version (Algorithm 3), which is Theorem 4's.

    A share 1/W^2 of the windows of length W is uniform play, in which no reward matters.

    Args:
        window: W.
        epsilon: above 0.
        pulls: n of ``exploration_witness``, whose event begins with the window.
    """
    threshold, scale = published_threshold(window, epsilon), math.log(window) / epsilon
    core = exploration_witness(threshold, scale, pulls)
    uniform, private = -2.0 * math.log(window), math.log1p(-1.0 / window**2)
    unchanged = np.logaddexp(uniform, private + core.log_probability)
    changed = np.logaddexp(uniform, private + core.log_probability + core.log_ratio)
    return Witness(float(changed - unchanged), float(unchanged), core.log_arms)


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


NODES, REACH = 12, 40.0
"""Nodes of a piece of the integral, and where it ends, in scales; pieces are one scale long."""

_Episode = tuple[int, int, float]
"""(rewards in the private mean, pulls that its index counts, sum of the rewards)."""


def carried_witness(rules: PhaseTwo, other: int, changed: int) -> Witness:
    """Return the witness in the releases of both phases.

    All rewards of Phase I are 0 under X; under X' one of the changed arm is 1. The event: Phase I
    has these pulls, that round among the changed arm's, and all later rounds pull the changed arm,
    as long as it can where the other arm's private mean is 0. Rewards of the episodes sum to one
    less than what is needed then, where they can.

    Args:
        rules: of Phase II.
        other: pulls of the other arm in Phase I.
        changed: pulls of the changed arm; arm 1, which wins ties, if they are at most as many.
    """
    unchanged = _episodes(rules, other, changed)
    means, log_weights = _levels(rules, other, unchanged)
    wins_ties = changed <= other
    chances = []
    for added in (0.0, 1.0):
        episodes = [(n, m, total + added) for n, m, total in unchanged]
        terms = [
            _log_passed(rules, rules.index(mean, other + 1), episodes, wins_ties) for mean in means
        ]
        chances.append(float(logsumexp(np.array(terms) + log_weights)))
    return Witness(chances[1] - chances[0], chances[0], log_counts(other, changed))


def releases(rules: PhaseTwo, other: int, changed: int) -> int:
    """Return how many private means of the changed arm the event of ``carried_witness`` consults.

    Args:
        rules: as in ``carried_witness``, likewise the others.
        other: pulls of the other arm.
        changed: pulls of the changed arm.
    """
    return len(_episodes(rules, other, changed))


def _levels(rules: PhaseTwo, other: int, episodes: list[_Episode]) -> tuple[Values, Values]:
    """Return values and log weights of the other arm's private mean, 0 clipped to [0, 1].

    The integral is over its root, of which the index is a smooth function, and is cut where a
    release of the changed arm begins or ceases to be decided by noise.
    """
    scale = rules.scale / other
    end = min(1.0, REACH * scale)
    cuts = [scale * step for step in range(math.ceil(end / scale) + 1)]
    lowest = rules.index(0.0, other + 1)
    for _, pulls, _ in episodes:
        turns = (rules.index(0.0, pulls), rules.index(1.0, pulls))
        cuts += [rules.mean_at(turn, other + 1) for turn in turns if turn > lowest]
    ends = np.sqrt(np.unique([cut for cut in cuts if cut < end] + [end]))
    unit, weights = np.polynomial.legendre.leggauss(NODES)
    half = np.diff(ends)[:, None] / 2.0
    roots = (ends[:-1, None] + half * (unit + 1.0)).ravel()
    inside = roots**2
    log_inside = np.log((half * weights).ravel() * roots / scale) - inside / scale
    log_half = -math.log(2.0)
    means = np.concatenate([[0.0], inside, [1.0]])
    return means, np.concatenate([[log_half], log_inside, [log_half - 1.0 / scale]])


def _episodes(rules: PhaseTwo, other: int, changed: int) -> list[_Episode]:
    """Return the private means of the changed arm, the first one that of Phase I.

    They end where the changed arm cannot come next if the other arm's private mean is 0.
    """
    level = rules.index(0.0, other + 1)
    episodes = []
    for length in (0, *rules.episodes()):
        index_pulls = changed + max(length, 1)
        if rules.index(1.0, index_pulls) <= level:
            break
        lacking = level > rules.index(0.0, index_pulls)
        needed = (changed + length) * rules.mean_at(level, index_pulls) if lacking else 0.0
        total = min(max(needed - 1.0, 0.0), float(length))
        episodes.append((changed + length, index_pulls, total))
    return episodes


def _log_passed(rules: PhaseTwo, level: float, episodes: list[_Episode], wins_ties: bool) -> float:
    """Return ln of the chance that every private mean has an index above the level."""
    short = []
    for n, index_pulls, total in episodes:
        lowest = rules.index(0.0, index_pulls)
        if lowest > level or (lowest == level and wins_ties):
            continue
        if rules.index(1.0, index_pulls) <= level:
            return -math.inf
        short.append(total - n * rules.mean_at(level, index_pulls))
    return float(np.sum(log_cdf(np.array(short) / rules.scale)))


SMALL = 0.01
"""c and alpha where they are scaled down: the accounting does not depend on them."""

HALVES = range(2, 9)
"""Phase I of the scaled rules has twice as many rounds."""

OFFSETS = (-3, -2, -1, 0, 1, 2, 3, 5, 10, 20, 40)
"""Pulls of the changed arm minus the other one's that are tried, of the parity of the rounds."""

Split = tuple[Witness, int, int]
"""(witness, pulls of the other arm, pulls of the changed arm)."""


def best_split(
    rules: PhaseTwo, witness: Callable[[PhaseTwo, int, int], Witness], offsets: Sequence[int]
) -> Split:
    """Return the split of Phase I with the largest loss.

    Args:
        rules: of Phase II.
        witness: of rules and a split.
        offsets: pulls of the changed arm minus those of the other one to try.
    """
    splits = []
    for offset in offsets:
        changed = (rules.rounds + offset) // 2
        other = rules.rounds - changed
        if changed >= 1 and other >= 1 and changed - other == offset:
            splits.append((witness(rules, other, changed), other, changed))
    return max(splits, key=lambda split: split[0].log_ratio)


def coded_split(rules: PhaseTwo) -> Split:
    """Return the worst split where Phase II begins with zeros; the changed arm has to come first.

    Args:
        rules: of Phase II.
    """
    return best_split(rules, release_witness, [-abs(offset) for offset in OFFSETS])


def carried_split(rules: PhaseTwo) -> Split:
    """Return the worst split where Phase II begins with carried means.

    Args:
        rules: of Phase II.
    """
    return best_split(rules, carried_witness, OFFSETS)


def carried_rules(horizon: int, epsilon: float, noise: str) -> PhaseTwo:
    """Return the rules of GDP-NCB with W rounds of Phase I and ln T in the index.

    Args:
        horizon: T.
        epsilon: above 0.
        noise: the logarithm of T in its scale, ``natural`` or ``base2``.
    """
    log = math.log(horizon)
    noise_log = math.log2(horizon) if noise == "base2" else log
    return PhaseTwo(horizon, epsilon, math.isqrt(horizon) + 1, log, noise_log)


def scaled_split(
    doublings: int, epsilon: float, noise: str, search: Callable[[PhaseTwo], Split]
) -> tuple[PhaseTwo, Split]:
    """Return the worst rules and split with small c and alpha, for so many releases.

    Args:
        doublings: j; T is one round more than Phase I and episodes of 2, 4, ..., 2^j pulls.
        epsilon: above 0.
        noise: as in ``carried_rules``.
        search: ``coded_split`` or ``carried_split``.
    """
    candidates = []
    for half in HALVES:
        horizon = 2 ** (doublings + 1) - 2 + 2 * half + 1
        noise_log = math.log2(horizon) if noise == "base2" else math.log(horizon)
        log = math.log(math.isqrt(horizon) + 1)
        rules = PhaseTwo(horizon, epsilon, 2 * half, log, noise_log, SMALL, SMALL)
        candidates.append((rules, search(rules)))
    return max(candidates, key=lambda candidate: candidate[1][0].log_ratio)


def in_window(witness: Witness, window: int) -> Witness:
    """Return a witness in a window, of which a share 1/W^2 is uniform play.

    The event names the arms of all W rounds, up to the order in Phase I, which both have alike.

    Args:
        witness: of the core with horizon W.
        window: W.
    """
    rounds = math.isqrt(window) + 1
    uniform = -2.0 * math.log(window) - (window - rounds) * math.log(2.0)
    private = math.log1p(-1.0 / window**2)
    ends = [
        max(uniform, private + log) + math.log1p(math.exp(-abs(uniform - private - log)))
        for log in (witness.log_probability, witness.log_probability + witness.log_ratio)
    ]
    return Witness(ends[1] - ends[0], ends[0], witness.log_arms)
