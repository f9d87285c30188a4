"""What a round of policies of a few lines costs, beside hand-written kernels of the same rule.

All of it is timed in this one process, as the smallest of several CPU times, so that the ratios
hold on a busy machine too. A policy is checked while it is played, and a kernel of the registry is
not: the second ratio leaves the checks out. The kernel of UCB1 compares all arms only where its
leader may have changed, the policy in every round. Run with ``make bench``.
"""

import math
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from kernels import BANDIT

import dpbandits
from dpbandits.algorithms import REGISTRY, Algorithm
from dpbandits.engine.cells import make_cell
from dpbandits.engine.play import play_runs
from dpbandits.own.cells import cell_kind

HORIZON, REPEATS = 300_000, 15
EXAMPLES = Path(__file__).resolve().parents[1] / "examples"


@dpbandits.policy(name="UCB1 by a policy")
class Ucb:
    def choose(self, t: int, counts: Any, sums: Any, rng: Any) -> int:
        if t < counts.size:
            return t
        arm, largest = 0, -math.inf
        doubled_log = 2.0 * math.log(t)
        for i in range(counts.size):
            index = sums[i] / counts[i] + math.sqrt(doubled_log / counts[i])
            if index > largest:
                arm, largest = i, index
        return arm


@dpbandits.policy(name="TS-Gaussian by a policy")
class ThompsonSampling:
    def choose(self, t: int, counts: Any, sums: Any, rng: Any) -> int:
        arm, largest = 0, -math.inf
        for i in range(counts.size):
            count = counts[i] + 1
            theta = sums[i] / count + math.sqrt(1.0 / count) * rng.standard_normal()
            if theta > largest:
                arm, largest = i, theta
        return arm


@dpbandits.policy(name="Leaky mean")
class LeakyMean:
    def start(self, arms: int, horizon: int, rng: Any) -> None:
        self.mean = np.ones(arms)

    def choose(self, t: int, counts: Any, sums: Any, rng: Any) -> Any:
        return np.argmax(self.mean)

    def update(self, arm: int, reward: float, counts: Any, sums: Any, rng: Any) -> None:
        self.mean[arm] += 0.01 * (reward - self.mean[arm])


@dpbandits.policy(name="Sliding window")
class SlidingWindow:
    """UCB1 on the last 1000 rewards."""

    def start(self, arms: int, horizon: int, rng: Any) -> None:
        self.arm, self.reward = np.full(1000, -1), np.zeros(1000)
        self.count, self.total = np.zeros(arms), np.zeros(arms)

    def choose(self, t: int, counts: Any, sums: Any, rng: Any) -> int:
        best, largest = 0, -math.inf
        doubled_log = 2.0 * math.log(min(t, 1000) + 1)
        for i in range(counts.size):
            if self.count[i] == 0:
                return i
            index = self.total[i] / self.count[i] + math.sqrt(doubled_log / self.count[i])
            if index > largest:
                best, largest = i, index
        return best

    def update(self, arm: int, reward: float, counts: Any, sums: Any, rng: Any) -> None:
        place = counts.sum() % 1000
        if self.arm[place] >= 0:
            self.count[self.arm[place]] -= 1
            self.total[self.arm[place]] -= self.reward[place]
        self.arm[place], self.reward[place] = arm, reward
        self.count[arm] += 1
        self.total[arm] += reward


@dpbandits.policy(name="Tree mechanism")
class TreeMechanism:
    """UCB1 on sums of the binary mechanism, of 64 levels an arm."""

    def start(self, arms: int, horizon: int, rng: Any) -> None:
        self.exact, self.noisy = np.zeros((arms, 64)), np.zeros((arms, 64))
        self.sum = np.zeros(arms)

    def choose(self, t: int, counts: Any, sums: Any, rng: Any) -> int:
        if t < counts.size:
            return t
        best, largest = 0, -math.inf
        doubled_log = 2.0 * math.log(t)
        for i in range(counts.size):
            index = self.sum[i] / counts[i] + math.sqrt(doubled_log / counts[i])
            if index > largest:
                best, largest = i, index
        return best

    def update(self, arm: int, reward: float, counts: Any, sums: Any, rng: Any) -> None:
        level, n = 0, counts[arm]
        while n % 2 == 0:
            reward += self.exact[arm, level]
            self.exact[arm, level] = self.noisy[arm, level] = 0.0
            level, n = level + 1, n // 2
        self.exact[arm, level] = reward
        self.noisy[arm, level] = reward + rng.laplace(0.0, 20.0)
        self.sum[arm] = self.noisy[arm].sum()


@dpbandits.policy(name="Beta draws")
class BetaDraws:
    def choose(self, t: int, counts: Any, sums: Any, rng: Any) -> int:
        arm, largest = 0, -1.0
        for i in range(counts.size):
            theta = rng.beta(1.0 + sums[i], 1.0 + counts[i] - sums[i])
            if theta > largest:
                arm, largest = i, theta
        return arm


def cases() -> list[tuple[Any, Any, dict[str, Any]]]:
    """Return policies with their hand-written kernels, where they have one, and the parameters."""
    commit = [
        dpbandits.load_algorithm(EXAMPLES / f"my_{name}.py") for name in ("algorithm", "kernel")
    ]
    return [
        (Ucb, REGISTRY["ucb1"], {}),
        (ThompsonSampling, REGISTRY["ts-gaussian"], {}),
        (*commit, {"epsilon": 1.0, "pulls": 200}),
        *((policy, None, {}) for policy in (LeakyMean, SlidingWindow, TreeMechanism, BetaDraws)),
    ]


def plays(algorithm: Algorithm, parameters: dict[str, Any]) -> list[Callable[[], float]]:
    """Return what plays a run, as the engine does and without checks, and returns ns per round."""
    cell = make_cell(
        kind=cell_kind(algorithm, BANDIT),
        algorithm=algorithm,
        parameters=parameters,
        bandit=BANDIT,
        horizon=HORIZON,
    )

    def play(played: Any) -> float:
        begun = time.process_time_ns()
        grid, streams = np.array([HORIZON]), (0, 0, range(1))
        play_runs(played, cell.settings, BANDIT, grid, ("pulls",), streams)
        return (time.process_time_ns() - begun) / HORIZON

    return [partial(play, cell.player), partial(play, algorithm)]


def main() -> None:
    """Print one line a policy."""
    print(f"K = {len(BANDIT.arms)} Bernoulli arms, T = {HORIZON}; CPU time, smallest of several")
    print(f"{'policy':<30} {'ns/round':>9} {'its kernel':>11} {'ratio':>6} {'without checks':>15}")
    for policy, kernel, parameters in cases():
        every = plays(policy, parameters) + (plays(kernel, parameters) if kernel else [])
        # In turn, so that what else the machine does slows all of them down.
        times = [[play() for play in every] for _ in range(REPEATS)]
        own, own_bare, *of_kernel = np.min(times, axis=0)
        print(f"{policy.id:<30} {own:>9.1f}", end="")
        if of_kernel:
            twin, twin_bare = of_kernel
            print(f" {twin:>11.1f} {own / twin:>5.2f}x {own_bare / twin_bare:>14.2f}x", end="")
        print()


if __name__ == "__main__":
    main()
