"""Play runs one by one, the runs of a Nash curve side by side, and trials of identification.

The fingerprint of every algorithm covers this file and what it imports.
"""

from collections.abc import Callable, Collection, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpbandits.algorithms.base import Algorithm, IdentificationAlgorithm, Outcome, Task
from dpbandits.bandits import Bandit
from dpbandits.engine.identity import reseeding, run_generator
from dpbandits.errors import InputError
from dpbandits.kernels import Segments, new_segments
from dpbandits.metrics import NOMINAL
from dpbandits.metrics.nash import drop_segments, enter_window, nash_accumulator, nash_parts
from dpbandits.metrics.regret import (
    REGRET_METRICS,
    TRIAL_METRICS,
    Accumulator,
    accumulate,
    accumulator_of,
)

MetricArrays = dict[str, NDArray[Any]]
"""Metric -> one row for each run; the quantities of a Nash curve are one row for all its runs."""

SEGMENTS_AT_ONCE = 1 << 15
"""Segments that a kernel writes at a time: memory does not grow with the horizon."""

SEGMENTS_OF_A_CURVE = 1 << 20
"""Segments that the runs of a Nash curve keep together: 16 megabytes at any horizon."""

TRIALS = 1000
"""Trials that draw from one stream. They are short and many, so they are played side by side."""


def kernel_of(algorithm: Algorithm, metrics: Collection[str]) -> Callable[..., int]:
    """Return what plays runs one by one: ``skip`` where there is one, else ``advance``.

    A kernel that skips knows no reward inside a segment, which realised regret asks for. Metrics
    choose the kernel, and not the grid, so that runs do not depend on the times recorded.
    """
    if algorithm.skip is None or "realised_regret" in metrics:
        return algorithm.advance
    return algorithm.skip


def play_runs(
    algorithm: Algorithm,
    settings: Any,
    bandit: Bandit,
    grid: NDArray[np.int64],
    metrics: tuple[str, ...],
    streams: tuple[int, int, range],
) -> MetricArrays:
    """Play runs one after the other and return each metric, one row a run.

    Curves are recorded at the increasing times of the ``grid``; ``streams`` are the root seed, the
    key of the stream and the numbers of the runs.
    """
    root_seed, key, runs = streams
    stream_of = reseeding(root_seed, key, runs)
    advance = kernel_of(algorithm, metrics)
    arms, counted = len(bandit.arms), "inverse_counts" in metrics
    out = new_segments(min(SEGMENTS_AT_ONCE, settings.horizon))
    rows: dict[str, list[NDArray[np.float64]]] = {metric: [] for metric in metrics}
    for number in runs:
        generator, state = stream_of(number), algorithm.state(arms)
        run = accumulator_of(grid, arms, count_inversely=counted)
        while state.clock[0] < settings.horizon:
            written = advance(settings, state, bandit.arrays, generator, out)
            _add(algorithm, run, out, written)
        for metric in metrics:
            rows[metric].append(REGRET_METRICS[metric](run, bandit))
    return {metric: np.array(values) for metric, values in rows.items()}


def _add(algorithm: Algorithm, run: Accumulator, out: Segments, written: int) -> None:
    """Add segments to a run; InputError for uniformly random arms, which only Nash metrics take."""
    if written and out.arms[:written].min() < 0:
        raise InputError(
            f"algorithm {algorithm.id}: blocks of uniformly random arms have no pulls of each arm; "
            f"allowed with them: Nash metrics"
        )
    accumulate(run, out.arms, out.lengths, out.sums, written)


