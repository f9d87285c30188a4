"""Checks of user-defined algorithms; those of the registry are trusted.

Every batch of segments or trials is checked before the engine records it: a fault is one line that
names the algorithm, the round and the value, and nothing of it reaches the cache. What takes longer
is left to ``check_algorithm``, in the manner of scikit-learn's ``check_estimator``.
"""

import math
import random
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from itertools import groupby, permutations, product, zip_longest
from operator import itemgetter
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dpbandits.algorithms import REGISTRY, Definition, find_definition
from dpbandits.algorithms.base import Algorithm, IdentificationAlgorithm, Outcome, Segment, Task
from dpbandits.algorithms.guarantees import stated_guarantee
from dpbandits.bandits import Bandit, bernoulli, linear, truncated_exponential, uniform
from dpbandits.engine.progress import progress
from dpbandits.errors import InputError, user_code
from dpbandits.kernels import UNIFORM, Arms, Segments, first_fault, new_segments

MOST_PULLS = 2**53
"""Pulls up to which a sum of pulls is exact as a float."""

UNWRITTEN = -(2**62)
"""In buffers that nothing has been written to."""


def is_user_defined(definition: Definition) -> bool:
    """Return whether an algorithm is outside the registry."""
    return REGISTRY.get(definition.id) is not definition


def place_of(algorithm: str, number: int | None = None) -> str:
    """Return how messages name an algorithm, and a round of it."""
    return f"algorithm {algorithm}" + ("" if number is None else f", round {number}")


def settings_of(
    definition: Algorithm,
    parameters: Any,
    interpretations: Mapping[str, str],
    horizon: int,
    arms: int,
) -> Any:
    """Return the settings of the kernel; InputError where the user's fail, or have a fault."""
    if not is_user_defined(definition):
        return definition.settings(horizon, arms, **vars(parameters), **interpretations)
    place = place_of(definition.id)
    with user_code(place, "settings"):
        settings = definition.settings(horizon, arms, **vars(parameters), **interpretations)
    given = getattr(settings, "horizon", None)
    if given is None or given != horizon:
        raise InputError(f"{place}: horizon of the settings is {given!r}; allowed: {horizon}")
    return settings


def require_task(definition: IdentificationAlgorithm, task: Task) -> None:
    """Raise InputError where the budget is too small, or where the user's code fails."""
    with user_code(place_of(definition.id), "require"):
        definition.require(task)


def checked(definition: Definition, bandit: Bandit, horizon: int) -> Any:
    """Return the algorithm as the engine plays it: checked, unless it is in the registry."""
    # Custom arms put their rewards in the place of the laws.
    on_table = getattr(bandit, "on_custom_arms", None)
    played: Any = definition if on_table is None else on_table(definition, horizon)
    if not is_user_defined(definition):
        return played
    if isinstance(definition, IdentificationAlgorithm):
        return replace(definition, play=partial(_checked_play, definition))
    largest = np.array([float(arm.largest) for arm in bandit.arms])
    return replace(
        played,
        state=partial(_checked_state, played),
        advance=partial(_checked_advance, played, horizon, largest),
    )


def _checked_state(algorithm: Algorithm, arms: int) -> Any:
    """Return the state before round 1, in arrays that no other run has."""
    place = place_of(algorithm.id)
    with user_code(place, "state"):
        state = deepcopy(algorithm.state(arms))
    clock = getattr(state, "clock", None)
    is_clock = isinstance(clock, np.ndarray) and clock.shape == (1,) and clock.dtype.kind == "i"
    if not isinstance(state, tuple) or not is_clock or clock[0] != 0:  # type: ignore[index]
        raise InputError(
            f"{place}: state is {state!r}; allowed: a NamedTuple of arrays whose clock is one "
            f"integer, which is 0"
        )
    return state


