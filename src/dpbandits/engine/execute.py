"""Play one block of runs. The fingerprint of a result covers this file and what it imports."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpbandits.algorithms.base import Algorithm
from dpbandits.bandits import Bandit
from dpbandits.engine.identity import run_generator
from dpbandits.errors import InputError
from dpbandits.kernels import new_segments
from dpbandits.metrics.regret import REGRET, Accumulator, accumulate, accumulator_of

CHUNKS_AT_ONCE = 1 << 15


def enter_chunks(
    algorithm: Algorithm,
    run: Accumulator,
    arms: NDArray[np.int64],
    lengths: NDArray[np.int64],
    sums: NDArray[np.float64],
) -> None:
    """Add segments to the accumulator of their run.

    Raises:
        InputError: one of them is a block of uniformly random arms.
    """
    if arms.size and arms.min() < 0:
        raise InputError(
            f"algorithm {algorithm.id}: blocks of uniformly random arms have no pulls of each arm; "
            f"allowed with them: Nash metrics"
        )
    accumulate(run, arms, lengths, sums, arms.size)


def play_run(
    algorithm: Algorithm,
    settings: Any,
    bandit: Bandit,
    generator: np.random.Generator,
    grid: NDArray[np.int64],
    *,
    count_inversely: bool = False,
) -> Accumulator:
    """Play one run to its horizon and return its accumulator.

    The kernel is called for at most ``CHUNKS_AT_ONCE`` chunks at a time, so that memory does not
    grow with the horizon.
    """
    count = len(bandit.arms)
    state = algorithm.state(count)
    played = accumulator_of(grid, count, count_inversely=count_inversely)
    size = min(CHUNKS_AT_ONCE, settings.horizon)
    out = new_segments(size)
    while state.clock[0] < settings.horizon:
        written = algorithm.advance(settings, state, bandit.arrays, generator, out)
        enter_chunks(
            algorithm, played, out.arms[:written], out.lengths[:written], out.sums[:written]
        )
    return played


def play_block(
    algorithm: Algorithm,
    settings: Any,
    bandit: Bandit,
    grid: NDArray[np.int64],
    metrics: tuple[str, ...],
    streams: tuple[int, int, range],
) -> dict[str, NDArray[np.float64]]:
    """Play the runs of one block and return each metric, one row a run.

    Args:
        algorithm: what to play, with ``settings`` for its kernel.
        settings: what ``algorithm.settings`` returned.
        bandit: the instance.
        grid: increasing times at which curves are recorded, shape (G,).
        metrics: names of the metrics.
        streams: root seed, key of the stream and the run numbers.
    """
    root_seed, key, runs = streams
    counted = "inverse_counts" in metrics
    rows: dict[str, list[NDArray[np.float64]]] = {metric: [] for metric in metrics}
    for run in runs:
        generator = run_generator(root_seed, key, run)
        played = play_run(algorithm, settings, bandit, generator, grid, count_inversely=counted)
        for metric in metrics:
            rows[metric].append(REGRET[metric](played, bandit))
    return {metric: np.array(values) for metric, values in rows.items()}