class _Curve:
    """The runs of one Nash curve, and everything that changes while they play.

    Nash regret does not add over runs, because at every round the average over runs is inside
    a logarithm. So all runs go through time together in one process, window by window. A window
    ends where the first run has filled its buffer; results do not depend on the windows.
    """

    def __init__(
        self,
        algorithm: Algorithm,
        settings: Any,
        bandit: Bandit,
        grid: NDArray[np.int64],
        metrics: tuple[str, ...],
        runs: int,
    ) -> None:
        self.algorithm, self.settings, self.bandit = algorithm, settings, bandit
        arms, horizon = len(bandit.arms), settings.horizon
        self.states = [algorithm.state(arms) for _ in range(runs)]
        capacity = min(horizon, max(1, SEGMENTS_OF_A_CURVE // runs))
        self.arms = np.empty((runs, capacity), np.int64)
        self.lengths = np.empty((runs, capacity), np.int64)
        self.filled, self.starts = np.zeros(runs, np.int64), np.zeros(runs, np.int64)
        self.clock = 0
        self.scored = {"": nash_accumulator(bandit.means, bandit.log_means, runs, horizon, grid)}
        if any(name.startswith(NOMINAL) for name in metrics):
            with np.errstate(divide="ignore"):
                logs = np.log(bandit.nominal_means)
            means = bandit.nominal_means
            self.scored[NOMINAL] = nash_accumulator(means, logs, runs, horizon, grid)
        self.by_run = tuple(name for name in metrics if name in REGRET_METRICS)
        counted = "inverse_counts" in self.by_run
        self.runs = [
            accumulator_of(grid, arms, count_inversely=counted) for _ in self.states if self.by_run
        ]

    def play_window(
        self,
        stream_of: Callable[[int], np.random.Generator],
        over: Callable[..., Iterable[None]] = map,
    ) -> None:
        """Advance each run whose buffer is at most half full; add the rounds that all have played.

        ``over`` may be the ``map`` of a thread pool: each run has its own state and buffer.
        """
        half, horizon = self.arms.shape[1] // 2, self.settings.horizon
        due = [
            run
            for run, state in enumerate(self.states)
            if self.filled[run] <= half and state.clock[0] < horizon
        ]
        for _ in over(lambda run: self._play(run, stream_of(run)), due):
            pass
        until = min(int(state.clock[0]) for state in self.states)
        segments = (self.arms, self.lengths, self.filled, self.starts)
        for curve in self.scored.values():
            enter_window(curve, *segments, (self.clock, until))
        drop_segments(*segments, until)
        self.clock = until

    def _play(self, run: int, generator: np.random.Generator) -> None:
        first = self.filled[run]
        arms, lengths = self.arms[run, first:], self.lengths[run, first:]
        out = Segments(arms, lengths, np.empty(arms.size))
        written = self.algorithm.advance(
            self.settings, self.states[run], self.bandit.arrays, generator, out
        )
        self.filled[run] += written
        if self.runs:
            _add(self.algorithm, self.runs[run], out, written)

    def values(self, metrics: tuple[str, ...]) -> MetricArrays:
        """Return each metric: the parts of Nash regret, and one row a run for any other."""
        values: MetricArrays = {}
        for prefix, curve in self.scored.items():
            values |= {prefix + name: part for name, part in nash_parts(curve).items()}
        for name in self.by_run:
            values[name] = np.array([REGRET_METRICS[name](run, self.bandit) for run in self.runs])
        return {name: values[name] for name in metrics}


def play_curve(
    algorithm: Algorithm,
    settings: Any,
    bandit: Bandit,
    grid: NDArray[np.int64],
    metrics: tuple[str, ...],
    streams: tuple[int, int, range],
    threads: int = 1,
) -> MetricArrays:
    """Play all runs of one Nash curve side by side; return its Nash metrics and other metrics."""
    root_seed, key, runs = streams
    curve = _Curve(algorithm, settings, bandit, grid, metrics, len(runs))
    if curve.arms.shape[1] == settings.horizon:
        # The buffers hold whole runs, so one window plays them, with one generator for all.
        stream_of = reseeding(root_seed, key, runs)
        curve.play_window(lambda number: stream_of(runs[number]))
        assert curve.clock == settings.horizon
        return curve.values(metrics)
    generators = [run_generator(root_seed, key, run) for run in runs]
    with ThreadPoolExecutor(threads) as pool:
        while curve.clock < settings.horizon:
            curve.play_window(generators.__getitem__, pool.map if threads > 1 else map)
    return curve.values(metrics)


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
) -> MetricArrays:
    """Play the trials of one stream and return each metric, one row a trial."""
    root_seed, key, runs = streams
    outcome = play_outcome(algorithm, task, root_seed, key, runs.start)
    returned, pulls = outcome.recommended, outcome.pulls
    return {metric: TRIAL_METRICS[metric](returned, pulls, task.bandit) for metric in metrics}
