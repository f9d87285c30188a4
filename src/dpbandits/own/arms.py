"""User-defined arms: rewards by any function of the generator, or recorded ones.

Kernels know the laws of this package, and tables. So every run has a table of all rewards that its
arms could pay: the n-th pull of an arm pays the n-th of them, which is the same in law as drawing
it then. The table has K times T entries, and limits the horizon.
"""

import hashlib
import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import FunctionType
from typing import Any, ClassVar, NamedTuple

import numba
import numpy as np
from numba.core.dispatcher import Dispatcher
from numba.core.errors import NumbaError
from numpy.typing import ArrayLike, NDArray

from dpbandits.algorithms.base import Algorithm, require_plain
from dpbandits.bandits import Bandit, read_only
from dpbandits.bandits.draws import FIRST, TABLE
from dpbandits.bandits.instances import require_rewards
from dpbandits.errors import InputError, user_code
from dpbandits.kernels import Arms, Segments
from dpbandits.own.compiled import reason_of
from dpbandits.own.identity import digest

Floats = NDArray[np.float64]

MAXIMAL_ENTRIES = 10_000_000
"""Entries of the table of one run: 80 megabytes."""

SAMPLE = 10_000
"""Rewards of an arm that are drawn to check its mean."""

LAYOUT = 1
"""Results are keyed by it; to be raised where another table is made of the same arms."""


@dataclass(frozen=True, eq=False)
class DrawnArm:
    """An arm whose rewards a function of a generator draws.

    ``digest`` is the hash of the function and of all that it used when the mean was given.
    """

    function: Dispatcher
    mean: float
    compiles: bool
    digest: str = field(init=False)
    name: ClassVar[str] = "function"
    code: ClassVar[int] = TABLE
    largest: ClassVar[float] = 1.0

    def __post_init__(self) -> None:
        """Keep the digest."""
        object.__setattr__(self, "digest", digest("of an arm", self.function))

    @property
    def parameter(self) -> str:
        """Hash of the function and of all that it uses; InputError where the mean may be false."""
        if digest("of an arm", self.function) != self.digest:
            raise InputError(
                f"arms: {self.function.py_func.__name__} uses something that was changed after its "
                f"mean was given; allowed: what stays as it is, or arms made anew"
            )
        return self.digest

    def rewards(self, count: int, generator: np.random.Generator) -> Floats:
        """Return the rewards of so many pulls, shape (count,)."""
        if self.compiles:
            return np.asarray(_drawn(self.function, count, generator))
        draw = self.function.py_func
        return np.array([draw(generator) for _ in range(count)], dtype=np.float64)


@numba.njit
def _drawn(draw, count, generator):  # type: ignore[no-untyped-def]
    rewards = np.empty(count)
    for place in range(count):
        rewards[place] = draw(generator)
    return rewards


@dataclass(frozen=True, eq=False)
class RecordedArm:
    """An arm that pays recorded rewards in their order, and again from the first one."""

    recorded: Floats
    name: ClassVar[str] = "recorded"
    code: ClassVar[int] = TABLE
    largest: ClassVar[float] = 1.0

    def __post_init__(self) -> None:
        """Keep a copy that stays as it is."""
        object.__setattr__(self, "recorded", read_only(self.recorded))

    def __reduce__(self) -> tuple[Any, ...]:
        """Make it anew elsewhere, where an array would arrive writable."""
        return type(self), (self.recorded,)

    @property
    def mean(self) -> float:
        """Mean of the recorded rewards."""
        return float(self.recorded.mean())

    @property
    def parameter(self) -> str:
        """Hash of the rewards."""
        return hashlib.sha256(self.recorded.tobytes()).hexdigest()

    def rewards(self, count: int, generator: np.random.Generator) -> Floats:
        """Return the rewards of so many pulls, shape (count,), without a draw."""
        return np.resize(self.recorded, count)


class TableState(NamedTuple):
    """A state of an algorithm, its clock, and the table of rewards once its run has begun."""

    clock: NDArray[np.int64]
    table: Floats
    inner: Any


@dataclass(frozen=True)
class CustomBandit(Bandit):
    """User-defined arms; make one with ``arms`` or ``replay``."""

    def describe(self) -> list[dict[str, Any]]:
        """Canonical description, one entry an arm; seeds and caches are keyed by it."""
        return [{**arm, "layout": LAYOUT} for arm in super().describe()]

    @cached_property
    def law_parameters(self) -> Floats:
        """A table without rewards, shape (K, 2): every run has its own."""
        return read_only(np.zeros((len(self.arms), FIRST)))

    def draw(self, arm: int, generator: np.random.Generator) -> float:
        """Draw one reward of ``arm``; a recorded one is the first."""
        return self.draw_sum(arm, 1, generator)

    def draw_sum(self, arm: int, count: int, generator: np.random.Generator) -> float:
        """Draw the sum of ``count`` rewards of ``arm``; recorded ones are the first."""
        law: Any = self.arms[arm]
        return float(law.rewards(count, generator).sum())

    def table(self, rounds: int, generator: np.random.Generator) -> Floats:
        """Return ``rounds`` rewards of each arm, shape (K, 2 + rounds)."""
        rows = np.zeros((len(self.arms), FIRST + rounds))
        for number, arm in enumerate(self.arms):
            rows[number, FIRST:] = _rewards(f"arm {number}", arm, rounds, generator)
        return rows

    def on_custom_arms(self, algorithm: Algorithm, horizon: int) -> Algorithm:
        """Return an algorithm that plays on a new table in every run; it limits the horizon."""
        count = len(self.arms)
        if count * horizon > MAXIMAL_ENTRIES:
            raise InputError(
                f"horizon is {horizon}, with {count} arms of your own; allowed: at most "
                f"{MAXIMAL_ENTRIES // count}, as a run keeps all of its rewards in memory"
            )

        def state(arms: int) -> TableState:
            inner = algorithm.state(arms)
            return TableState(inner.clock, np.zeros((arms, FIRST + horizon)), inner)

        def advance(settings: Any, state: TableState, _: Arms, rng: Any, out: Segments) -> int:
            if state.clock[0] == 0:
                state.table[...] = self.table(horizon, rng)
            table = Arms(self.laws, state.table)
            return algorithm.advance(settings, state.inner, table, rng, out)

        return replace(algorithm, state=state, advance=advance, skip=None)