def _checked_advance(
    algorithm: Algorithm,
    horizon: int,
    largest: NDArray[np.float64],
    settings: Any,
    state: Any,
    arms: Arms,
    rng: np.random.Generator,
    out: Segments,
) -> int:
    """Play a batch as the kernel does; InputError on the first fault."""
    begin, size = int(state.clock[0]), out.arms.size
    place = place_of(algorithm.id, begin + 1)
    out.arms[:], out.lengths[:], out.sums[:] = UNWRITTEN, UNWRITTEN, math.nan
    with user_code(place, "advance"):
        count = algorithm.advance(settings, state, arms, rng, out)
    is_integer = isinstance(count, int | np.integer) and not isinstance(count, bool)
    if not is_integer or not 1 <= count <= size:
        raise InputError(f"{place}: advance returns {count!r}; allowed: 1 to {size} segments")
    n, end = first_fault(out, count, begin, horizon, largest)
    if n < count:
        arm, left = int(out.arms[n]), horizon - end
        most = largest[arm] if 0 <= arm < largest.size else largest.max()
        raise InputError(
            f"{place_of(algorithm.id, end + 1)}: segment is arm {arm}, length {out.lengths[n]}, "
            f"sum of rewards {out.sums[n]:g}; allowed: arm 0 to {largest.size - 1}, length 1 to "
            f"{left}, rewards 0 to {most:g} a round"
        )
    if state.clock[0] != end:
        raise InputError(
            f"{place}: clock is {state.clock[0]} after the batch; allowed: {end}, the rounds of "
            f"its segments counted"
        )
    return int(count)


