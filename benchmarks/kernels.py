"""Ratios of every kernel to its plain reference and to the cost of its random draws.

All of it is timed in this one process, as the smallest of several CPU times, so that the ratios
hold on a busy machine too. Run with ``make bench``. DP-TS-UCB stands there at five values of alpha:
it plays frozen stretches at once, the more of them the larger alpha, and so falls below the one
uniform a round that its cost is measured by. So do kernels that skip, which have rows of their own.
Last stands Phase I pull by pull and in blocks.
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from dpbandits.algorithms import REGRET, Algorithm
from dpbandits.bandits import bernoulli
from dpbandits.engine.cells import make_cell
from dpbandits.engine.identity import run_generator
from dpbandits.engine.play import play_curve, play_runs
from dpbandits.kernels import njit
from dpbandits.papers.dp_ncb.instances import fifty_arms

BANDIT = bernoulli([0.75, 0.625, 0.5, 0.375, 0.25])
HORIZON = 1_000_000
REFERENCE_HORIZON = 20_000
REPEATS = 5


@njit
def normals_and_uniform(rounds: int, arms: int, generator: np.random.Generator) -> float:
    """Draw what Gaussian Thompson sampling cannot do without: K normals and a uniform a round."""
    total = 0.0
    for _ in range(rounds):
        for _ in range(arms):
            total += generator.standard_normal()
        total += generator.random()
    return total


@njit
def betas_and_uniform(rounds: int, arms: int, generator: np.random.Generator) -> float:
    """Draw what Thompson sampling with beta laws cannot do without: K betas and a uniform."""
    total = 0.0
    for _ in range(rounds):
        for _ in range(arms):
            total += generator.beta(300.0, 100.0)
        total += generator.random()
    return total


@njit
def uniforms(rounds: int, arms: int, generator: np.random.Generator) -> float:
    """Draw one uniform a round: the reward of any algorithm that pulls Bernoulli arms."""
    total = 0.0
    for _ in range(rounds):
        total += generator.random()
    return total


@njit
def uniform_and_laplace(rounds: int, arms: int, generator: np.random.Generator) -> float:
    """Draw a reward and its noise, as the difference of two exponentials."""
    total = 0.0
    for _ in range(rounds):
        total += generator.random()
        total += generator.standard_exponential() - generator.standard_exponential()
    return total


DRAWS = {
    "ldp-ncb": uniform_and_laplace,
    "ldp-ucb-l": uniform_and_laplace,
    "anytime-ldp-ncb": uniform_and_laplace,
    "ts-gaussian": normals_and_uniform,
    "m-ts-gaussian": normals_and_uniform,
    "lazy-dp-ts": betas_and_uniform,
    "dp-ts": betas_and_uniform,
}
CASES: dict[str, list[dict[str, Any]]] = {
    "dp-ts-ucb": [{"alpha": alpha} for alpha in (0.0, 0.25, 0.5, 0.75, 1.0)]
}
"""Parameters to measure an algorithm at, where its example is not enough."""


def nanoseconds_per_round(work: Callable[[], int]) -> float:
    """Return the smallest CPU time of several repeats, per round played, after a cold one."""
    work()
    times = []
    for _ in range(REPEATS):
        begun = time.process_time_ns()
        rounds = work()
        times.append((time.process_time_ns() - begun) / rounds)
    return min(times)


def measure(algorithm: Algorithm, parameters: Mapping[str, Any]) -> tuple[float, float, float]:
    """Return ns per round of the simulation and of its draws, and the gain over the reference.

    Kernel and reference are compared over the same, shorter horizon: early rounds cost more.
    """
    cells = {
        horizon: make_cell(
            algorithm=algorithm.id, parameters=parameters, bandit=BANDIT, horizon=horizon
        )
        for horizon in (HORIZON, REFERENCE_HORIZON)
    }
    draws = DRAWS.get(algorithm.id, uniforms)

    def simulation(horizon: int) -> int:
        grid = np.array([horizon], np.int64)
        # With realised regret, which no ``skip`` records.
        streams = 0, 0, range(1)
        play_runs(algorithm, cells[horizon].settings, BANDIT, grid, ("realised_regret",), streams)
        return horizon

    def reference() -> int:
        settings = cells[REFERENCE_HORIZON].settings
        chunks = algorithm.reference(settings, BANDIT, run_generator(0, 0, 0))
        return sum(length for _, length, _ in chunks)

    def random_draws() -> int:
        draws(HORIZON, len(BANDIT.arms), run_generator(0, 0, 0))
        return HORIZON

    kernel = nanoseconds_per_round(lambda: simulation(HORIZON))
    short = nanoseconds_per_round(lambda: simulation(REFERENCE_HORIZON))
    return (
        kernel,
        nanoseconds_per_round(random_draws),
        nanoseconds_per_round(reference) / short,
    )


def curve(algorithm: str, horizon: int, exploration: str) -> float:
    """Return ns per round of a run of a Nash curve that explores to its end, on fifty arms."""
    cell = make_cell(
        algorithm=algorithm,
        parameters={"epsilon": 0.2},
        interpretations={"exploration": exploration},
        bandit=fifty_arms(),
        horizon=horizon,
        metrics=["nash_regret"],
    )
    runs = range(2 if exploration == "rounds" else 50)

    def play() -> int:
        grid = np.array(cell.grid, np.int64)
        play_curve(cell.player, cell.settings, cell.bandit, grid, cell.metrics, (0, 0, runs))
        return horizon * len(runs)

    return nanoseconds_per_round(play)


def main() -> None:
    """Print one line an algorithm and set of parameters."""
    print(f"K = {len(BANDIT.arms)} Bernoulli arms, T = {HORIZON}; CPU time, smallest of {REPEATS}")
    print(
        f"{'algorithm':<36} {'ns/round':>9} {'its draws':>10} {'ratio':>6}"
        f" {'faster than reference':>22}"
    )
    skipping = [
        (f"{each.id}, skipping", replace(each, advance=each.skip))
        for each in REGRET.values()
        if each.skip is not None
    ]
    for name, algorithm in [*REGRET.items(), *skipping]:
        for parameters in CASES.get(algorithm.id, [algorithm.example]):
            kernel, draws, gain = measure(algorithm, parameters)
            values = [f"{key}={value}" for key, value in parameters.items()]
            print(
                f"{' '.join([name, *values]):<36} {kernel:>9.1f} {draws:>10.1f}"
                f" {kernel / draws:>5.2f}x {gain:>21.0f}x"
            )
    print("Phase I of 50 arms as written, its curve included: ns a round and run")
    print(f"{'algorithm':<12} {'T':>9} {'rounds':>8} {'blocks':>8} {'ratio':>8}")
    for name in ("gdp-ncb", "ldp-ncb"):
        for horizon in (10**6, 10**7):
            singly, together = (curve(name, horizon, each) for each in ("rounds", "blocks"))
            ratio = singly / together
            print(f"{name:<12} {horizon:>9} {singly:>8.1f} {together:>8.3f} {ratio:>7.0f}x")


if __name__ == "__main__":
    main()
