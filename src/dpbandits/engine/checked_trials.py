"""The trials of a user-defined identification algorithm, with checks around every batch."""

from collections.abc import Callable
from copy import deepcopy
from typing import Any

import numpy as np

from dpbandits.algorithms.base import IdentificationAlgorithm, Outcome, Task
from dpbandits.engine.user_code import place_of, user_code
from dpbandits.errors import InputError

MOST_PULLS = 2**53
"""Pulls up to which a sum of pulls is exact as a float."""


class CheckedPlay:
    """The function ``play`` of an algorithm; every outcome is checked."""

    def __init__(self, algorithm: IdentificationAlgorithm, is_due: Callable[[], bool]) -> None:
        """Keep the algorithm; ``is_due`` tells, batch after batch, whether it is played twice."""
        self._algorithm = algorithm
        self._is_due = is_due

    def __call__(self, task: Task, generator: np.random.Generator, trials: int) -> Outcome:
        """Play a batch of trials; InputError on the first fault."""
        twin = deepcopy(generator) if self._is_due() else None
        outcome = self._play(task, generator, trials)
        if twin is not None:
            again = self._play(task, twin, trials)
            self._require_equal(outcome, again)
        return outcome

    def _play(self, task: Task, generator: np.random.Generator, trials: int) -> Outcome:
        """Return the outcome, once it is checked."""
        place = place_of(self._algorithm.id)
        with user_code(place, "play"):
            outcome = self._algorithm.play(task, generator, trials)
        if not isinstance(outcome, Outcome):
            kind = type(outcome).__name__
            raise InputError(f"{place}: play returns {kind}; allowed: an Outcome")
        arms = len(task.bandit.arms)
        for name, shape in (("recommended", (trials,)), ("pulls", (trials, arms))):
            _require_counts(place, name, getattr(outcome, name), shape)
        _require_range(place, "recommended arm", outcome.recommended, arms - 1)
        _require_range(place, "number of pulls", outcome.pulls, MOST_PULLS // arms)
        if not isinstance(outcome.exact, np.ndarray) or outcome.exact.shape != (trials,):
            raise InputError(f"{place}: exact has another shape; allowed: one truth value a trial")
        return outcome

    def _require_equal(self, outcome: Outcome, again: Outcome) -> None:
        """Raise InputError unless a batch played twice came out the same."""
        same = (outcome.recommended == again.recommended) & (outcome.pulls == again.pulls).all(1)
        if same.all():
            return
        trial = int((~same).argmax())
        one, other = (int(each.recommended[trial]) for each in (outcome, again))
        raise InputError(
            f"{place_of(self._algorithm.id)}, trial {trial}: recommended arm is {one}, and {other} "
            f"when played again (or its pulls differ); allowed: randomness from the generator alone"
        )


def _require_counts(place: str, name: str, array: Any, shape: tuple[int, ...]) -> None:
    """Raise InputError unless ``array`` is an array of integers of this shape."""
    if not isinstance(array, np.ndarray) or array.dtype.kind not in "iu" or array.shape != shape:
        dtype = f"{array.dtype} " if isinstance(array, np.ndarray) else ""
        raise InputError(
            f"{place}: {name} is {dtype}of shape {np.shape(array)}; allowed: integers of shape "
            f"{shape}"
        )


def _require_range(place: str, name: str, array: Any, largest: int) -> None:
    """Raise InputError unless all numbers, one row a trial, are from 0 to ``largest``."""
    bad = (array < 0) | (array > largest)
    if bad.any():
        trial, value = int(np.argwhere(bad)[0][0]), int(array[bad][0])
        raise InputError(f"{place}, trial {trial}: {name} is {value}; allowed: 0 to {largest}")
