"""Checks of user-defined algorithms; those of the registry are trusted.

Every batch of segments or trials is checked before the engine records it: a fault is one line that
names the algorithm, the round and the value, and nothing of it reaches the cache. What takes longer
is left to ``check_algorithm``, in the manner of scikit-learn's ``check_estimator``.
"""

import itertools
import math
import random
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpbandits.algorithms import REGISTRY, Definition, find_definition
from dpbandits.algorithms.base import (
    Algorithm,
    IdentificationAlgorithm,
    Outcome,
    Segment,
    Task,
)
from dpbandits.algorithms.guarantees import stated_guarantee
from dpbandits.bandits import Bandit, bernoulli, linear, truncated_exponential, uniform
from dpbandits.engine.progress import progress
from dpbandits.errors import InputError, user_code
from dpbandits.kernels import UNIFORM, UNWRITTEN, Arms, Segments, first_fault, new_segments

MOST_PULLS = 2**53
"""Pulls up to which a sum of pulls is exact as a float."""


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
    """Return the settings of the kernel.

    Raises:
        InputError: those of a user-defined algorithm fail, or have another horizon.
    """
    if not is_user_defined(definition):
        return definition.settings(horizon, arms, **vars(parameters), **interpretations)
    place = place_of(definition.id)
    with user_code(place, "settings"):
        settings = definition.settings(horizon, arms, **vars(parameters), **interpretations)
    found = getattr(settings, "horizon", None)
    if found is None or found != horizon:
        raise InputError(f"{place}: horizon of the settings is {found!r}; allowed: {horizon}")
    return settings


def require_task(definition: IdentificationAlgorithm, task: Task) -> None:
    """Raise InputError where the budget is too small, or where the user's code fails."""
    with user_code(place_of(definition.id), "require"):
        definition.require(task)


def checked(definition: Definition, bandit: Bandit, horizon: int) -> Definition:
    """Return the algorithm as the engine plays it: checked, unless it is in the registry.

    Args:
        definition: the algorithm.
        bandit: the instance.
        horizon: number of rounds, or the budget.
    """
    # Custom arms put their rewards in the place of the laws.
    on_table = getattr(bandit, "on_custom_arms", None)
    played = definition if on_table is None else on_table(definition, horizon)
    return _with_checks(played, bandit, horizon) if is_user_defined(definition) else played


