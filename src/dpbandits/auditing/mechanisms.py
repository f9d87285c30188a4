"""Play an algorithm many times on a fixed table of rewards.

The output of a regret algorithm is its arms, that of a best-arm algorithm the arm recommended and
the pulls of every arm, which the sequence of arms shows.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numba
import numpy as np
from numba.core.dispatcher import Dispatcher
from numpy.typing import ArrayLike, NDArray

from dpbandits.algorithms.base import Algorithm, Definition, IdentificationAlgorithm, Task
from dpbandits.auditing.inputs import ROUND, Pair, table_bandit
from dpbandits.auditing.statistics import Outputs
from dpbandits.bandits.draws import NEXT, TABLE
from dpbandits.errors import InputError, user_code
from dpbandits.kernels import Arms, new_segments
from dpbandits.own.guard import place_of, refuse_hidden_randomness
from dpbandits.own.identity import is_user_defined


@contextmanager
def _of_the_user(algorithm: Definition, function: str) -> Iterator[None]:
    """Guard what a function of a user's own algorithm does; those of the registry need none."""
    if is_user_defined(algorithm):
        place = place_of(algorithm.id)
        with refuse_hidden_randomness(place), user_code(place, function):
            yield
    else:
        yield


@dataclass(frozen=True)
class Plays:
    """A regret algorithm on a pair of tables."""

    algorithm: Algorithm
    settings: Any
    horizon: int
    pair: Pair

    def __call__(self, second: bool, generator: np.random.Generator, runs: int) -> Outputs:
        """Return the arms of independent runs, numbered from 0, shape (runs, T), as int8."""
        state, memory = _in_one_array(self.algorithm.state(self.pair.arms))
        rounds = np.empty((runs, self.horizon), np.int8)
        by_round = self.pair.notion == ROUND
        buffers = new_segments(1 if by_round else self.horizon)
        table = Arms(np.full(self.pair.arms, TABLE), self.pair.rows(second))
        advance = self.algorithm.advance
        play = _play if isinstance(advance, Dispatcher) else _play.py_func
        states = (state, memory, memory.copy())
        arguments = (advance, self.settings, states, table, by_round, generator, buffers, rounds)
        with _of_the_user(self.algorithm, "advance"):
            faults = play(*arguments)
        if faults:
            raise InputError(
                f"{place_of(self.algorithm.id)}: has not answered in segments of arms 1 to "
                f"{self.pair.arms}; allowed: a kernel that plays every round "
                f"(interpretation exploration: rounds, if it has one)"
            )
        return rounds


@numba.njit(nogil=True)
def _play(advance, settings, states, table, by_round, generator, buffers, rounds):  # type: ignore[no-untyped-def]
    """Play one run after the other; return whether a kernel wrote something else than segments.

    Every run begins with the fresh state and at the first reward of every arm. In a table by
    rounds a kernel is called for one segment at a time, whose rewards begin in the coming round.
    """
    state, memory, fresh = states
    laws, rows = table
    arms, lengths, _ = buffers
    horizon = rounds.shape[1]
    # Numba compiles loops over numbers two seconds faster than assignments to slices.
    for run in range(rounds.shape[0]):
        for word in range(memory.size):
            memory[word] = fresh[word]
        for arm in range(laws.size):
            rows[arm, NEXT] = 0.0
        t = 0
        while t < horizon:
            if by_round:
                for arm in range(laws.size):
                    rows[arm, NEXT] = t
            written = advance(settings, state, table, generator, buffers)
            if written < 1:
                return True
            for k in range(written):
                end = t + lengths[k]
                if lengths[k] < 1 or end > horizon or arms[k] < 0 or arms[k] >= laws.size:
                    return True
                for played in range(t, end):
                    rounds[run, played] = arms[k]
                t = end
    return False


def _in_one_array(state: Any) -> tuple[Any, NDArray[np.int64]]:
    """Return a state whose arrays share one block of memory, and the block, to begin runs anew."""
    arrays: list[NDArray[Any]] = []
    _mapped(state, arrays.append)
    ends = np.cumsum([0, *(-(-array.nbytes // 8) for array in arrays)])
    memory = np.zeros(ends[-1], np.int64)
    views = []
    for array, begin in zip(arrays, ends[:-1], strict=True):
        own = memory[begin:].view(np.uint8)[: array.nbytes]
        views.append(own.view(array.dtype).reshape(array.shape))
        views[-1][...] = array
    left = iter(views)
    return _mapped(state, lambda array: next(left)), memory


def _mapped(part: Any, function: Callable[[NDArray[Any]], Any]) -> Any:
    """Return named tuples in named tuples with a function of each of their arrays."""
    return type(part)(
        *(
            function(each) if isinstance(each, np.ndarray) else _mapped(each, function)
            for each in part
        )
    )


@dataclass(frozen=True)
class Trials:
    """A best-arm algorithm on a pair of tables by pulls; without features, on the unit vectors."""

    algorithm: IdentificationAlgorithm
    parameters: Any
    interpretations: dict[str, str]
    features: ArrayLike | None
    budget: int
    pair: Pair

    def task(self, second: bool = False) -> Task:
        """Return what the algorithm is asked on x, or on x'."""
        bandit = table_bandit(self.features, self.pair, second)
        return Task(self.parameters, self.interpretations, bandit, self.budget)

    def __call__(self, second: bool, generator: np.random.Generator, runs: int) -> Outputs:
        """Return arm recommended and pulls of every arm, shape (runs, 1 + K)."""
        with _of_the_user(self.algorithm, "play"):
            outcome = self.algorithm.play(self.task(second), generator, runs)
        return np.column_stack([outcome.recommended, outcome.pulls])
