"""Play all runs of one Nash curve side by side. A result's fingerprint covers this and its imports.

Nash regret does not add over runs: its average over them is inside a logarithm at every round.
So all runs go through time together, window by window, in one process; a window ends where the
first of them has filled its chunks. Results depend on neither the windows nor an interruption.
"""

import json
from collections.abc import Callable, Iterator
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from dpbandits.algorithms.base import Algorithm
from dpbandits.bandits import Bandit
from dpbandits.engine.execute import enter_chunks
from dpbandits.engine.identity import run_generator
from dpbandits.kernels import Segments
from dpbandits.metrics.names import NOMINAL
from dpbandits.metrics.nash import (
    drop_segments,
    enter_window,
    nash_accumulator,
    nash_parts,
)
from dpbandits.metrics.regret import REGRET, Accumulator, accumulator_of

Arrays = dict[str, NDArray[Any]]

CHUNKS_TOGETHER = 1 << 20
"""Chunks that all runs of a curve keep together: 16 megabytes, whatever the horizon."""


class Watch(Protocol):
    """Looks after a long curve between two windows."""

    def resumed(self) -> Arrays | None:
        """Return what the last checkpoint keeps, or None."""

    def between(self, done: int, total: int, arrays: Callable[[], Arrays]) -> None:
        """Take note that ``done`` of ``total`` rounds are played; may keep what ``arrays`` is."""


class _Curve:
    """The runs of one curve, and everything that changes as they play."""

    def __init__(
        self,
        algorithm: Algorithm,
        settings: Any,
        bandit: Bandit,
        grid: NDArray[np.int64],
        metrics: tuple[str, ...],
        generators: list[np.random.Generator],
    ) -> None:
        self.algorithm, self.settings, self.bandit = algorithm, settings, bandit
        self.generators = generators
        runs, arms, horizon = len(generators), len(bandit.arms), settings.horizon
        self.states = [algorithm.state(arms) for _ in generators]
        capacity = min(horizon, max(1, CHUNKS_TOGETHER // runs))
        self.arms = np.empty((runs, capacity), np.int64)
        self.lengths = np.empty((runs, capacity), np.int64)
        self.sums = np.empty(capacity)
        self.filled, self.starts = np.zeros(runs, np.int64), np.zeros(runs, np.int64)
        self.played = np.zeros(1, np.int64)
        self.scored = {"": nash_accumulator(bandit.means, bandit.log_means, runs, horizon, grid)}
        if any(name.startswith(NOMINAL) for name in metrics):
            with np.errstate(divide="ignore"):
                logs = np.log(bandit.nominal_means)
            means = bandit.nominal_means
            self.scored[NOMINAL] = nash_accumulator(means, logs, runs, horizon, grid)
        self.own = tuple(name for name in metrics if name in REGRET)
        counted = "inverse_counts" in self.own
        self.ledgers: list[Accumulator] = [
            accumulator_of(grid, arms, count_inversely=counted) for _ in generators if self.own
        ]

    def play_window(self) -> None:
        """Let every run that has room for chunks go on, and take in what all have reached."""
        for run, state in enumerate(self.states):
            room = self.filled[run] <= self.arms.shape[1] // 2
            if room and state.clock[0] < self.settings.horizon:
                self._play(run)
        begin, until = int(self.played[0]), min(int(state.clock[0]) for state in self.states)
        chunks = (self.arms, self.lengths, self.filled, self.starts)
        for ledger in self.scored.values():
            enter_window(ledger, *chunks, (begin, until))
        drop_segments(*chunks, until)
        self.played[0] = until

    def _play(self, run: int) -> None:
        bandit, first = self.bandit, self.filled[run]
        arms, lengths = self.arms[run, first:], self.lengths[run, first:]
        out = Segments(arms, lengths, self.sums[: arms.size])
        written = self.algorithm.advance(
            self.settings, self.states[run], bandit.arrays, self.generators[run], out
        )
        self.filled[run] += written
        if self.ledgers:
            enter_chunks(
                self.algorithm,
                self.ledgers[run],
                out.arms[:written],
                out.lengths[:written],
                out.sums[:written],
            )

    def _changing(self) -> Iterator[tuple[str, NDArray[Any]]]:
        """Yield every array that changes, but the chunks, under a name of its own."""
        yield from (("filled", self.filled), ("starts", self.starts), ("played", self.played))
        for name, parts in (
            ("state", self.states),
            ("nash", list(self.scored.values())),
            ("ledger", self.ledgers),
        ):
            for number, part in enumerate(parts):
                yield from _arrays_of(f"{name} {number}", part)

    def arrays(self) -> Arrays:
        """Return all that a checkpoint keeps."""
        width = int(self.filled.max())
        states = [generator.bit_generator.state for generator in self.generators]
        return dict(self._changing()) | {
            "arms": self.arms[:, :width],
            "lengths": self.lengths[:, :width],
            "generators": np.array(json.dumps(states)),
        }

    def resume(self, arrays: Arrays) -> None:
        """Go back to a checkpoint."""
        for name, array in self._changing():
            array[...] = arrays[name]
        width = arrays["arms"].shape[1]
        self.arms[:, :width], self.lengths[:, :width] = arrays["arms"], arrays["lengths"]
        states = json.loads(str(arrays["generators"]))
        for generator, state in zip(self.generators, states, strict=True):
            generator.bit_generator.state = state

    def values(self, metrics: tuple[str, ...]) -> dict[str, NDArray[np.float64]]:
        """Return each metric: of Nash regret its parts, of every other one row a run."""
        found: dict[str, NDArray[np.float64]] = {}
        for prefix, scored in self.scored.items():
            found |= {prefix + name: part for name, part in nash_parts(scored).items()}
        for name in self.own:
            rows = [REGRET[name](ledger, self.bandit) for ledger in self.ledgers]
            found[name] = np.array(rows)
        return {name: found[name] for name in metrics}


def _arrays_of(name: str, part: Any) -> Iterator[tuple[str, NDArray[Any]]]:
    """Yield the arrays of a NamedTuple, and of those inside it."""
    for field, value in part._asdict().items():
        if isinstance(value, np.ndarray):
            yield f"{name} {field}", value
        elif hasattr(value, "_asdict"):
            yield from _arrays_of(f"{name} {field}", value)


def play_together(
    algorithm: Algorithm,
    settings: Any,
    bandit: Bandit,
    grid: NDArray[np.int64],
    metrics: tuple[str, ...],
    streams: tuple[int, int, range],
    watch: Watch | None = None,
) -> dict[str, NDArray[np.float64]]:
    """Play all runs of one curve and return each metric.

    Args:
        algorithm: what to play, with ``settings`` for its kernel.
        settings: what ``algorithm.settings`` returned.
        bandit: the instance.
        grid: increasing times at which curves are recorded, shape (G,).
        metrics: names of Nash metrics, and of others to record of the same runs.
        streams: root seed, key of the stream and the run numbers.
        watch: called after every window, and may have kept a checkpoint.
    """
    root_seed, key, runs = streams
    generators = [run_generator(root_seed, key, run) for run in runs]
    curve = _Curve(algorithm, settings, bandit, grid, metrics, generators)
    kept = watch.resumed() if watch else None
    if kept is not None:
        curve.resume(kept)
    while curve.played[0] < settings.horizon:
        curve.play_window()
        if watch:
            watch.between(int(curve.played[0]), settings.horizon, curve.arrays)
    return curve.values(metrics)
