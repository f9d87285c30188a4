"""DP-TS: the compiled kernel against a second implementation, written from its paper, in law.

The second one is `dp_ts_by_hand`. Compared are the pulls of an arm half way and at the end, the sum
of rewards, and the noise in the private sums, apart where only releases enter it and where nodes of
the binary tree do: two-sample Kolmogorov-Smirnov tests (with ties they reject too seldom), and
Welch's t test of log |noise|, which sees a wrong scale. Error rate: at most TESTS true hypotheses
are tested, each at LINE = 0.001 / TESTS (Bonferroni), so that correct code fails this file with
probability 0.001 at most over the choice of seeds, which are fixed. The null control compares the
second implementation with itself. Noise of a release or of a node 10 % off, a level too many or too
few, a raise 10 % off, the other logarithm and a root over too much must be caught.
"""

from collections.abc import Iterator
from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

import dpbandits
from dp_ts_by_hand import Law, Played, epoch_of, nodes, play
from dpbandits.algorithms import REGRET
from dpbandits.kernels import new_segments
from support import settings_of

pytestmark = pytest.mark.slow

TESTS = 200
LINE = 0.001 / TESTS

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


def printed(epsilon: float, log: str) -> Law:
    """The law as it is printed."""
    return Law(epsilon, LOGS[log])


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
    found = p_values(kernel(epsilon, log, horizon), by_hand(printed(epsilon, log), horizon))
    assert min(found.values()) > LINE, found


@pytest.mark.parametrize("horizon", [SHORT, LONG])
@pytest.mark.parametrize(("epsilon", "log"), CASES[:1])
def test_null_control(epsilon: float, log: str, horizon: int) -> None:
    law = printed(epsilon, log)
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


@pytest.mark.parametrize(("where", "horizon", "law"), WRONG)
def test_wrong_laws_are_caught(where: str, horizon: int, law: Law) -> None:
    found = p_values(kernel(80.0, "base2", horizon), by_hand(law, horizon))
    assert min(p for name, p in found.items() if name.startswith(where)) < LINE, found


def test_every_true_hypothesis_is_counted() -> None:
    """Eleven tests at most a comparison: eight with the kernel, and two null controls."""
    longest = p_values(kernel(*CASES[0], SHORT), by_hand(printed(*CASES[0]), SHORT))
    assert len(longest) <= 11
    assert 11 * (2 * len(CASES) + 2) <= TESTS


def test_the_tree_of_an_epoch() -> None:
    """Releases at 1, 3, 7, 15, ... pulls; 6 items are the nodes [0, 4) and [4, 6)."""
    assert [epoch_of(pulls) for pulls in range(1, 9)] == [
        (0, 0),
        (0, 1),
        (1, 0),
        (1, 1),
        (1, 2),
        (1, 3),
        (2, 0),
        (2, 1),
    ]
    assert list(nodes(6)) == [(4, 0), (2, 4)]
    assert list(nodes(7)) == [(4, 0), (2, 4), (1, 6)]
    for items in range(64):
        covered = [item for size, begin in nodes(items) for item in range(begin, begin + size)]
        assert covered == list(range(items))
        assert sum(1 for _ in nodes(items)) == items.bit_count()
