"""The rounds of a policy: one loop, played by compiled methods or by plain ones."""

from typing import Any

import numpy as np
from numba import types
from numba.extending import overload

from dpbandits.bandits.draws import pull
from dpbandits.errors import InputError
from dpbandits.kernels import write


class ArmError(InputError):
    """A policy chooses something that is no arm; compiled code can raise it."""

    def __init__(self, name: str, number: int, chosen: object, arms: int) -> None:
        """Keep the message.

        Args:
            name: id of the algorithm.
            number: of the round, from 1.
            chosen: what ``choose`` has returned.
            arms: number of arms K.
        """
        super().__init__(
            f"algorithm {name}, round {number}: choose returns {chosen!r}; allowed: an arm, an "
            f"integer from 0 to {arms - 1}"
        )

    def __reduce__(self) -> Any:
        """Arrive from a worker process as the same line."""
        return InputError, self.args


def is_arm(chosen: Any, arms: int) -> bool:
    """Return whether something is the number of an arm."""
    is_integer = isinstance(chosen, int | np.integer) and not isinstance(chosen, bool)
    return is_integer and 0 <= chosen < arms


@overload(is_arm, inline="always")
def _compiled_is_arm(chosen, arms):  # type: ignore[no-untyped-def]
    if isinstance(chosen, types.Integer):
        return lambda chosen, arms: 0 <= chosen < arms
    return None


def no_update(self, arm, reward, counts, sums, rng):  # type: ignore[no-untyped-def]
    """Do nothing, for a policy without ``update``."""


def rounds(name, me, choose, update, horizon, state, arms, rng, out):  # type: ignore[no-untyped-def]
    """Play rounds until the horizon or until ``out`` is full, and return how many are written.

    Args:
        name: id of the algorithm.
        me: what ``choose`` and ``update`` have as their ``self``.
        choose: (me, rounds played, counts, sums of rewards, rng) -> arm.
        update: (me, arm, reward, counts, sums of rewards, rng), these with the present round.
        horizon: number of rounds T.
        state: arrays ``clock``, ``counts`` and ``sums``, and others that are not touched.
        arms: the laws of the arms.
        rng: random stream of the run.
        out: receives a segment for every round.
    """
    counts, reward_sums = state.counts, state.sums
    t = int(state.clock[0])
    written = 0
    while t < horizon and written < out.arms.size:
        arm = choose(me, t, counts, reward_sums, rng)
        if not is_arm(arm, counts.size):
            raise ArmError(name, t + 1, arm, counts.size)
        reward = pull(arms, arm, rng)
        counts[arm] += 1
        reward_sums[arm] += reward
        update(me, arm, reward, counts, reward_sums, rng)
        written = write(out, written, arm, 1, reward)
        t += 1
    state.clock[0] = t
    return written
