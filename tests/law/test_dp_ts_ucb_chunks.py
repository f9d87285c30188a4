"""DP-TS-UCB in chunks has the law of Algorithm 1 round by round, by Kolmogorov-Smirnov tests.

Kernel and reference draw a frozen stretch's rewards as one binomial; the player in ``support.py``
follows the pseudo-code with no shortcut. At most 60 true hypotheses are tested, each at LINE
(Bonferroni), so that correct code fails this file with probability 0.001 at most over the choice
of seeds, which are fixed.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

import dpbandits
from dpbandits.algorithms import REGRET
from dpbandits.bandits import Bandit
from dpbandits.bandits.draws import BINOMIAL_FROM
from support import Decision, dp_ts_ucb_by_rounds, kernel_decisions, settings_of

pytestmark = pytest.mark.slow

LINE = 0.001 / 60
RUNS = 3000

ALGORITHM = REGRET["dp-ts-ucb"]
Player = Callable[[Any, Bandit, np.random.Generator], Iterator[Decision]]


@dataclass(frozen=True)
class Case:
    """What is played; in each, more than a third of the rounds stand in binomial stretches."""

    alpha: float
    means: tuple[float, ...]
    horizon: int

    @property
    def bandit(self) -> Bandit:
        return dpbandits.bernoulli(self.means)

    @property
    def settings(self) -> Any:
        return settings_of(ALGORITHM, {"alpha": self.alpha}, {}, self.bandit, self.horizon)


CASES = {
    "two arms, alpha = 1": Case(1.0, (0.9, 0.1), 1000),
    "three arms, alpha = 0.75": Case(0.75, (0.95, 0.5, 0.3), 1200),
}


def by_kernel(told: Any, bandit: Bandit, generator: np.random.Generator) -> Iterator[Decision]:
    return kernel_decisions(ALGORITHM, told, bandit, generator, 64)


@dataclass(frozen=True)
class WrongSums(Bandit):
    """Arms whose sums of many rewards are a twentieth too small."""

    def draw_sum(self, arm: int, count: int, generator: np.random.Generator) -> float:
        if count < BINOMIAL_FROM:
            return super().draw_sum(arm, count, generator)
        return float(generator.binomial(count, 0.95 * self.arms[arm].mean))


def outcomes(
    play: Player, told: Any, bandit: Bandit, seed: int, runs: int = RUNS
) -> dict[str, NDArray[np.float64]]:
    """Return final regret, pulls of each arm and sum of rewards, one value a run."""
    pulls, rewards = np.zeros((runs, len(bandit.arms))), np.zeros(runs)
    for run, stream in enumerate(np.random.SeedSequence(seed).spawn(runs)):
        for arm, length, total in play(told, bandit, np.random.default_rng(stream)):
            pulls[run, arm] += length
            rewards[run] += total
    by_arm = {f"pulls of arm {arm}": column for arm, column in enumerate(pulls.T)}
    return {"regret": pulls @ bandit.gaps, "rewards": rewards, **by_arm}


@cache
def yardstick(case: str) -> dict[str, NDArray[np.float64]]:
    return outcomes(dp_ts_ucb_by_rounds, CASES[case].settings, CASES[case].bandit, seed=1)


def p_values(case: str, found: dict[str, NDArray[np.float64]]) -> dict[str, float]:
    return {
        name: float(stats.ks_2samp(values, found[name]).pvalue)
        for name, values in yardstick(case).items()
    }


PLAYERS: dict[str, tuple[Player, int]] = {
    "kernel": (by_kernel, RUNS),
    # Slow, and the same as the kernel decision for decision.
    "reference": (ALGORITHM.reference, RUNS // 4),
    "null control": (dp_ts_ucb_by_rounds, RUNS),
}


@pytest.mark.parametrize("player", PLAYERS)
@pytest.mark.parametrize("case", CASES)
def test_chunks_have_the_law_of_single_rounds(case: str, player: str) -> None:
    seed = 2 + list(PLAYERS).index(player)
    play, runs = PLAYERS[player]
    found = outcomes(play, CASES[case].settings, CASES[case].bandit, seed, runs)
    assert all(np.unique(values).size > 50 for values in found.values())
    assert min(p_values(case, found).values()) > LINE, p_values(case, found)


def test_most_of_it_is_binomial() -> None:
    for case in CASES:
        told, bandit = CASES[case].settings, CASES[case].bandit
        runs = (by_kernel(told, bandit, np.random.default_rng(seed)) for seed in range(50))
        together = [sum(length for _, length, _ in run if length >= BINOMIAL_FROM) for run in runs]
        assert np.mean(together) > told.horizon / 3


def test_a_noise_and_a_binomial_five_percent_off_are_caught() -> None:
    for case, played in CASES.items():
        told, bandit = played.settings, played.bandit
        louder = told._replace(variance=1.05**2 * told.variance)
        found = p_values(case, outcomes(by_kernel, louder, bandit, seed=5))
        assert found["regret"] < LINE
        wrong = WrongSums(bandit.arms)
        found = p_values(case, outcomes(ALGORITHM.reference, told, wrong, seed=6, runs=RUNS // 10))
        assert found["rewards"] < LINE
