"""Cost of Nash regret beside the play: one pass over chunks, against an array of rounds times runs.

50 runs of 50 arms, that change their arm in every round, in every fifth, or in episodes. All of it
is timed in this one process, as the smallest of several CPU times, so that the ratios hold on a
busy machine too. The array is what the released code of DP-NCB keeps, here filled from the same
chunks: means of all rounds of all runs, averaged, their logarithms summed. It has neither standard
error nor bias, which the pass gives as well. Run with ``python benchmarks/nash.py``.
"""

import math
import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from dpbandits.metrics import nash
from dpbandits.metrics.nash import enter_window, nash_accumulator

RUNS, ARMS = 50, 50
CHUNKS = 8192
REPEATS = 5
MEANS = np.random.default_rng(1).uniform(0.005, 1.0, ARMS)
HORIZON = 10**8
"""Of which a window is measured: bins of time are as long as at the papers' horizons."""


def chunks(mean_length: float) -> tuple[NDArray[np.int64], NDArray[np.int64], int]:
    """Return arms and lengths of random chunks, and the round that all runs reach."""
    generator = np.random.default_rng(2)
    arms = generator.integers(0, ARMS, size=(RUNS, CHUNKS))
    lengths = generator.geometric(1.0 / mean_length, size=(RUNS, CHUNKS))
    return arms, lengths, int(lengths.sum(axis=1).min())


def nanoseconds(work: Callable[[], None]) -> float:
    """Return the smallest CPU time of several repeats, after a cold one."""
    work()
    times = []
    for _ in range(REPEATS):
        begun = time.process_time_ns()
        work()
        times.append(time.process_time_ns() - begun)
    return float(min(times))


def one_pass(mean_length: float, rounds_per_segment: int) -> float:
    """Return nanoseconds a round of the pass; ``rounds_per_segment`` decides on its way."""
    arms, lengths, rounds = chunks(mean_length)
    filled, starts = np.full(RUNS, CHUNKS), np.zeros(RUNS, np.int64)
    kept, nash.ROUNDS_PER_SEGMENT = nash.ROUNDS_PER_SEGMENT, rounds_per_segment

    def work() -> None:
        curve = nash_accumulator(MEANS, np.log(MEANS), RUNS, HORIZON, np.array([HORIZON]))
        enter_window(curve, arms, lengths, filled, starts, (0, rounds))

    taken = nanoseconds(work)
    nash.ROUNDS_PER_SEGMENT = kept
    return taken / rounds


def whole_array(mean_length: float) -> float:
    """Return nanoseconds a round of the dense formula."""
    arms, lengths, rounds = chunks(mean_length)
    rounds = min(rounds, 400_000)

    def row(own: NDArray[np.int64], times: NDArray[np.int64]) -> NDArray[np.float64]:
        kept = int(np.searchsorted(times.cumsum(), rounds)) + 1
        return np.repeat(MEANS[own[:kept]], times[:kept])[:rounds]

    def work() -> None:
        rows = [row(own, times) for own, times in zip(arms, lengths, strict=True)]
        log_means = np.log(np.maximum(np.mean(rows, axis=0), 1e-300))
        np.exp(log_means.cumsum() / np.arange(1, rounds + 1))

    return nanoseconds(work) / rounds


def main() -> None:
    """Print one line for each mean length of a chunk."""
    print(f"{RUNS} runs, {ARMS} arms; CPU time, smallest of {REPEATS}")
    print("nanoseconds a round; and of the better way, a run and round")
    print(
        f"{'rounds a chunk':>14} {'array':>8} {'by round':>9} {'by change':>10} {'a run':>8}"
        f" {'faster than the array':>22}"
    )
    for mean_length in (1.0, 5.0, 50.0, 500.0, 100_000.0):
        by_change = one_pass(mean_length, 0)
        # Episodes of 1e5 rounds: 8e8 rounds, one by one, and as an array, are too many.
        by_round = one_pass(mean_length, 10**12) if mean_length <= 500.0 else math.inf
        array = whole_array(mean_length)
        best = min(by_change, by_round)
        print(
            f"{mean_length:>14.0f} {array:>8.1f} {by_round:>9.2f} {by_change:>10.2f}"
            f" {best / RUNS:>8.4f} {array / best:>21.1f}x"
        )


if __name__ == "__main__":
    main()
