"""Ratios of every identification algorithm to its plain reference and to its random draws.

All of it is timed in this one process, as the smallest of several CPU times. Run with
``make bench``. The draws are the sums of rewards that a trial cannot do without, each by itself
(binary digits where rewards are many); the gain over drawing them one by one is a column of its
own, and so is that of tables of these sums, which trials with the same active arms share.
"""

import time
from collections.abc import Callable

import numpy as np

from dpbandits.algorithms import IDENTIFICATION, IdentificationAlgorithm
from dpbandits.bandits import LinearBandit, draws, linear
from dpbandits.bandits.draws import draw_reward_sum
from dpbandits.engine.cells import make_cell
from dpbandits.engine.identity import run_generator
from dpbandits.kernels import njit
from dpbandits.papers.dp_bai.instances import section5, sphere, standard_basis, two_armed

BUDGET = 20_000
TRIALS = 1000
REFERENCE_TRIALS = 20
REPEATS = 5


@njit
def sums(
    highs: np.ndarray, pulls: np.ndarray, trials: int, generator: np.random.Generator
) -> float:
    """Draw the reward sums of that many trials with these pulls of each arm."""
    total = 0.0
    for _ in range(trials):
        for arm in range(highs.size):
            if pulls[arm] > 0:
                total += draw_reward_sum(3, highs[arm], pulls[arm], generator)
    return total


@njit
def one_by_one(pulls: int, trials: int, generator: np.random.Generator) -> float:
    """Draw one uniform for every pull."""
    total = 0.0
    for _ in range(trials * pulls):
        total += generator.random()
    return total


def microseconds_per_trial(work: Callable[[], object], trials: int) -> float:
    """Return the smallest CPU time of several repeats, per trial, after a cold one."""
    work()
    times = []
    for _ in range(REPEATS):
        begun = time.process_time_ns()
        work()
        times.append((time.process_time_ns() - begun) / 1000 / trials)
    return min(times)


def measure(algorithm: IdentificationAlgorithm, bandit: LinearBandit) -> tuple[float, ...]:
    """Return microseconds per trial and ratios: of reference, draws, single draws, no tables."""
    cell = make_cell(
        algorithm=algorithm.id,
        parameters=algorithm.example,
        bandit=bandit,
        horizon=BUDGET,
    )
    task = cell.settings
    pulls = algorithm.play(task, run_generator(0, 0, 0), 1).pulls[0]
    highs = bandit.law_parameters

    def reference() -> None:
        generator = run_generator(0, 0, 0)
        for _ in range(REFERENCE_TRIALS):
            algorithm.reference(task, generator)

    played = microseconds_per_trial(
        lambda: algorithm.play(task, run_generator(0, 0, 0), TRIALS), TRIALS
    )
    tables_from, draws.TABLES_FROM = draws.TABLES_FROM, TRIALS + 1
    plainly = microseconds_per_trial(
        lambda: algorithm.play(task, run_generator(0, 0, 0), TRIALS), TRIALS
    )
    draws.TABLES_FROM = tables_from
    drawn = microseconds_per_trial(
        lambda: sums(highs, pulls, TRIALS, run_generator(0, 0, 0)), TRIALS
    )
    singly = microseconds_per_trial(
        lambda: one_by_one(int(pulls.sum()), REFERENCE_TRIALS, run_generator(0, 0, 0)),
        REFERENCE_TRIALS,
    )
    plain = microseconds_per_trial(reference, REFERENCE_TRIALS)
    return played, plain / played, played / drawn, singly / drawn, plainly / played


def large_instance() -> LinearBandit:
    """10,000 arms in 16 dimensions: the worked example of Appendix B of dp-bai."""
    features = np.random.default_rng(0).standard_normal((10_000, 16))
    theta = np.zeros(16)
    theta[0] = 0.5 / np.abs(features).max()
    features[0] = 0.0
    features[0, 0] = 2 * np.abs(features).max()
    return linear(np.abs(features), theta)


def main() -> None:
    """Print one line an algorithm and instance, and the time of one trial of a large one."""
    print(f"T = {BUDGET}, blocks of {TRIALS} trials; CPU time, smallest of {REPEATS}")
    head = (
        "us/trial",
        "faster than reference",
        "cost / its draws",
        "sums / single draws",
        "tables / none",
    )
    print(f"{'instance and algorithm':<30}" + "".join(f"{each:>23}" for each in head))
    instances = {"two-armed": two_armed(5.0), "basis": standard_basis()}
    instances |= {"section5": section5(), "sphere": sphere()}
    for name, bandit in instances.items():
        for algorithm in IDENTIFICATION.values():
            played, gain, cost, saved, tabled = measure(algorithm, bandit)
            print(
                f"{name + ' ' + algorithm.id:<30}{played:>23.1f}{gain:>22.0f}x{cost:>22.2f}x"
                f"{saved:>22.1f}x{tabled:>22.2f}x"
            )
    cell = make_cell(
        algorithm="dp-bai",
        parameters={"epsilon": 1.0},
        bandit=large_instance(),
        horizon=BUDGET,
    )
    begun = time.process_time()
    IDENTIFICATION["dp-bai"].play(cell.settings, run_generator(0, 0, 0), 1)
    print(f"one trial of dp-bai at K = 10000, d = 16: {time.process_time() - begun:.2f} s of CPU")


if __name__ == "__main__":
    main()
