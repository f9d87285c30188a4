"""Play runs, the runs of a Nash curve side by side, and trials of identification.

The fingerprint of every result covers this file and what it imports.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpbandits.algorithms.base import Algorithm, IdentificationAlgorithm, Outcome, Task
from dpbandits.bandits import Bandit
from dpbandits.engine.identity import run_generator
from dpbandits.errors import InputError
from dpbandits.kernels import Segments, new_segments
from dpbandits.metrics import NOMINAL
from dpbandits.metrics.nash import drop_segments, enter_window, nash_accumulator, nash_parts
from dpbandits.metrics.regret import (
    IDENTIFICATION,
    REGRET,
    Accumulator,
    accumulate,
    accumulator_of,
)

Runs = dict[str, NDArray[Any]]
"""Metric -> one row a run; of a Nash curve, its quantities as one row."""

SEGMENTS_AT_ONCE = 1 << 15
"""Segments that a kernel writes at a time, so that memory does not grow with the horizon."""

SEGMENTS_OF_A_CURVE = 1 << 20
"""Segments that all runs of a curve keep together: 16 megabytes, whatever the horizon."""

TRIALS = 1000
"""Trials that draw from one stream: they are many and short, and played side by side."""


def _enter(algorithm: Algorithm, run: Accumulator, out: Segments, written: int) -> None:
    """Add segments to the accumulator of their run; InputError for uniformly random arms."""
    if written and out.arms[:written].min() < 0:
        raise InputError(
            f"algorithm {algorithm.id}: blocks of uniformly random arms have no pulls of each arm; "
            f"allowed with them: Nash metrics"
        )
    accumulate(run, out.arms, out.lengths, out.sums, written)


def play_run(
    algorithm: Algorithm,
    settings: Any,
    bandit: Bandit,
    generator: np.random.Generator,
    grid: NDArray[np.int64],
    *,
    count_inversely: bool = False,
) -> Accumulator:
    """Play one run to its horizon and return its accumulator."""
    count = len(bandit.arms)
    state = algorithm.state(count)
    run = accumulator_of(grid, count, count_inversely=count_inversely)
    out = new_segments(min(SEGMENTS_AT_ONCE, settings.horizon))
    while state.clock[0] < settings.horizon:
        written = algorithm.advance(settings, state, bandit.arrays, generator, out)
        _enter(algorithm, run, out, written)
    return run


def play_runs(
    algorithm: Algorithm,
    settings: Any,
    bandit: Bandit,
    grid: NDArray[np.int64],
    metrics: tuple[str, ...],
    streams: tuple[int, int, range],
) -> Runs:
    """Play runs one after the other and return each metric, one row a run.

    Curves are recorded at the increasing times of the ``grid``; ``streams`` are the root seed, the
    key of the stream and the numbers of the runs.
    """
    root_seed, key, runs = streams
    counted = "inverse_counts" in metrics
    rows: dict[str, list[NDArray[np.float64]]] = {metric: [] for metric in metrics}
    for number in runs:
        generator = run_generator(root_seed, key, number)
        run = play_run(algorithm, settings, bandit, generator, grid, count_inversely=counted)
        for metric in metrics:
            rows[metric].append(REGRET[metric](run, bandit))
    return {metric: np.array(values) for metric, values in rows.items()}


def play_curve(
    algorithm: Algorithm,
    settings: Any,
    bandit: Bandit,
    grid: NDArray[np.int64],
    metrics: tuple[str, ...],
    streams: tuple[int, int, range],
) -> Runs:
    """Play the runs of one Nash curve: of Nash regret its parts, of other metrics one row a run.

    Nash regret does not add over runs: its average over them is inside a logarithm at every round.
    So all runs go through time together, window by window, in one process; a time window ends where
    the first of them has filled its segments. Results do not depend on the windows.
    """
    root_seed, key, numbers = streams
    count, horizon = len(numbers), settings.horizon
    generators = [run_generator(root_seed, key, number) for number in numbers]
    states = [algorithm.state(len(bandit.arms)) for _ in numbers]
    capacity = min(horizon, max(1, SEGMENTS_OF_A_CURVE // count))
    (arms, lengths), sums = np.empty((2, count, capacity), np.int64), np.empty(capacity)
    filled, starts = np.zeros((2, count), np.int64)
    curves = {"": nash_accumulator(bandit.means, bandit.log_means, count, horizon, grid)}
    if any(name.startswith(NOMINAL) for name in metrics):
        with np.errstate(divide="ignore"):
            logs = np.log(bandit.nominal_means)
        curves[NOMINAL] = nash_accumulator(bandit.nominal_means, logs, count, horizon, grid)
    by_run = [name for name in metrics if name in REGRET]
    counted = "inverse_counts" in by_run
    played = numbers if by_run else ()
    runs = [accumulator_of(grid, len(bandit.arms), count_inversely=counted) for _ in played]
    clock = 0
    while clock < horizon:
        for run, state in enumerate(states):
            first = filled[run]
            if first > capacity // 2 or state.clock[0] >= horizon:
                continue
            out = Segments(arms[run, first:], lengths[run, first:], sums[: capacity - first])
            written = algorithm.advance(settings, state, bandit.arrays, generators[run], out)
            filled[run] += written
            if by_run:
                _enter(algorithm, runs[run], out, written)
        until = min(int(state.clock[0]) for state in states)
        for curve in curves.values():
            enter_window(curve, arms, lengths, filled, starts, (clock, until))
        drop_segments(arms, lengths, filled, starts, until)
        clock = until
    values = {name: np.array([REGRET[name](run, bandit) for run in runs]) for name in by_run}
    for prefix, curve in curves.items():
        values |= {prefix + name: part for name, part in nash_parts(curve).items()}
    return {name: values[name] for name in metrics}


def play_outcome(
    algorithm: IdentificationAlgorithm, task: Task, root_seed: int, key: int, first: int
) -> Outcome:
    """Play the trials of one stream in full; ``first`` is a multiple of ``TRIALS``."""
    return algorithm.play(task, run_generator(root_seed, key, first // TRIALS), TRIALS)


def play_trials(
    algorithm: IdentificationAlgorithm,
    task: Task,
    metrics: tuple[str, ...],
    streams: tuple[int, int, range],
) -> Runs:
    """Play the trials of one stream and return each metric, one row a trial."""
    root_seed, key, runs = streams
    outcome = play_outcome(algorithm, task, root_seed, key, runs.start)
    returned, pulls = outcome.recommended, outcome.pulls
    return {metric: IDENTIFICATION[metric](returned, pulls, task.bandit) for metric in metrics}
