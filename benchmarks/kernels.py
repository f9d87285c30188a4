"""Ratios of every kernel to its plain reference and to the cost of its random draws.

All of it is timed in this one process, as the smallest of several CPU times, so that the ratios
hold on a busy machine too. Run with ``make bench``.
"""

import time
from collections.abc import Callable
from itertools import islice

import numba
import numpy as np

from dpbandits.algorithms import REGISTRY, Algorithm
from dpbandits.bandits import bernoulli
from dpbandits.engine.cells import make_cell
from dpbandits.engine.execute import play_run
from dpbandits.engine.seeds import run_generator

BANDIT = bernoulli([0.75, 0.625, 0.5, 0.375, 0.25])
HORIZON = 1_000_000
REFERENCE_ROUNDS = 5_000
REPEATS = 5


@numba.njit(cache=True)
def normals_and_uniform(rounds: int, arms: int, generator: np.random.Generator) -> float:
    """Draw what Gaussian Thompson sampling cannot do without: K normals and a uniform a round."""
    total = 0.0
    for _ in range(rounds):
        for _ in range(arms):
            total += generator.standard_normal()
        total += generator.random()
    return total


@numba.njit(cache=True)
def uniforms(rounds: int, arms: int, generator: np.random.Generator) -> float:
    """Draw one uniform a round: the reward of any algorithm that pulls Bernoulli arms."""
    total = 0.0
    for _ in range(rounds):
        total += generator.random()
    return total


DRAWS = {"ts-gaussian": normals_and_uniform, "m-ts-gaussian": normals_and_uniform}


def nanoseconds_per_round(work: Callable[[], object], rounds: int) -> float:
    """Return the smallest CPU time of several repeats, per round, after a cold one."""
    work()
    times = []
    for _ in range(REPEATS):
        begun = time.process_time_ns()
        work()
        times.append(time.process_time_ns() - begun)
    return min(times) / rounds


def measure(algorithm: Algorithm) -> tuple[float, float, float]:
    """Return nanoseconds per round of the whole simulation, of the reference and of the draws."""
    cell = make_cell(
        algorithm=algorithm.id,
        parameters=algorithm.example,
        bandit=BANDIT,
        horizon=HORIZON,
        runs=1,
    )
    grid = np.array([HORIZON], np.int64)

    def reference() -> None:
        chunks = algorithm.reference(cell.settings, BANDIT, run_generator(0, 0, 0))
        for _ in islice(chunks, REFERENCE_ROUNDS):
            pass

    draws = DRAWS.get(algorithm.id, uniforms)
    arms = len(BANDIT.arms)
    return (
        nanoseconds_per_round(
            lambda: play_run(algorithm, cell.settings, BANDIT, run_generator(0, 0, 0), grid),
            HORIZON,
        ),
        nanoseconds_per_round(reference, REFERENCE_ROUNDS),
        nanoseconds_per_round(lambda: draws(HORIZON, arms, run_generator(0, 0, 0)), HORIZON),
    )


def main() -> None:
    """Print one line an algorithm."""
    print(f"K = {len(BANDIT.arms)} Bernoulli arms, T = {HORIZON}; CPU time, smallest of {REPEATS}")
    print(
        f"{'algorithm':<18} {'ns/round':>9} {'faster than reference':>22} {'cost / its draws':>17}"
    )
    for algorithm in REGISTRY.values():
        kernel, reference, draws = measure(algorithm)
        print(
            f"{algorithm.id:<18} {kernel:>9.1f} {reference / kernel:>21.0f}x"
            f" {kernel / draws:>16.2f}x"
        )


if __name__ == "__main__":
    main()
