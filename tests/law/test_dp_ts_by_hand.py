"""DP-TS: the compiled kernel against a second implementation, written from its paper, in law.

It has a closed form (Hu and Hegde, UAI 2022, Algorithm 1). After O pulls with rewards of sum S an
arm's private mean is (S + N)/O. The noise N is written down here without playing a round: the
release at 1, 3, 7, ... pulls adds Laplace noise of scale 1/(epsilon/2) for good; rewards since then
are counted by a binary tree over the epoch's items, whose nodes have Laplace noise of scale
(r + 1)/(epsilon/2) in epoch r, and a count of k items is the sum of the nodes that make up its
first k. Nothing is shared with the package but numpy's generator.

Compared by two-sample Kolmogorov-Smirnov tests are pulls, rewards and the noise in the private
sums; Welch's t test of log |noise| sees a wrong scale. At most 200 true hypotheses are tested, each
at LINE (Bonferroni): correct code fails this file with probability 0.001 at most over the choice of
seeds, which are fixed.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

import dpbandits
from dpbandits.algorithms import REGRET
from dpbandits.kernels import new_segments
from support import settings_of

pytestmark = pytest.mark.slow

Values = NDArray[np.float64]


@dataclass(frozen=True)
class Law:
    """What is printed, and by which factor a wrong law departs from it."""

    epsilon: float
    log_base: float = 2.0
    release_factor: float = 1.0
    node_factor: float = 1.0
    extra_levels: int = 0
    """Added to the r + 1 levels that scale the noise of a node."""
    shift_factor: float = 1.0
    root_over_all: bool = False
    """Whether the root covers the logarithm of the pulls as well."""


class Played(NamedTuple):
    """What the runs came to: the arm of every round, and per arm pulls, rewards and private means.

    Shapes: (runs, horizon), then (runs, arms) three times.
    """

    arms: NDArray[np.int64]
    pulls: NDArray[np.int64]
    rewards: Values
    private_means: Values


def epoch_of(pulls: int) -> tuple[int, int]:
    """Return how many releases lie behind an arm after the first one, and the items since.

    Releases are at 1, 3, 7, ... pulls: at 2^(r + 2) - 1 pulls epoch r ends and epoch r + 1 begins.
    """
    epoch = 0
    while pulls >= 2 ** (epoch + 2) - 1:
        epoch += 1
    return epoch, pulls - (2 ** (epoch + 1) - 1)


def nodes(items: int) -> Iterator[tuple[int, int]]:
    """Yield the nodes (size, first item) that make up the first items, from large to small."""
    begin, size = 0, 1 << items.bit_length()
    while size:
        if begin + size <= items:
            yield size, begin
            begin += size
        size //= 2


def noise(law: Law, horizon: int, runs: int, generator: np.random.Generator) -> Values:
    """Return the noise of one arm's private sum by its pulls, shape (horizon + 1, runs)."""
    half = law.epsilon / 2.0
    drawn: dict[tuple[int, ...], Values] = {}

    def once(key: tuple[int, ...], scale: float) -> Values:
        if key not in drawn:
            drawn[key] = generator.laplace(0.0, scale, runs)
        return drawn[key]

    total = np.zeros((horizon + 1, runs))
    for pulls in range(1, horizon + 1):
        epoch, items = epoch_of(pulls)
        for release in range(epoch + 1):
            total[pulls] += once((release,), law.release_factor / half)
        scale = law.node_factor * (epoch + 1 + law.extra_levels) / half
        for node in nodes(items):
            total[pulls] += once((epoch, *node), scale)
    return total


def shift(law: Law, pulls: NDArray[np.int64], t: int) -> Values:
    """Return the amount by which the private means are raised in round t."""
    log_pulls = np.log(pulls + 1.0) / math.log(law.log_base)
    root = np.sqrt(8.0 * log_pulls) if law.root_over_all else math.sqrt(8.0) * log_pulls
    log_t = math.log(t) / math.log(law.log_base)
    return np.asarray(law.shift_factor * 6.0 * root * log_t / (law.epsilon * pulls))


def play(law: Law, means: list[float], horizon: int, runs: int, seed: int) -> Played:
    """Play runs side by side on Bernoulli arms."""
    generator = np.random.default_rng(seed)
    expected, every = np.array(means), np.arange(runs)
    noises = [noise(law, horizon, runs, generator) for _ in means]
    arms = np.empty((runs, horizon), np.int64)
    pulls = np.zeros((runs, len(means)), np.int64)
    rewards = np.zeros((runs, len(means)))
    private = np.zeros((runs, len(means)))
    for t in range(1, horizon + 1):
        if t <= len(means):
            chosen = np.full(runs, t - 1)
        else:
            raised = np.clip(private + shift(law, pulls, t), 0.0, 1.0)
            theta = generator.beta(raised * pulls + 1.0, (1.0 - raised) * pulls + 1.0)
            chosen = theta.argmax(axis=1)
        arms[:, t - 1] = chosen
        rewards[every, chosen] += generator.random(runs) < expected[chosen]
        pulls[every, chosen] += 1
        for arm, own_noise in enumerate(noises):
            here = np.flatnonzero(chosen == arm)
            count = pulls[here, arm]
            private[here, arm] = (rewards[here, arm] + own_noise[count, here]) / count
    return Played(arms, pulls, rewards, private)