def _checked_play(
    algorithm: IdentificationAlgorithm, task: Task, generator: np.random.Generator, trials: int
) -> Outcome:
    """Play a batch of trials; InputError on the first fault."""
    place, arms = place_of(algorithm.id), len(task.bandit.arms)
    with user_code(place, "play"):
        outcome = algorithm.play(task, generator, trials)
    if not isinstance(outcome, Outcome):
        raise InputError(f"{place}: play returns {type(outcome).__name__}; allowed: an Outcome")
    for name, kinds, shape, largest in (
        ("recommended", "iu", (trials,), arms - 1),
        ("pulls", "iu", (trials, arms), MOST_PULLS // arms),
        ("exact", "b", (trials,), 1),
    ):
        array = np.asarray(getattr(outcome, name))
        if array.dtype.kind not in kinds or array.shape != shape:
            allowed = "truth values" if kinds == "b" else "integers"
            raise InputError(
                f"{place}: {name} is {array.dtype} of shape {array.shape}; allowed: {allowed} of "
                f"shape {shape}"
            )
        bad = (array < 0) | (array > largest)
        if bad.any():
            trial, value = int(np.argwhere(bad)[0][0]), array[bad][0]
            raise InputError(f"{place}, trial {trial}: {name} is {value}; allowed: 0 to {largest}")
    return outcome


COMPILED = ("np.random, compiled", "random, compiled")


def _global_states() -> dict[str, Any]:
    """Return the states of the global generators of Python, numpy and compiled functions."""
    name, key, position, *rest = np.random.get_state(legacy=True)
    numpy = (name, np.asarray(key).tobytes(), position, *rest)
    states: dict[str, Any] = {"random": random.getstate(), "np.random": numpy}
    try:
        helpers: Any = import_module("numba._helperlib")
        pointers = (helpers.rnd_get_np_state_ptr(), helpers.rnd_get_py_state_ptr())
        return states | dict(zip(COMPILED, map(helpers.rnd_get_state, pointers), strict=True))
    except (ImportError, AttributeError):
        # Not every version of numba shows them.
        return states


def is_alone() -> bool:
    """Return whether no other thread runs."""
    return threading.active_count() == 1


@contextmanager
def refuse_hidden_randomness(place: str) -> Iterator[None]:
    """Raise InputError where what is done inside draws from a global generator.

    Where other threads run they may have drawn the numbers: then only the generators of compiled
    functions are compared, of which every thread has its own.

    Args:
        place: what the line begins with.
    """
    alone, before = is_alone(), _global_states()
    yield
    after = _global_states()
    for name, state in before.items():
        if after[name] != state and (alone or name in COMPILED):
            raise InputError(
                f"{place}: numbers are drawn from {name}; allowed: from the generator alone"
            )


PASSED, FAILED, SKIPPED = "passed", "failed", "skipped"


@dataclass(frozen=True)
class Check:
    """The result of one check.

    Attributes:
        name: what was checked.
        status: ``passed``, ``failed`` or ``skipped``.
        detail: what is wrong, or why it was skipped; empty where it passed.
    """

    name: str
    status: str
    detail: str = ""

    def __str__(self) -> str:
        """Return one line."""
        return f"{self.status}: {self.name}" + (f": {self.detail}" if self.detail else "")


def check_algorithm(
    algorithm: str | Definition,
    *,
    params: Mapping[str, Any] | None = None,
    interpretations: Mapping[str, str] | None = None,
    variant: str = "as-written",
    on_fail: str | None = "raise",
) -> list[Check]:
    """Return the result of every check of an algorithm.

    Kernel and reference are compared on 100 seeds, decision for decision. The same decisions are
    expected when a run is played again and with small buffers, beside which nothing may be written.
    Horizons of 1, 2 and K - 1 rounds and every order of the arms are played, and every batch of
    segments is checked. No number may be drawn from ``random`` or ``np.random``.

    Args:
        algorithm: an ``Algorithm`` or ``IdentificationAlgorithm`` of your own, or an id.
        params: its parameters; by default its ``example``.
        interpretations: named interpretations that depart from their defaults.
        variant: ``as-written``, ``as-coded`` or ``repaired``, where the algorithm has it.
        on_fail: ``raise`` an InputError with the first failure, or None for the list alone.

    Raises:
        InputError: a check failed.

    Example:
        >>> import dpbandits
        >>> {check.status for check in dpbandits.check_algorithm("ucb1")}
        {'passed'}
    """
    if on_fail not in ("raise", None):
        raise InputError(f"on_fail is {on_fail!r}; allowed: 'raise', None")
    definition = find_definition(algorithm)
    given = definition.example if params is None else params
    subject: Any = None

    def prepare() -> None:
        nonlocal subject
        subject = _subject(definition, given, interpretations or {}, variant)

    checks = [_result("parameters and guarantee are valid", prepare)]
    if subject is not None:
        identifies = isinstance(definition, IdentificationAlgorithm)
        chosen = TRIAL_CHECKS if identifies else KERNEL_CHECKS
        has_reference = callable(getattr(definition, "reference", None))
        for name, function in progress(chosen.items(), len(chosen), f"checking {definition.id}"):
            if function is _check_reference and not has_reference:
                checks.append(Check(name, SKIPPED, "there is no reference"))
            else:
                checks.append(_result(name, partial(function, subject)))
    failed = [check for check in checks if check.status == FAILED]
    if failed and on_fail == "raise":
        raise InputError(f"{failed[0].name}: {failed[0].detail} ({_summary(checks)})")
    return checks


def require_passed(checks: list[Check]) -> None:
    """Raise InputError where a check failed."""
    if any(check.status == FAILED for check in checks):
        raise InputError(_summary(checks))


def _summary(checks: list[Check]) -> str:
    failed = sum(check.status == FAILED for check in checks)
    return f"{failed} of {len(checks)} checks failed"


def _result(name: str, function: Callable[[], None]) -> Check:
    try:
        function()
    except InputError as error:
        if "reference raises NotImplementedError" in str(error):
            return Check(name, SKIPPED, "the reference is not implemented")
        return Check(name, FAILED, str(error))
    return Check(name, PASSED)


SEEDS = range(100)
LENGTH = 500
"""Horizon, or budget, of the runs that are compared."""

BANDITS = (
    bernoulli([0.75, 0.5, 0.25]),
    truncated_exponential([2.0, 0.5]),
    uniform([0.4, 1.0, 0.2, 0.8, 0.6]),
)
LINEAR = tuple(
    linear(list(order), [0.5, 0.3]) for order in permutations([[1.0, 0.0], [0.0, 1.0], [0.6, 0.6]])
)
"""The same arms in every order."""

GUARD = 64
"""Entries before and after the buffers of a kernel, in which a stray write is noticed."""


class Pulls(NamedTuple):
    """All consecutive pulls of an arm, from a round on."""

    round: int
    arm: int
    length: int
    rewards: float


class Answer(NamedTuple):
    """The arm that a trial recommends, and its pulls."""

    trial: int
    arm: int
    pulls: list[int]


def _joined(segments: Iterable[Segment]) -> list[Pulls]:
    """Return segments with neighbours of one arm put together."""
    begin, joined = 1, []
    for arm, neighbours in groupby(segments, itemgetter(0)):
        _, lengths, sums = zip(*neighbours, strict=True)
        joined.append(Pulls(begin, arm, sum(lengths), sum(sums)))
        begin += sum(lengths)
    return joined


@dataclass(frozen=True)
class _Kernel:
    """What is checked: an algorithm with its parameters and all of its interpretations."""

    definition: Any
    parameters: Any
    interpretations: dict[str, str]
    bandits: ClassVar[Sequence[Bandit]] = BANDITS

    @property
    def place(self) -> str:
        """What error messages begin with."""
        return place_of(self.definition.id)

    def prepared(self, bandit: Any, length: int) -> Any:
        """Return the settings of the kernel; InputError where the horizon is rejected."""
        arms = len(bandit.arms)
        return settings_of(self.definition, self.parameters, self.interpretations, length, arms)

    def run(
        self, bandit: Bandit, seed: int, length: int = LENGTH, size: int = LENGTH
    ) -> Sequence[Any]:
        """Return one run with buffers of ``size`` entries; every batch is checked."""
        # A copy is user-defined, and checked.
        settings = self.prepared(bandit, length)
        player = checked(replace(self.definition), bandit, length)
        state, generator = player.state(len(bandit.arms)), np.random.default_rng(seed)
        memory = new_segments(size + 2 * GUARD)
        for array in memory:
            array[:] = UNWRITTEN
        out: Any = Segments._make(array[GUARD:-GUARD] for array in memory)
        segments: list[Segment] = []
        while state.clock[0] < length:
            written = player.advance(settings, state, bandit.arrays, generator, out)
            segments += zip(*(array[:written].tolist() for array in out), strict=True)
            if any((np.delete(array, np.s_[GUARD:-GUARD]) != UNWRITTEN).any() for array in memory):
                raise InputError(f"{self.place}: advance writes outside its buffers of {size}")
        return _joined(segments)

    def reference(self, bandit: Any, seed: int) -> Sequence[Any]:
        """Return the run of the reference, up to the first segment that passes the horizon."""
        settings, generator = self.prepared(bandit, LENGTH), np.random.default_rng(seed)
        segments: list[Segment] = []
        rounds = 0
        for arm, length, rewards in self.definition.reference(settings, bandit, generator):
            segments.append((int(arm), int(length), float(rewards)))
            rounds += length
            if rounds > LENGTH or length < 1:
                break
        return _joined(segments)


class _Trials(_Kernel):
    """The same of an identification algorithm."""

    bandits: ClassVar[Sequence[Bandit]] = LINEAR

    def prepared(self, bandit: Any, length: int) -> Any:
        """Return what the algorithm is asked; InputError where the budget is rejected."""
        task = Task(self.parameters, self.interpretations, bandit, length)
        require_task(self.definition, task)
        return task

    def run(self, bandit: Bandit, seed: int, length: int = LENGTH, size: int = 1) -> Sequence[Any]:
        """Return ``size`` trials side by side, which are checked."""
        player = checked(replace(self.definition), bandit, length)
        task, generator = self.prepared(bandit, length), np.random.default_rng(seed)
        outcome = player.play(task, generator, size)
        arms, pulls = outcome.recommended.tolist(), outcome.pulls.tolist()
        return [*map(Answer, range(size), arms, pulls)]

    def reference(self, bandit: Any, seed: int) -> Sequence[Any]:
        """Return the trial of the reference."""
        task, generator = self.prepared(bandit, LENGTH), np.random.default_rng(seed)
        trial = self.definition.reference(task, generator)
        return [Answer(0, trial.recommended, trial.pulls(len(bandit.arms)).tolist())]


def _subject(
    definition: Definition,
    params: Mapping[str, Any],
    interpretations: Mapping[str, str],
    variant: str,
) -> _Kernel:
    """Return what is checked; InputError where its parameters or its guarantee are not valid."""
    parameters = definition.parameters_from(params)
    values = definition.interpretations_from(interpretations, definition.require_variant(variant))
    stated_guarantee(definition, parameters, 100)
    if isinstance(definition, IdentificationAlgorithm):
        return _Trials(definition, parameters, values)
    advance = definition.advance  # type: ignore[attr-defined]
    if not callable(advance):
        raise InputError(f"{place_of(definition.id)}: advance is {advance!r}; allowed: a function")
    return _Kernel(definition, parameters, values)


def _require_same(place: str, **runs: Sequence[Any]) -> None:
    """Raise InputError unless two runs, by name, have the same arms, pulls and rewards."""
    (name, one), (other_name, other) = runs.items()
    for first, second in zip_longest(one, other, fillvalue=("end", math.nan)):
        if first[:-1] != second[:-1] or not np.allclose(first[-1], second[-1], 1e-9, 1e-9):
            raise InputError(f"{place}: {name} has {first}, and {other_name} {second}")


def _check_again(subject: _Kernel) -> None:
    """Play runs of seeds 1, 1, 2, 1, of which the last one comes after another run."""
    for bandit in subject.bandits:
        for size in (LENGTH,) if type(subject) is _Kernel else (1, 7, 100):
            with refuse_hidden_randomness(subject.place):
                once, again, _, after = (
                    subject.run(bandit, seed, size=size) for seed in (1, 1, 2, 1)
                )
            _require_same(subject.place, played=once, again=again)
            _require_same(subject.place, played=once, again=after)


def _check_reference(subject: _Kernel) -> None:
    for seed in SEEDS:
        bandit = subject.bandits[seed % len(subject.bandits)]
        with user_code(subject.place, "reference"):
            reference = subject.reference(bandit, seed)
        place = f"{subject.place}, seed {seed}"
        _require_same(place, algorithm=subject.run(bandit, seed), reference=reference)


def _check_buffers(subject: _Kernel) -> None:
    for bandit, size in product(subject.bandits, (1, 2, 7)):
        large, small = subject.run(bandit, 3), subject.run(bandit, 3, size=size)
        place = f"{subject.place}, with buffers of {size}"
        _require_same(place, large=large, small=small)


def _check_short(subject: _Kernel) -> None:
    bandit = subject.bandits[-1]
    for length in (1, 2, len(bandit.arms) - 1):
        try:
            subject.prepared(bandit, length)
        except InputError as error:
            if error.__cause__ is not None:
                raise
        else:
            subject.run(bandit, 4, length)


def _check_orders(subject: _Kernel) -> None:
    """Play arms of certain rewards in every order; each has to pay what its law pays."""
    for means in permutations((1.0, 0.0, 1.0, 0.0), 3):
        for pulls in subject.run(bernoulli(means), 5):
            expected = means[pulls.arm] * pulls.length
            if pulls.arm != UNIFORM and pulls.rewards != expected:
                raise InputError(
                    f"{subject.place}: has {pulls} where the means are {means}; allowed: rewards "
                    f"of {expected:g}"
                )


Checks = dict[str, Callable[[Any], None]]
"""Name -> the check, which raises InputError on failure."""

KERNEL_CHECKS: Checks = {
    "batches are valid and the same when played again": _check_again,
    f"kernel and reference agree on {len(SEEDS)} seeds": _check_reference,
    "small buffers give the same run": _check_buffers,
    "horizons 1, 2 and K - 1 are played or rejected": _check_short,
    "arms in any order pay by their own laws": _check_orders,
}
TRIAL_CHECKS: Checks = {
    "trials are valid and the same when played again, for arms in any order": _check_again,
    f"trials and reference agree on {len(SEEDS)} seeds": _check_reference,
    "budgets 1, 2 and K - 1 are played or rejected": _check_short,
}
