"""``check_algorithm``: an algorithm against its reference and the rules that kernels keep.

It is what scikit-learn's ``check_estimator`` is there. Results do not depend on this file.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby, permutations, product, zip_longest
from operator import itemgetter
from typing import Any, ClassVar, NamedTuple

import numpy as np

from dpbandits.algorithms import Definition, find_definition
from dpbandits.algorithms.base import IdentificationAlgorithm, Segment
from dpbandits.algorithms.guarantees import stated_guarantee
from dpbandits.bandits import Bandit, bernoulli, linear, truncated_exponential, uniform
from dpbandits.engine.cells import prepared
from dpbandits.engine.progress import progress
from dpbandits.errors import InputError, user_code
from dpbandits.kernels import RANDOM_ARM, Segments, new_segments
from dpbandits.own.guard import UNWRITTEN, guarded, place_of, refuse_hidden_randomness
from dpbandits.own.policies import Reference

PASSED, FAILED, SKIPPED = "passed", "failed", "skipped"


@dataclass(frozen=True)
class Check:
    """The result of one check; ``detail`` says what is wrong, or why it was skipped."""

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

    Kernel and reference are compared on 100 seeds, decision for decision, or in law where a policy
    says so. A policy without a reference is compared with its own methods, uncompiled: that they
    are right is then left open, and said. The same decisions are expected when a run is played
    again and with small buffers, beside which nothing may be written. Horizons of 1, 2 and K - 1
    rounds and every order of the arms are played, and every batch of segments is checked. No
    number may be drawn from ``random`` or ``np.random``.

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
    valid = "parameters and guarantee are valid"
    try:
        subject = _subject(definition, given, interpretations or {}, variant)
    except InputError as error:
        checks = [Check(valid, FAILED, str(error))]
    else:
        chosen = progress([*_checks_of(subject)], f"checking {definition.id}")
        checks = [Check(valid, PASSED), *(_result(*named) for named in chosen)]
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


def _result(name: str, function: Callable[[], None] | str) -> Check:
    """Return the result of a check, or of one that is skipped with a reason."""
    if isinstance(function, str):
        return Check(name, SKIPPED, function)
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

DRAWS = 400
"""Runs of each that are compared in law."""

LAW_LEVEL = 1e-5
"""Level of each of the comparisons in law, of which there are 23."""

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
        return place_of(self.definition.id)

    def prepared(self, bandit: Any, length: int) -> Any:
        """Return settings or task; InputError where the horizon or budget is rejected."""
        chosen = self.parameters, self.interpretations
        return prepared(guarded(self.definition), *chosen, bandit, length)

    def run(
        self, bandit: Bandit, seed: int, length: int = LENGTH, size: int = LENGTH
    ) -> Sequence[Any]:
        """Return one run with buffers of ``size`` entries; every batch is checked."""
        settings, player = self.prepared(bandit, length), guarded(self.definition)
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

    def run(self, bandit: Bandit, seed: int, length: int = LENGTH, size: int = 1) -> Sequence[Any]:
        """Return ``size`` trials side by side, which are checked."""
        player = guarded(self.definition)
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


def _check_law(subject: _Kernel) -> None:
    """Compare the pulls of each arm and the sum of rewards, half-way and at the end."""
    from scipy.stats import ks_2samp

    for bandit in subject.bandits:
        arms = len(bandit.arms)
        played = [_numbers(subject.run(bandit, 2 * n), arms) for n in range(DRAWS)]
        with user_code(subject.place, "reference"):
            expected = [_numbers(subject.reference(bandit, 2 * n + 1), arms) for n in range(DRAWS)]
        columns = zip(np.transpose(played), np.transpose(expected), strict=True)
        for number, (one, other) in enumerate(columns):
            p_value = ks_2samp(one, other).pvalue
            if p_value < LAW_LEVEL:
                half, arm = divmod(number, arms)
                what = f"pulls of arm {arm}" if half < 2 else "rewards"
                raise InputError(
                    f"{subject.place}: {what} after {LENGTH if half else LENGTH // 2} rounds are "
                    f"{np.mean(one):.4g} in the mean, and {np.mean(other):.4g} of the reference "
                    f"(Kolmogorov-Smirnov test, p = {p_value:.1g})"
                )


def _numbers(run: Sequence[Any], arms: int) -> list[float]:
    """Return the pulls of each arm half-way and at the end, and the sum of rewards."""
    chosen = np.repeat([pulls.arm for pulls in run], [pulls.length for pulls in run])
    counts = [np.bincount(chosen[:t], minlength=arms) for t in (LENGTH // 2, LENGTH)]
    return [*np.concatenate(counts).tolist(), sum(pulls.rewards for pulls in run)]


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
            if pulls.arm != RANDOM_ARM and pulls.rewards != expected:
                raise InputError(
                    f"{subject.place}: has {pulls} where the means are {means}; allowed: rewards "
                    f"of {expected:g}"
                )


def _checks_of(subject: _Kernel) -> Iterator[tuple[str, Callable[[], None] | str]]:
    """Yield checks by name, which raise InputError on failure; or why one is skipped."""
    are_trials = isinstance(subject, _Trials)
    orders = ", for arms in any order" if are_trials else ""
    again = f"{'trials' if are_trials else 'batches'} are valid and the same when played again"
    yield again + orders, partial(_check_again, subject)
    agree = f"{'trials' if are_trials else 'kernel'} and reference agree on {len(SEEDS)} seeds"
    compared: Callable[[], None] | str = partial(_check_reference, subject)
    reference = getattr(subject.definition, "reference", None)
    if not callable(reference):
        compared = "there is no reference"
    elif isinstance(reference, Reference):
        uncompiled = replace(subject.definition, reference=Reference(reference.rule))
        itself = partial(_check_reference, replace(subject, definition=uncompiled))
        yield f"compiled or not, methods agree on {len(SEEDS)} seeds", itself
        if reference.other is None:
            compared = (
                "compared with itself: nothing is known of its correctness; allowed: the argument "
                "reference of dpbandits.policy, and dpbandits audit, which plays it against its "
                "guarantee"
            )
        elif reference.in_law:
            agree = f"policy and reference agree in law over {DRAWS} runs"
            compared = partial(_check_law, subject)
    yield agree, compared
    if not are_trials:
        yield "small buffers give the same run", partial(_check_buffers, subject)
    lengths = "budgets" if are_trials else "horizons"
    yield f"{lengths} 1, 2 and K - 1 are played or rejected", partial(_check_short, subject)
    if not are_trials:
        yield "arms in any order pay by their own laws", partial(_check_orders, subject)