# The comparison.

LINE = 0.001 / 200

MEANS = [0.5, 0.3]
SHORT, LONG = 8, 100
RUNS = {SHORT: 60_000, LONG: 30_000}
LOGS = {"base2": 2.0, "natural": float(np.e)}
CASES = [(80.0, "base2"), (80.0, "natural"), (2.0, "base2"), (2.0, "natural")]
"""At epsilon = 80 raised means lie inside [0, 1], at 2 most are clipped."""


@cache
def kernel(epsilon: float, log: str, horizon: int) -> Played:
    """Runs of the compiled kernel."""
    definition, bandit = REGRET["dp-ts"], dpbandits.bernoulli(MEANS)
    told = settings_of(definition, {"epsilon": epsilon}, {"log": log}, bandit, horizon)
    generator = np.random.default_rng(20220801)
    chunk = new_segments(horizon)
    runs, count = RUNS[horizon], len(MEANS)
    arms = np.empty((runs, horizon), np.int64)
    pulls, private = np.empty((runs, count), np.int64), np.empty((runs, count))
    rewards = np.empty((runs, count))
    for run in range(runs):
        state = definition.state(count)
        definition.advance(told, state, bandit.arrays, generator, chunk)
        arms[run], pulls[run], private[run] = chunk[0], state.pulls, state.private_means
        rewards[run] = np.bincount(chunk[0], chunk[2], count)
    return Played(arms, pulls, rewards, private)


@cache
def by_hand(law: Law, horizon: int, seed: int = 1) -> Played:
    """Runs of the second implementation."""
    return play(law, MEANS, horizon, RUNS[horizon], seed)


def noises(played: Played) -> Iterator[tuple[str, NDArray[np.float64]]]:
    """Yield the noise in the private sums at the end, by arm and by what enters it."""
    for arm in range(len(MEANS)):
        pulls = played.pulls[:, arm]
        noise = played.private_means[:, arm] * pulls - played.rewards[:, arm]
        alone = (pulls & (pulls + 1)) == 0
        yield f"releases, arm {arm}", noise[alone]
        yield f"nodes, arm {arm}", noise[~alone]


def p_values(one: Played, other: Played) -> dict[str, float]:
    """The p-value of each two-sample test."""
    half = one.arms.shape[1] // 2
    found = {
        "pulls half way": ks(*((each.arms[:, :half] == 0).sum(axis=1) for each in (one, other))),
        "pulls": ks(one.pulls[:, 0], other.pulls[:, 0]),
        "rewards": ks(one.rewards.sum(axis=1), other.rewards.sum(axis=1)),
    }
    for (name, first), (_, second) in zip(noises(one), noises(other), strict=True):
        # Fewer values than this see nothing.
        if min(first.size, second.size) >= 1000:
            found[f"{name}: law"] = ks(first, second)
            sizes = (np.log(np.abs(each)) for each in (first, second))
            found[f"{name}: size"] = float(stats.ttest_ind(*sizes, equal_var=False).pvalue)
    return found


def ks(first: NDArray[np.generic], second: NDArray[np.generic]) -> float:
    """The p-value of the two-sample Kolmogorov-Smirnov test."""
    return float(stats.ks_2samp(first, second, method="asymp").pvalue)


@pytest.mark.parametrize("horizon", [SHORT, LONG])
@pytest.mark.parametrize(("epsilon", "log"), CASES)
def test_the_kernel_plays_the_printed_law(epsilon: float, log: str, horizon: int) -> None:
    found = p_values(kernel(epsilon, log, horizon), by_hand(Law(epsilon, LOGS[log]), horizon))
    assert min(found.values()) > LINE, found


def test_null_control() -> None:
    epsilon, log = CASES[0]
    for horizon in [SHORT, LONG]:
        law = Law(epsilon, LOGS[log])
        found = p_values(by_hand(law, horizon, seed=2), by_hand(law, horizon))
        assert min(found.values()) > LINE, found


WRONG = [
    ("releases", SHORT, Law(80.0, release_factor=1.1)),
    ("nodes", SHORT, Law(80.0, node_factor=1.1)),
    ("nodes", LONG, Law(80.0, node_factor=1.1)),
    ("nodes", LONG, Law(80.0, extra_levels=1)),
    ("nodes", LONG, Law(80.0, extra_levels=-1)),
    ("nodes", LONG, Law(80.0 / 1.1)),
    ("pulls", LONG, Law(80.0, shift_factor=1.1)),
    ("pulls", LONG, Law(80.0, log_base=float(np.e))),
    ("pulls", LONG, Law(80.0, root_over_all=True)),
]


def test_wrong_laws_are_caught() -> None:
    for where, horizon, law in WRONG:
        found = p_values(kernel(80.0, "base2", horizon), by_hand(law, horizon))
        assert min(p for name, p in found.items() if name.startswith(where)) < LINE, found
