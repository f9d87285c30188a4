"""Estimates of time and memory before a simulation begins, and the limits that they are held to."""

import math
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from numbers import Integral, Real
from typing import TYPE_CHECKING

import numpy as np

from dpbandits.algorithms.base import Algorithm, IdentificationAlgorithm
from dpbandits.engine.execute import CHUNKS_AT_ONCE
from dpbandits.engine.lockstep import PROCESS_BYTES
from dpbandits.engine.trials import TRIALS
from dpbandits.errors import InputError
from dpbandits.kernels import new_segments
from dpbandits.metrics.names import CURVES

if TYPE_CHECKING:
    from dpbandits.engine.cells import Cell

MEMORY_LIMIT = 8 << 30
"""Bytes that a simulation may take unless more is allowed."""

TIME_LIMIT = 24.0
"""Hours that a simulation may take unless more is allowed."""

SMALL = 10**9
"""Rounds times arms of all runs below which time is not estimated.

Measured: 10 to 60 seconds for compiled kernels.
"""

FEW_TRIALS = 10**5
"""Trials below which time is not estimated."""

FIRST_HORIZON, GROWTH = 1 << 12, 8
"""Horizon of the first run that is timed, and how much longer each next one is."""

LONG_ENOUGH = 0.1
"""Seconds of a timed run from which the rest is extrapolated."""

BATCH_BYTES = 4000
"""Bytes of the objects of a batch of runs; measured: about 3 kilobytes."""

ARM_BYTES = 500
"""Bytes of the description of an arm in a batch of runs; measured: about 400."""


@dataclass(frozen=True)
class Limits:
    """What a simulation may take.

    Attributes:
        memory: number of bytes.
        hours: number of hours.
    """

    memory: int = MEMORY_LIMIT
    hours: float = TIME_LIMIT

    def __post_init__(self) -> None:
        """Raise InputError unless both limits are numbers above 0."""
        is_whole = isinstance(self.memory, Integral) and not isinstance(self.memory, bool)
        if not is_whole or self.memory < 1:
            raise InputError(f"memory limit is {self.memory!r}; allowed: a number of bytes")
        is_number = isinstance(self.hours, Real) and not isinstance(self.hours, bool)
        if not is_number or not self.hours > 0:
            raise InputError(f"time limit is {self.hours!r}; allowed: a number of hours above 0")


def require_affordable(cell: "Cell", workers: int, limits: Limits) -> None:
    """Raise InputError where a cell is estimated to take more memory or time than is allowed."""
    require_space(cell, limits)
    require_time(cell, workers, limits)


def require_space(cell: "Cell", limits: Limits) -> None:
    """Raise InputError where the results of a cell are estimated to take too much memory."""
    needed = memory_of(cell)
    if needed > limits.memory:
        raise InputError(
            f"memory limit is {limits.memory}; allowed: at least {needed} bytes here, for "
            f"{cell.runs} runs and {len(cell.grid)} times"
        )


def require_time(cell: "Cell", workers: int, limits: Limits) -> None:
    """Raise InputError where a cell is estimated to take too long."""
    hours = seconds_of(cell) / workers / 3600.0
    if hours > limits.hours:
        raise InputError(
            f"time limit is {limits.hours:g} hours; allowed: at least about {hours:.2g} hours "
            f"here, for {cell.runs} runs of {cell.horizon} rounds"
        )


def memory_of(cell: "Cell") -> int:
    """Return the bytes that the results of a cell take while they are put together."""
    arms, times = len(cell.bandit.arms), len(cell.grid)
    if isinstance(cell.definition, IdentificationAlgorithm):
        values = len(cell.metrics) + arms
    else:
        values = sum(times if metric in CURVES else arms for metric in cell.metrics)
    batches = math.ceil(cell.runs / cell.block_size) + 1
    results = 2 * 8 * values * cell.runs
    one_run = 8 * 3 * times * (arms + 2)
    objects = batches * (BATCH_BYTES + ARM_BYTES * arms + 8 * times)
    return PROCESS_BYTES + results + one_run + objects


def seconds_of(cell: "Cell") -> float:
    """Return the estimated seconds of one process for all runs; 0 where they are few and short."""
    if isinstance(cell.definition, IdentificationAlgorithm):
        if cell.runs < FEW_TRIALS:
            return 0.0
        seconds = _extrapolated(partial(_play_trials, cell), (1, TRIALS))
        return seconds * cell.runs / TRIALS
    if cell.runs * cell.horizon * len(cell.bandit.arms) < SMALL:
        return 0.0
    return cell.runs * _extrapolated(partial(_play_run, cell), (FIRST_HORIZON, cell.horizon))


def _extrapolated(play: Callable[[int], None], numbers: tuple[int, int]) -> float:
    """Return the seconds of ``play`` at the last of the numbers, by those that are timed.

    Numbers grow until a call takes long enough, so that a kernel whose time grows with the
    logarithm of the horizon is timed at the horizon itself.
    """
    first, last = numbers
    number, seconds = min(first, last), 0.0
    is_compiled = False
    while True:
        # Too short a horizon is rejected by the settings of some algorithms.
        with suppress(InputError):
            if not is_compiled:
                play(number)
                is_compiled = True
            begun = time.process_time()
            play(number)
            seconds = time.process_time() - begun
        if seconds >= LONG_ENOUGH or number == last:
            return seconds * last / number
        number = min(last, number * GROWTH)


def _play_run(cell: "Cell", horizon: int) -> None:
    """Play one run to ``horizon``, and record nothing."""
    part = replace(cell, horizon=horizon, grid=(horizon,))
    settings, algorithm, bandit = part.settings, part.player, cell.bandit
    assert isinstance(algorithm, Algorithm)
    state, generator = algorithm.state(len(bandit.arms)), np.random.default_rng(0)
    size = min(CHUNKS_AT_ONCE, horizon)
    buffers = new_segments(size)
    while state.clock[0] < horizon:
        algorithm.advance(settings, state, bandit.arrays, generator, buffers)


def _play_trials(cell: "Cell", trials: int) -> None:
    """Play trials, and record nothing."""
    algorithm = cell.player
    assert isinstance(algorithm, IdentificationAlgorithm)
    algorithm.play(cell.task, np.random.default_rng(0), trials)
