"""The kernel of a user-defined algorithm, with checks around every call."""

from collections.abc import Callable, Iterator
from copy import deepcopy
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dpbandits.algorithms.base import Algorithm
from dpbandits.bandits import Bandit
from dpbandits.engine.segments import UNWRITTEN, find_fault
from dpbandits.engine.user_code import place_of, user_code
from dpbandits.errors import InputError
from dpbandits.kernels import Arms, Segments

GUARD = 64
"""Entries before and after the buffers of a kernel, in which a stray write is noticed."""

UNTOUCHED = -1.2345e300
"""Sum of rewards in every entry that the kernel has not written."""


class Buffers(NamedTuple):
    """What a kernel writes to: arms, lengths and sums of rewards."""

    arms: NDArray[np.int64]
    lengths: NDArray[np.int64]
    sums: NDArray[np.float64]

    def cut(self, first: int, last: int) -> "Buffers":
        """Return the entries from ``first`` up to, not including, ``last``."""
        return Buffers(self.arms[first:last], self.lengths[first:last], self.sums[first:last])

    def clear(self) -> None:
        """Mark every entry as not written."""
        self.arms[:], self.lengths[:], self.sums[:] = UNWRITTEN, UNWRITTEN, UNTOUCHED

    def is_clear(self) -> bool:
        """Return whether no entry is written."""
        integers = np.concatenate([self.arms, self.lengths])
        return bool((integers == UNWRITTEN).all() and (self.sums == UNTOUCHED).all())


def new_buffers(size: int) -> Buffers:
    """Return buffers of ``size`` entries."""
    return Buffers(np.empty(size, np.int64), np.empty(size, np.int64), np.empty(size))


class CheckedStates:
    """The function ``state`` of an algorithm; every state is checked and is a new one."""

    def __init__(self, algorithm: Algorithm) -> None:
        """Keep the algorithm."""
        self._algorithm = algorithm
        self._last: dict[str, NDArray[Any]] = {}

    def __call__(self, arms: int) -> Any:
        """Return the state before round 1; InputError where it is no such state."""
        place = place_of(self._algorithm.id)
        with user_code(place, "state"):
            state = self._algorithm.state(arms)
        if not hasattr(state, "_asdict"):
            raise InputError(f"{place}: state is {state!r}; allowed: a NamedTuple of arrays")
        arrays = dict(_arrays_in(place, "", state))
        clock = arrays.get("clock")
        if clock is None or clock.shape != (1,) or clock.dtype.kind != "i" or clock[0] != 0:
            raise InputError(
                f"{place}: clock of a new state is {clock!r}; allowed: one integer, which is 0"
            )
        for name, array in arrays.items():
            if name in self._last and np.may_share_memory(array, self._last[name]):
                raise InputError(
                    f"{place}: two states have the array {name} in common; allowed: a new one each"
                )
        self._last = arrays
        return state


def _arrays_in(place: str, prefix: str, part: Any) -> Iterator[tuple[str, NDArray[Any]]]:
    """Yield every array of a NamedTuple with its name; InputError on anything else."""
    for name, value in part._asdict().items():
        if isinstance(value, np.ndarray):
            yield prefix + name, value
        elif hasattr(value, "_asdict"):
            yield from _arrays_in(place, f"{prefix}{name}.", value)
        else:
            kind = type(value).__name__
            raise InputError(f"{place}: {prefix}{name} of the state is {kind}; allowed: an array")


