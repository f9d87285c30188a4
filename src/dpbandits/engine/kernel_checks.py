"""Checks of a regret algorithm: kernel against reference, buffers, horizons, orders of the arms."""

import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpbandits.algorithms.base import Algorithm, Definition, Segment
from dpbandits.bandits import Bandit, bernoulli, truncated_exponential, uniform
from dpbandits.engine.checked import settings_of
from dpbandits.engine.checked_kernel import CheckedKernel, CheckedStates, new_buffers
from dpbandits.engine.hidden_randomness import refuse_hidden_randomness
from dpbandits.engine.user_code import place_of, user_code
from dpbandits.errors import InputError
from dpbandits.kernels import UNIFORM, Segments

SEEDS = range(100)
HORIZON = 500
INSTANCES = (
    bernoulli([0.75, 0.5, 0.25]),
    truncated_exponential([2.0, 0.5]),
    uniform([0.4, 1.0, 0.2, 0.8, 0.6]),
)


@dataclass(frozen=True)
class Subject:
    """What is checked: an algorithm with its parameters and all of its interpretations."""

    definition: Definition
    parameters: Any
    interpretations: dict[str, str]

    @property
    def algorithm(self) -> Algorithm:
        """The algorithm, which is one for regret."""
        assert isinstance(self.definition, Algorithm)
        return self.definition

    def settings(self, horizon: int, bandit: Bandit) -> Any:
        """Return the arguments of the kernel."""
        arms = len(bandit.arms)
        return settings_of(self.algorithm, self.parameters, self.interpretations, horizon, arms)


def play(
    subject: Subject,
    bandit: Bandit,
    seed: int,
    *,
    horizon: int = HORIZON,
    size: int = HORIZON,
    twice: bool = False,
) -> list[Segment]:
    """Return the segments of one run, every batch of which is checked.

    Args:
        subject: what is played.
        bandit: the instance.
        seed: of the random stream.
        horizon: number of rounds.
        size: number of segments that the buffers take.
        twice: whether every batch is played twice.
    """
    settings = subject.settings(horizon, bandit)
    kernel = CheckedKernel(subject.algorithm, bandit, horizon, lambda: twice)
    state = CheckedStates(subject.algorithm)(len(bandit.arms))
    generator, buffers = np.random.default_rng(seed), new_buffers(size)
    segments: list[Segment] = []
    while state.clock[0] < horizon:
        written = kernel(settings, state, bandit.arrays, generator, Segments(*buffers))
        batch = buffers.cut(0, written)
        segments += zip(*(values.tolist() for values in batch), strict=True)
    return segments


def reference_of(
    subject: Subject, bandit: Bandit, seed: int, horizon: int = HORIZON
) -> list[Segment]:
    """Return the segments of the reference, up to the first that passes the horizon."""
    settings = subject.settings(horizon, bandit)
    segments: list[Segment] = []
    rounds = 0
    with user_code(place_of(subject.definition.id), "reference"):
        for arm, length, rewards in subject.algorithm.reference(
            settings, bandit, np.random.default_rng(seed)
        ):
            segments.append((int(arm), int(length), float(rewards)))
            rounds += length
            if rounds > horizon or length < 1:
                break
    return segments


def stretches(segments: Iterable[Segment]) -> list[Segment]:
    """Return the segments with neighbours of one arm put together."""
    joined: list[Segment] = []
    for arm, length, rewards in segments:
        if joined and joined[-1][0] == arm:
            arm, rounds, total = joined.pop()
            length, rewards = rounds + length, total + rewards
        joined.append((arm, length, rewards))
    return joined


def require_same(
    names: tuple[str, str], one: Sequence[Segment], other: Sequence[Segment], place: str
) -> None:
    """Raise InputError unless two runs play the same arms and receive the same rewards.

    Args:
        names: what the two runs are called.
        one: segments of the first run.
        other: segments of the second run.
        place: what the line begins with.
    """
    begin = 0
    nothing = (None, 0, math.nan)
    pairs = itertools.zip_longest(stretches(one), stretches(other), fillvalue=nothing)
    for first, second in pairs:
        same = first[:2] == second[:2]
        if not same or not math.isclose(first[2], second[2], rel_tol=1e-9, abs_tol=1e-9):
            rounds = 0 if first[0] != second[0] else min(first[1], second[1])
            number = begin + 1 + (0 if same else rounds)
            raise InputError(
                f"{place}, round {number}: {names[0]} {_described(first)}, {names[1]} "
                f"{_described(second)}"
            )
        begin += first[1]


def _described(stretch: Any) -> str:
    arm, length, rewards = stretch
    if arm is None:
        return "has ended"
    rounds = "1 round" if length == 1 else f"{length} rounds"
    return f"plays arm {arm} for {rounds} and receives {rewards:.6g}"


def check_play(subject: Subject) -> None:
    """Play runs twice, batch by batch and as a whole; InputError where they differ."""
    place = place_of(subject.definition.id)
    for bandit in INSTANCES:
        with refuse_hidden_randomness(place):
            first = play(subject, bandit, 1, twice=True)
        play(subject, bandit, 2)
        require_same(("a run", "the same run later"), first, play(subject, bandit, 1), place)


def check_reference(subject: Subject) -> None:
    """Compare kernel and reference on every seed."""
    for seed in SEEDS:
        bandit = INSTANCES[seed % len(INSTANCES)]
        place = f"{place_of(subject.definition.id)}, seed {seed}"
        kernel, reference = play(subject, bandit, seed), reference_of(subject, bandit, seed)
        require_same(("the kernel", "the reference"), kernel, reference, place)


def check_buffers(subject: Subject) -> None:
    """Compare runs with buffers of 1, 2 and 7 segments with a run whose buffers are large."""
    for bandit, size in itertools.product(INSTANCES, (1, 2, 7)):
        place = place_of(subject.definition.id)
        names = ("with large buffers it", f"with buffers of {size} it")
        large = play(subject, bandit, 3)
        require_same(names, large, play(subject, bandit, 3, size=size), place)


def check_horizons(subject: Subject) -> None:
    """Play horizons of 1, 2 and K - 1 rounds, unless the settings reject them."""
    bandit = INSTANCES[-1]
    for horizon in (1, 2, len(bandit.arms) - 1):
        try:
            subject.settings(horizon, bandit)
        except InputError as error:
            if error.__cause__ is not None:
                raise
            continue
        play(subject, bandit, 4, horizon=horizon, twice=True)


def check_orders(subject: Subject) -> None:
    """Play arms of certain rewards in every order; each has to pay what its law pays."""
    for means in itertools.permutations((1.0, 0.0, 1.0, 0.0), 3):
        begin = 0
        for arm, length, rewards in play(subject, bernoulli(means), 5):
            if arm != UNIFORM and rewards != means[arm] * length:
                raise InputError(
                    f"{place_of(subject.definition.id, begin + 1)}: sum of rewards of arm {arm} is "
                    f"{rewards:g}; allowed: {means[arm] * length:g} where the means are {means}"
                )
            begin += length


KERNEL_CHECKS: dict[str, Callable[[Subject], None]] = {
    "batches are valid and the same when played again": check_play,
    f"kernel and reference agree on {len(SEEDS)} seeds": check_reference,
    "small buffers give the same run": check_buffers,
    "horizons 1, 2 and K - 1 are played or rejected": check_horizons,
    "arms in any order pay by their own laws": check_orders,
}
"""Name -> the check, which raises InputError on failure."""