def _rewards(place: str, arm: Any, count: int, generator: np.random.Generator) -> Floats:
    """Return rewards of an arm; InputError where its function fails, or pays another reward."""
    with user_code(place, "its function"):
        rewards: Floats = arm.rewards(count, generator)
    return require_rewards(place, rewards)


def arms(
    functions: Sequence[Callable[[np.random.Generator], float]], *, means: Sequence[float]
) -> CustomBandit:
    """Return arms whose rewards are drawn by functions of your own.

    Args:
        functions: one an arm, (generator) -> reward from 0 to 1, drawn from the generator alone;
            those that numba compiles are a hundred times faster.
        means: exact mean of each arm's rewards, by which regret is measured.

    Raises:
        InputError: there are fewer than two, or something else than a function; a mean is missing,
            or is not that of 10,000 rewards; a reward is outside [0, 1], or drawn from elsewhere.

    Example:
        >>> import dpbandits
        >>> waiting = dpbandits.arms(
        ...     [lambda rng: rng.beta(2.0, 1.0), lambda rng: rng.random()], means=[2 / 3, 1 / 2]
        ... )
        >>> dpbandits.simulate(algorithm="ucb1", bandit=waiting, horizon=60, runs=2).pulls.shape
        (2, 2)
    """
    numbers = _numbers("arms: means", means)
    if not isinstance(functions, Sequence) or len(functions) != numbers.size:
        raise InputError(f"arms: {numbers.size} means; allowed: one for each function of a list")
    made: list[Any] = []
    for number, (function, mean) in enumerate(zip(functions, numbers.tolist(), strict=True)):
        if not isinstance(function, FunctionType | Dispatcher):
            raise InputError(
                f"arms: arm {number} is {function!r}; allowed: a function of a generator"
            )
        require_plain(f"arms: arm {number}", function)
        compiled: Any = function if isinstance(function, Dispatcher) else numba.njit(function)
        made.append(DrawnArm(compiled, mean, _compiles(compiled, f"arm {number}")))
        _require_mean(f"arm {number}", made[-1])
    return CustomBandit(tuple(made))


def _require_mean(place: str, arm: DrawnArm) -> None:
    """Raise InputError where some rewards average to what they hardly could at the given mean."""
    rewards, again = (_rewards(place, arm, SAMPLE, np.random.default_rng(0)) for _ in range(2))
    if not np.array_equal(rewards, again):
        raise InputError(
            f"{place}: rewards differ when they are drawn again; allowed: those drawn from the "
            f"generator alone"
        )
    average = float(rewards.mean())
    # Bernstein's inequality: rewards in [0, 1] have at most this variance.
    variance = arm.mean * (1.0 - arm.mean)
    if abs(average - arm.mean) > 6.0 * math.sqrt(variance / SAMPLE) + 12.0 / SAMPLE:
        raise InputError(
            f"{place}: mean is {arm.mean:g}, and {SAMPLE} rewards average {average:.4g}; allowed: "
            f"the exact mean"
        )


def _compiles(function: Dispatcher, place: str) -> bool:
    """Return whether a function of the generator compiles; where it does not, say so."""
    try:
        function.compile((numba.typeof(np.random.default_rng()),))
    except NumbaError as error:
        reason = reason_of("its function", str(error))
        print(f"{place}: does not compile and is drawn in plain Python ({reason})", file=sys.stderr)
        return False
    return True


def replay(rewards: Sequence[ArrayLike]) -> CustomBandit:
    """Return arms that pay recorded rewards: the n-th pull of an arm pays the n-th of its row.

    After the last one an arm begins again with the first. All runs meet the same rewards; regret is
    measured by the mean of each row.

    Args:
        rewards: one row an arm, each of one reward or more from 0 to 1; lengths may differ.

    Raises:
        InputError: there are fewer than two rows, or something else than rewards in one.

    Example:
        >>> import dpbandits
        >>> recorded = dpbandits.replay([[1, 0, 1], [0, 0, 1, 0]])
        >>> recorded.means.round(2)
        array([0.67, 0.25])
    """
    rows = [_numbers(f"replay: row {number}", row) for number, row in enumerate(rewards)]
    made: list[Any] = [RecordedArm(row) for row in rows]
    return CustomBandit(tuple(made))


def _numbers(name: str, values: object) -> Floats:
    """Return rewards, or their means, as an array; InputError where they are none."""
    try:
        numbers = np.array(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        numbers = np.empty(0)
    if numbers.ndim != 1 or not numbers.size:
        raise InputError(f"{name} is no list of numbers; allowed: numbers from 0 to 1")
    return require_rewards(name, numbers)