def _with_checks(definition: Definition, bandit: Bandit, horizon: int) -> Any:
    """Return the algorithm with checks of all that it returns."""
    if isinstance(definition, IdentificationAlgorithm):
        return replace(definition, play=partial(_checked_play, definition))
    assert isinstance(definition, Algorithm)
    largest = np.array([float(arm.largest) for arm in bandit.arms])
    return replace(
        definition,
        state=partial(_checked_state, definition),
        advance=partial(_checked_advance, definition, horizon, largest),
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
        segment = (int(out.arms[n]), int(out.lengths[n]), float(out.sums[n]))
        fault = _fault_of(segment, horizon - end, largest)
        raise InputError(f"{place_of(algorithm.id, end + 1)}: {fault}")
    if state.clock[0] != end:
        raise InputError(
            f"{place}: clock is {state.clock[0]} after the batch; allowed: {end}, the rounds of "
            f"its segments counted"
        )
    return int(count)


def _fault_of(segment: Segment, left: int, largest: NDArray[np.float64]) -> str:
    """Return the description of the fault of a segment before which ``left`` rounds are left."""
    arm, length, rewards = segment
    if arm == UNWRITTEN:
        return "a segment that advance counts is not written"
    if not UNIFORM <= arm < largest.size:
        return f"arm is {arm}; allowed: 0 to {largest.size - 1}"
    if not 1 <= length <= left:
        return f"length is {length}; allowed: 1 to {left}, up to the horizon"
    bound = length * (largest.max() if arm == UNIFORM else largest[arm])
    rounds = "1 round" if length == 1 else f"{length} rounds"
    return f"sum of rewards is {rewards!r}; allowed: 0 to {bound:g} for {rounds} of arm {arm}"


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
    subjects: list[_Subject] = []

    def valid() -> None:
        subjects.append(_subject(definition, given, interpretations or {}, variant))

    checks = [_result("parameters and guarantee are valid", valid)]
    if subjects:
        identifies = isinstance(definition, IdentificationAlgorithm)
        chosen = TRIAL_CHECKS if identifies else KERNEL_CHECKS
        for name, function in progress(chosen.items(), len(chosen), f"checking {definition.id}"):
            checks.append(_check(name, function, subjects[0]))
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


def _check(name: str, function: Callable[["_Subject"], None], subject: "_Subject") -> Check:
    """Return the result of a check; one that needs a reference is skipped where there is none."""
    if "reference" not in name:
        return _result(name, lambda: function(subject))
    if not callable(getattr(subject.definition, "reference", None)):
        return Check(name, SKIPPED, "there is no reference")
    result = _result(name, lambda: function(subject))
    if ": reference raises NotImplementedError" in result.detail:
        return Check(name, SKIPPED, "the reference is not implemented")
    return result


def _result(name: str, function: Callable[[], None]) -> Check:
    try:
        function()
    except InputError as error:
        return Check(name, FAILED, str(error))
    return Check(name, PASSED)


SEEDS = range(100)
HORIZON = 500
BUDGET = 500
INSTANCES = (
    bernoulli([0.75, 0.5, 0.25]),
    truncated_exponential([2.0, 0.5]),
    uniform([0.4, 1.0, 0.2, 0.8, 0.6]),
)
LINEAR = tuple(
    linear(list(order), [0.5, 0.3])
    for order in itertools.permutations([[1.0, 0.0], [0.0, 1.0], [0.6, 0.6]])
)
"""The same arms in every order."""

GUARD = 64
"""Entries before and after the buffers of a kernel, in which a stray write is noticed."""


@dataclass(frozen=True)
class _Subject:
    """What is checked: an algorithm with its parameters and all of its interpretations."""

    definition: Any
    parameters: Any
    interpretations: dict[str, str]

    @property
    def place(self) -> str:
        """What error messages begin with."""
        return place_of(self.definition.id)

    def settings(self, horizon: int, bandit: Bandit) -> Any:
        """Return the settings of the kernel."""
        arms = len(bandit.arms)
        return settings_of(self.definition, self.parameters, self.interpretations, horizon, arms)

    def task(self, budget: int, bandit: Any) -> Task:
        """Return what an identification algorithm is asked; InputError where it is rejected."""
        task = Task(self.parameters, self.interpretations, bandit, budget)
        require_task(self.definition, task)
        return task


def _subject(
    definition: Definition,
    params: Mapping[str, Any],
    interpretations: Mapping[str, str],
    variant: str,
) -> _Subject:
    """Return what is checked; InputError where its parameters or its guarantee are not valid."""
    parameters = definition.parameters_from(params)
    values = definition.interpretations_from(interpretations, definition.require_variant(variant))
    stated_guarantee(definition, parameters, 100)
    if isinstance(definition, Algorithm) and not callable(definition.advance):
        given = definition.advance
        raise InputError(f"{place_of(definition.id)}: advance is {given!r}; allowed: a function")
    return _Subject(definition, parameters, values)


def _run(
    subject: _Subject, bandit: Bandit, seed: int, *, horizon: int = HORIZON, size: int = HORIZON
) -> list[Segment]:
    """Return the segments of one run with buffers of ``size`` entries; every batch is checked."""
    settings = subject.settings(horizon, bandit)
    player = _with_checks(subject.definition, bandit, horizon)
    state, generator = player.state(len(bandit.arms)), np.random.default_rng(seed)
    memory = new_segments(size + 2 * GUARD)
    for array in memory:
        array[:] = UNWRITTEN
    inside = slice(GUARD, -GUARD)
    out = Segments(memory.arms[inside], memory.lengths[inside], memory.sums[inside])
    segments: list[Segment] = []
    while state.clock[0] < horizon:
        written = player.advance(settings, state, bandit.arrays, generator, out)
        segments += zip(*(array[:written].tolist() for array in out), strict=True)
        for array in memory:
            if (array[:GUARD] != UNWRITTEN).any() or (array[-GUARD:] != UNWRITTEN).any():
                raise InputError(
                    f"{subject.place}: advance writes outside its buffers of {size} entries"
                )
    return segments


def _reference(subject: _Subject, bandit: Bandit, seed: int) -> list[Segment]:
    """Return the segments of the reference, up to the first that passes the horizon."""
    settings, generator = subject.settings(HORIZON, bandit), np.random.default_rng(seed)
    segments: list[Segment] = []
    rounds = 0
    with user_code(subject.place, "reference"):
        for arm, length, rewards in subject.definition.reference(settings, bandit, generator):
            segments.append((int(arm), int(length), float(rewards)))
            rounds += length
            if rounds > HORIZON or length < 1:
                break
    return segments


def _joined(segments: Iterable[Segment]) -> list[Segment]:
    """Return the segments with neighbours of one arm put together."""
    joined: list[Segment] = []
    for arm, length, rewards in segments:
        if joined and joined[-1][0] == arm:
            arm, rounds, total = joined.pop()
            length, rewards = rounds + length, total + rewards
        joined.append((arm, length, rewards))
    return joined


def _require_same(
    place: str, names: tuple[str, str], one: Sequence[Segment], other: Sequence[Segment]
) -> None:
    """Raise InputError unless two runs play the same arms and receive the same rewards.

    Args:
        place: what the line begins with.
        names: what the two runs are called.
        one: segments of the first run.
        other: segments of the second run.
    """
    begin = 0
    nothing = (None, 0, math.nan)
    pairs = itertools.zip_longest(_joined(one), _joined(other), fillvalue=nothing)
    for first, second in pairs:
        same = first[:2] == second[:2]
        if not same or not math.isclose(first[2], second[2], rel_tol=1e-9, abs_tol=1e-9):
            rounds = 0 if same or first[0] != second[0] else min(first[1], second[1])
            raise InputError(
                f"{place}, round {begin + 1 + rounds}: {names[0]} {_described(first)}, {names[1]} "
                f"{_described(second)}"
            )
        begin += first[1]


def _described(segment: Any) -> str:
    arm, length, rewards = segment
    if arm is None:
        return "has ended"
    rounds = "1 round" if length == 1 else f"{length} rounds"
    return f"plays arm {arm} for {rounds} and receives {rewards:.6g}"


AGAIN = (1, 1, 2, 1)
"""Seeds of runs; a run is compared with the first one of its seed, also after another one."""


def _check_play(subject: _Subject) -> None:
    names = ("a run", "the same run when played again")
    for bandit in INSTANCES:
        with refuse_hidden_randomness(subject.place):
            runs = [(seed, _run(subject, bandit, seed)) for seed in AGAIN]
        for seed, run in runs:
            if seed == AGAIN[0]:
                _require_same(subject.place, names, runs[0][1], run)


def _check_reference(subject: _Subject) -> None:
    for seed in SEEDS:
        bandit = INSTANCES[seed % len(INSTANCES)]
        place = f"{subject.place}, seed {seed}"
        kernel, reference = _run(subject, bandit, seed), _reference(subject, bandit, seed)
        _require_same(place, ("the kernel", "the reference"), kernel, reference)


def _check_buffers(subject: _Subject) -> None:
    for bandit, size in itertools.product(INSTANCES, (1, 2, 7)):
        names = ("with large buffers it", f"with buffers of {size} it")
        large, small = _run(subject, bandit, 3), _run(subject, bandit, 3, size=size)
        _require_same(subject.place, names, large, small)


def _is_rejected(function: Callable[[], object]) -> bool:
    """Return whether a horizon or budget is rejected; InputError where the function fails."""
    try:
        function()
    except InputError as error:
        if error.__cause__ is not None:
            raise
        return True
    return False


def _check_horizons(subject: _Subject) -> None:
    bandit = INSTANCES[-1]
    for horizon in (1, 2, len(bandit.arms) - 1):
        if not _is_rejected(partial(subject.settings, horizon, bandit)):
            _run(subject, bandit, 4, horizon=horizon)


def _check_orders(subject: _Subject) -> None:
    """Play arms of certain rewards in every order; each has to pay what its law pays."""
    for means in itertools.permutations((1.0, 0.0, 1.0, 0.0), 3):
        begin = 0
        for arm, length, rewards in _run(subject, bernoulli(means), 5):
            if arm != UNIFORM and rewards != means[arm] * length:
                raise InputError(
                    f"{place_of(subject.definition.id, begin + 1)}: sum of rewards of arm {arm} is "
                    f"{rewards:g}; allowed: {means[arm] * length:g} where the means are {means}"
                )
            begin += length


def _answers(subject: _Subject, bandit: Any, seed: int, trials: int) -> list[tuple[Any, Any]]:
    """Return the arm that each trial recommends, and its pulls; they are checked."""
    player, task = _with_checks(subject.definition, bandit, BUDGET), subject.task(BUDGET, bandit)
    outcome = player.play(task, np.random.default_rng(seed), trials)
    return [*zip(outcome.recommended.tolist(), outcome.pulls.tolist(), strict=True)]


def _require_same_answers(
    place: str, names: tuple[str, str], one: tuple[Any, Any], other: tuple[Any, Any]
) -> None:
    """Raise InputError unless two trials end in the same arm after the same pulls."""
    if one != other:
        raise InputError(
            f"{place}: {names[0]} recommends arm {one[0]} after pulls {one[1]}, {names[1]} arm "
            f"{other[0]} after {other[1]}"
        )


def _check_trials(subject: _Subject) -> None:
    names = ("play", "play when called again")
    for (seed, bandit), trials in itertools.product(enumerate(LINEAR), (1, 7, 100)):
        with refuse_hidden_randomness(subject.place):
            batches = [_answers(subject, bandit, seed, trials) for _ in range(2)]
        for trial, (one, other) in enumerate(zip(*batches, strict=True)):
            _require_same_answers(f"{subject.place}, trial {trial}", names, one, other)


def _check_trial_reference(subject: _Subject) -> None:
    for seed in SEEDS:
        bandit = LINEAR[seed % len(LINEAR)]
        [answer] = _answers(subject, bandit, seed, 1)
        with user_code(subject.place, "reference"):
            task = subject.task(BUDGET, bandit)
            trial = subject.definition.reference(task, np.random.default_rng(seed))
            expected = trial.recommended, trial.pulls(len(bandit.arms)).tolist()
        names = ("play", "the reference")
        _require_same_answers(f"{subject.place}, seed {seed}", names, answer, expected)


def _check_budgets(subject: _Subject) -> None:
    bandit = LINEAR[0]
    player = _with_checks(subject.definition, bandit, BUDGET)
    for budget in (1, 2, len(bandit.arms) - 1):
        if not _is_rejected(partial(subject.task, budget, bandit)):
            player.play(subject.task(budget, bandit), np.random.default_rng(4), 3)


KERNEL_CHECKS: dict[str, Callable[[_Subject], None]] = {
    "batches are valid and the same when played again": _check_play,
    f"kernel and reference agree on {len(SEEDS)} seeds": _check_reference,
    "small buffers give the same run": _check_buffers,
    "horizons 1, 2 and K - 1 are played or rejected": _check_horizons,
    "arms in any order pay by their own laws": _check_orders,
}
"""Name -> the check, which raises InputError on failure."""

TRIAL_CHECKS: dict[str, Callable[[_Subject], None]] = {
    "trials are valid and the same when played again, for arms in any order": _check_trials,
    f"trials and reference agree on {len(SEEDS)} seeds": _check_trial_reference,
    "budgets 1, 2 and K - 1 are played or rejected": _check_budgets,
}