class CheckedKernel:
    """A kernel whose segments are checked before the engine takes them."""

    def __init__(
        self, algorithm: Algorithm, bandit: Bandit, horizon: int, is_due: Callable[[], bool]
    ) -> None:
        """Keep the algorithm, the horizon and the laws.

        Args:
            algorithm: the algorithm.
            bandit: the instance.
            horizon: number of rounds.
            is_due: tells, batch after batch, whether it is played twice.
        """
        self._algorithm = algorithm
        self._horizon = horizon
        self._is_due = is_due
        self._laws = bandit.arrays
        self._largest = np.array([float(arm.largest) for arm in bandit.arms])
        self._memory = new_buffers(0)

    def __call__(
        self,
        settings: Any,
        state: Any,
        arms: Arms,
        generator: np.random.Generator,
        out: Segments,
    ) -> int:
        """Play a batch as the kernel does; InputError on the first fault."""
        begin = int(state.clock[0])
        twin = (deepcopy(state), deepcopy(generator)) if self._is_due() else None
        written = self._play(settings, state, generator, out.arms.size)
        batch = Buffers(*out).cut(0, len(written.arms))
        for target, source in zip(batch, written, strict=True):
            target[:] = source
        if twin is not None:
            again = self._play(settings, *twin, out.arms.size)
            self._require_equal(begin, (batch, state, generator), (again, *twin))
        return len(batch.arms)

    def _play(
        self, settings: Any, state: Any, generator: np.random.Generator, size: int
    ) -> Buffers:
        """Return the segments that the kernel has written, once they are checked."""
        begin = int(state.clock[0])
        place = place_of(self._algorithm.id, begin + 1)
        if self._memory.arms.size < size + 2 * GUARD:
            self._memory = new_buffers(size + 2 * GUARD)
        self._memory.clear()
        buffers = self._memory.cut(GUARD, GUARD + size)
        with user_code(place, "advance"):
            count = self._algorithm.advance(
                settings, state, self._laws, generator, Segments(*buffers)
            )
        guards = (self._memory.cut(0, GUARD), self._memory.cut(GUARD + size, size + 2 * GUARD))
        if not all(guard.is_clear() for guard in guards):
            raise InputError(f"{place}: advance writes outside its buffers of {size} entries")
        if isinstance(count, bool) or not isinstance(count, int | np.integer):
            raise InputError(f"{place}: advance returns {count!r}; allowed: 1 to {size} segments")
        if not 1 <= count <= size:
            raise InputError(f"{place}: advance returns {count}; allowed: 1 to {size} segments")
        written = buffers.cut(0, int(count))
        self._require_segments(written, begin, state)
        return written

    def _require_segments(self, written: Buffers, begin: int, state: Any) -> None:
        """Raise InputError where a segment is faulty, or the clock is not moved by the segments."""
        name = self._algorithm.id
        found = find_fault(*written, (begin, self._horizon), self._largest)
        if found is not None:
            raise InputError(f"{place_of(name, found[0])}: {found[1]}")
        clock, end = state.clock[0], begin + int(written.lengths.sum())
        if clock != end:
            raise InputError(
                f"{place_of(name, begin + 1)}: clock is {clock} after the batch; allowed: {end}, "
                f"the rounds of its segments counted"
            )

    def _require_equal(
        self,
        begin: int,
        first: tuple[Buffers, Any, np.random.Generator],
        second: tuple[Buffers, Any, np.random.Generator],
    ) -> None:
        """Raise InputError unless a batch played twice came out the same."""
        allowed = "allowed: randomness from the generator and memory in the state alone"
        name, size = self._algorithm.id, min(len(first[0].arms), len(second[0].arms))
        one, other = first[0].cut(0, size), second[0].cut(0, size)
        differs = np.any([a != b for a, b in zip(one, other, strict=True)], axis=0)
        if differs.any():
            at = int(differs.argmax())
            number = begin + int(one.lengths[:at].sum()) + 1
            values = [tuple(each[at].item() for each in batch) for batch in (one, other)]
            raise InputError(
                f"{place_of(name, number)}: (arm, length, sum) is {values[0]}, and {values[1]} "
                f"when played again; {allowed}"
            )
        if _contents(*first) != _contents(*second):
            raise InputError(
                f"{place_of(name, begin + 1)}: the state after the batch differs when it is played "
                f"again; {allowed}"
            )


def _contents(batch: Buffers, state: Any, generator: np.random.Generator) -> Any:
    """Return what has to be the same when a batch is played again."""
    arrays = [(name, array.tobytes()) for name, array in _arrays_in("", "", state)]
    return len(batch.arms), arrays, generator.bit_generator.state
