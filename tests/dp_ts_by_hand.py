"""DP-TS a second time, from its paper alone (Hu and Hegde, UAI 2022, Algorithm 1), in closed form.

After O pulls with rewards of sum S an arm's private mean is (S + N)/O. The noise N is written down
here without playing a round: the release at 1, 3, 7, ... pulls adds Laplace noise of scale
1/(epsilon/2) for good; rewards since then are counted by a binary tree over the epoch's items,
whose nodes have Laplace noise of scale (r + 1)/(epsilon/2) in epoch r, and a count of k items is
the sum of the nodes that make up its first k. Runs are played side by side. Nothing is shared with
the package but numpy's generator.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]


@dataclass(frozen=True)
class Law:
    """What is printed, and by which factor a wrong law departs from it.

    Attributes:
        epsilon: of the algorithm.
        log_base: of both logarithms.
        release_factor: times the scale of the noise of a release.
        node_factor: times the scale of the noise of a node.
        extra_levels: added to the r + 1 levels that scale the noise of a node.
        shift_factor: times the amount by which a mean is raised.
        root_over_all: whether the root covers the logarithm of the pulls as well.
    """

    epsilon: float
    log_base: float = 2.0
    release_factor: float = 1.0
    node_factor: float = 1.0
    extra_levels: int = 0
    shift_factor: float = 1.0
    root_over_all: bool = False


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
    """Play runs side by side on Bernoulli arms.

    Args:
        law: of the algorithm.
        means: of the arms.
        horizon: number of rounds, at least one an arm.
        runs: number of runs.
        seed: of the generator.
    """
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
